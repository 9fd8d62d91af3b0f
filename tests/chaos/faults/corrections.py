"""Corrections by somebody else while the match is scored."""

import random
from typing import Any

import trio

from tests.chaos.stage import Match, Stage
from tests.chaos.tablets import deliver_once

TRIES = 3
"""A correction that finds the match further on is made anew so often."""
LOOK_BACK_ROWS = 200
REASON = {"reason": "the umpire changed his mind"}
PLAY_CODES = ("cricket.delivery", "table_tennis.point", "rogue.add")
NEUTRAL: dict[str, tuple[str, dict[str, Any]]] = {
    "cricket": ("cricket.interval", {"kind": "drinks"}),
    "table_tennis": ("table_tennis.let", {}),
    "rogue": ("rogue.add", {"amount": 1}),
}
"""An event that fits nearly anywhere."""


async def undone(stage: Stage, chance: random.Random) -> bool:
    """The newest event, whatever it is by then."""
    return await _send(stage, chance, chance.choice(stage.running()), "match.undo", {})


async def correct_something(stage: Stage, chance: random.Random, match: Match | None = None) -> bool:
    """One of the last events gets another input, or is taken out."""
    match = match or chance.choice(stage.running())
    row = await _past(stage, chance, match)
    if row is None:
        return False
    if chance.random() < 0.3:
        return await _send(stage, chance, match, "match.void", {"event": row["seq"], "force": True, **REASON})
    return await _send(stage, chance, match, "match.correct", _corrected(chance, row))


async def forgotten(stage: Stage, chance: random.Random) -> bool:
    """A missed event somewhere among the last ones."""
    match = chance.choice(stage.running())
    row = await _past(stage, chance, match)
    if row is None:
        return False
    code, given = NEUTRAL[match.sport]
    insert = {"after": row["seq"], "code": code, "input": given, "force": True, **REASON}
    return await _send(stage, chance, match, "match.insert", insert)


async def two_at_once(stage: Stage, chance: random.Random) -> bool:
    """Two people, one event, one moment."""
    match = chance.choice(stage.running())
    row = await _past(stage, chance, match)
    if row is None:
        return False
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            mine = random.Random(chance.random())
            nursery.start_soon(_send, stage, mine, match, "match.correct", _corrected(mine, row))
    return True


async def flagged(stage: Stage, chance: random.Random) -> bool:
    """Up, and down."""
    match = chance.choice(stage.running())
    for on in (True, False):
        await _send(
            stage, chance, match, "match.flag", {"flag": "uncertain", "on": on, "reason": "who knows"}
        )
    return True


async def _past(stage: Stage, chance: random.Random, match: Match) -> dict[str, Any] | None:
    """One of the last rows that brought an event of play."""
    newest = (await stage.position(match))["seq"]
    parameters = {"after": max(newest - LOOK_BACK_ROWS, 0), "limit": LOOK_BACK_ROWS}
    rows = (await stage.read(f"/v1/matches/{match.ref}/log", params=parameters))["rows"]
    played = [row for row in rows if row["code"] in PLAY_CODES]
    return chance.choice(played) if played else None


def _corrected(chance: random.Random, row: dict[str, Any]) -> dict[str, Any]:
    """The input of a correction of that row."""
    changed: dict[str, dict[str, Any]] = {
        "cricket.delivery": {"bat": chance.randrange(5)},
        "table_tennis.point": {"winner": chance.choice("AB")},
        "rogue.add": {"amount": chance.randrange(9)},
    }
    given = row["input"] | changed[row["code"]]
    if "wickets" in given:
        given.pop("bat", None)
    return {"event": row["seq"], "input": given, "force": True, **REASON}


async def _send(stage: Stage, chance: random.Random, match: Match, code: str, given: dict[str, Any]) -> bool:
    """A correction of the match as it stands, made anew where it went on meanwhile."""
    by = f"corrector {chance.random()}"
    for _ in range(TRIES):
        saw = (await stage.position(match))["seq"]
        answer = await deliver_once(stage, stage.history.compose(by, match.ref, code, given, saw))
        if answer is None or answer["outcome"] != "conflict":
            break
    if answer is not None:
        stage.history.tallies[f"{code} {answer['outcome']}"] += 1
    return True


FAULTS = {
    "undo": undone,
    "correction of the past": correct_something,
    "forgotten event": forgotten,
    "two corrections at once": two_at_once,
    "flag": flagged,
}
