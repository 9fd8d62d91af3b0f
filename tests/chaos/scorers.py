"""Scorers: each scores one match after another, one command at a time, over everything that happens."""

import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
import trio

from bench.play import Tap, opening, taps
from tests.chaos.records import Sent
from tests.chaos.stage import AWAY, LOOK_AGAIN_S, Match, Stage
from tests.chaos.tablets import Tablet

THINKING_S = (0.02, 0.16)
"""Between an answer and the next tap, from and to."""
REFUSED_MOST = 8
"""Refusals in a row after which a match is played out."""
OVERRIDES_MOST = 4
CREATE_LIMIT_S = 120.0
COMMANDS = {"cricket": 1500, "table_tennis": 120, "rogue": 200}
"""Commands of a match at most; then the scorer opens another one."""


def table_tennis(seed: int) -> Iterator[Tap]:
    """Rallies."""
    chance = random.Random(seed)
    while True:
        yield "table_tennis.point", {"winner": chance.choice("AB")}


def rogue(seed: int) -> Iterator[Tap]:
    """Small sums, now and then with a note, which brings somebody into the match."""
    chance = random.Random(seed)
    while True:
        note = {"note": f"n{chance.randrange(20)}"} if chance.random() < 0.1 else {}
        yield "rogue.add", {"amount": chance.randrange(4)} | note


PLAY: dict[str, Callable[[int], Iterator[Tap]]] = {
    "cricket": taps,
    "table_tennis": table_tennis,
    "rogue": rogue,
}


def opening_of(sport: str) -> dict[str, Any]:
    """What a match of a sport is opened with."""
    if sport == "cricket":
        return opening()
    sides: list[dict[str, Any]] = [
        {"key": key, "name": f"Side {key}", "players": [{"key": f"{key}1", "name": f"Player {key}"}]}
        for key in "AB"
    ]
    if sport == "rogue":
        return {"sides": [{"key": "A", "name": "A"}, {"key": "B", "name": "B"}], "first_day": "2026-11-30"}
    return {"sides": sides, "first_day": "2026-11-30", "format": {"name": "Cup", "games": 5}}


async def open_match(stage: Stage, sport: str, *, played_out: bool = False) -> Match:
    """Opens a match by an outside id, asking until it is there: whatever happens meanwhile, there is one."""
    body = {
        "sport": sport,
        "name": "A v B",
        "opening": opening_of(sport),
        "external": {"source": "chaos", "id": str(uuid4())},
    }
    found: set[str] = set()
    with trio.fail_after(CREATE_LIMIT_S):
        while len(found) == 0:
            try:
                response = await stage.request("POST", "/v1/matches", json=body)
            except AWAY:
                await trio.sleep(LOOK_AGAIN_S)
                continue
            if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
                await trio.sleep(LOOK_AGAIN_S)
                continue
            if response.is_error:
                stage.history.violate(f"{sport} could not be opened: {response.status_code} {response.text}")
                await trio.sleep(1)
                continue
            found.add(response.json()["match"])
    match = Match(found.pop(), sport, played_out)
    stage.matches.append(match)
    return match


class Scorer:
    """Scores matches of one sport until `stop` is set."""

    def __init__(self, stage: Stage, sport: str, number: int, match: Match) -> None:
        self.name = f"{sport}-{number}"
        self._stage = stage
        self._sport = sport
        self._match = match
        self._seeds = count(number * 1000)
        self.stop = trio.Event()

    async def run(self) -> None:
        """Matches, one after the other."""
        tablet = Tablet(self._stage, self.name)
        try:
            while not self.stop.is_set():
                await self._score(tablet)
                if self.stop.is_set():
                    return
                self._match.played_out = True
                self._match = await open_match(self._stage, self._sport)
        finally:
            with trio.CancelScope(shield=True):
                await tablet.close()

    async def _score(self, tablet: Tablet) -> None:
        saw, refused = 1, 0
        play = PLAY[self._sport](next(self._seeds))
        for _ in range(COMMANDS[self._sport]):
            if self.stop.is_set() or refused > REFUSED_MOST:
                return
            code, given = next(play)
            answer = await self._tap(tablet, code, given, saw)
            if answer is None:
                return
            saw = max(saw, answer.get("seq", 0))
            refused = 0 if answer["outcome"] == "accepted" else refused + 1
            await trio.sleep(self._stage.chance.uniform(*THINKING_S))

    async def _tap(self, tablet: Tablet, code: str, given: dict[str, Any], saw: int) -> dict[str, Any] | None:
        """A tap until it is accepted or refused for good: over conflicts, and what the umpire says."""
        override: list[str] = []
        while True:
            sent: Sent = self._stage.history.compose(
                self.name, self._match.ref, code, given, saw, tuple(override)
            )
            answer = await tablet.deliver(sent)
            if answer is None or self.stop.is_set():
                return answer
            if answer["outcome"] == "conflict":
                saw = answer["last_seq"]
            elif answer["outcome"] == "refused" and answer["overridable"] and len(override) < OVERRIDES_MOST:
                override.append(answer["code"])
            else:
                return answer
