"""Matches whose past was changed in every way are sound; what is spoiled in them is found and repaired."""

import itertools
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID, uuid4

import pytest

from bench.play import taps
from config.server import Server, running
from config.settings import Settings
from gateway.protocol import Accepted, Answer, CommandFrame
from runtime.database import open_database
from runtime.pool import Pools
from tests.verifier.conftest import SCORER, Scored, create, score, until
from tests.verifier.spoiling import spoil
from verifier.verify import verify

PLAYED = 120
"""Events before the first correction."""
TOGETHER = 60
"""Up to this event A1 and A2 bat: a ball of theirs fits anywhere before it."""
CORRECTIONS = 12
"""Of one generated history, at least."""
TRIES = 120
"""Many are refused: what they name is gone by then."""
ASKED = {"match.insert", "match.amend", "match.revert"}
WHY = {"reason": "the umpire says so", "force": True}


class Scorer:
    """Sends commands to one match, each with the newest seq it saw."""

    def __init__(self, server: Server, match: str, saw: int) -> None:
        self._matches = server.matches
        self._match = match
        self.saw = saw

    async def send(self, code: str, given: dict[str, Any]) -> Answer:
        frame = CommandFrame(str(uuid4()), self._match, code, given, self.saw)
        answer = await self._matches.command(frame, SCORER)
        if isinstance(answer, Accepted):
            self.saw = answer.seq
        return answer

    async def sure(self, code: str, given: dict[str, Any]) -> int:
        """As `send`, of what must be accepted; its seq."""
        answer = await self.send(code, given)
        assert isinstance(answer, Accepted), answer
        return answer.seq


@asynccontextmanager
async def playing(url: str, scored: Scored) -> AsyncIterator[tuple[Server, str, Scorer]]:
    """A server, and a match on it that was played for a while."""
    async with running(Settings(port=0, data=scored.data, database_url=url)) as server:
        match = await create(server)
        await score(server, match, 1, PLAYED)
        yield server, match, Scorer(server, match, PLAYED + 1)


def delivery(**given: Any) -> dict[str, Any]:
    return {"striker": "A1", "non_striker": "A2", **given}


class Historian:
    """Makes corrections up, of events and rows that may stand, may be gone, or may never have been."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.kinds = itertools.cycle(("insert", "amend", "revert", "correct", "void", "undo"))
        self.made: list[int] = []
        """Seqs of the corrections that were accepted, reverts included."""

    def next(self) -> tuple[str, dict[str, Any]]:
        kind = next(self.kinds)
        return f"match.{kind}", getattr(self, kind)()

    def event(self) -> int:
        return self.chance.randint(3, TOGETHER)

    def ball(self) -> dict[str, Any]:
        return delivery(bowler=f"B{self.chance.randint(1, 11)}", bat=self.chance.randint(0, 6))

    def insert(self) -> dict[str, Any]:
        after = self.event()
        return {"after": after, "code": "cricket.delivery", "input": self.ball(), **WHY}

    def correct(self) -> dict[str, Any]:
        return {"event": self.event(), "code": "cricket.delivery", "input": self.ball(), **WHY}

    def void(self) -> dict[str, Any]:
        return {"event": self.event(), **WHY}

    def undo(self) -> dict[str, Any]:
        return {}

    def revert(self) -> dict[str, Any]:
        return {"seq": self.chance.choice(self.made or [2]), **WHY}

    def amend(self) -> dict[str, Any]:
        edits: list[dict[str, Any]] = []
        for event in self.chance.sample(range(3, TOGETHER), 4):
            kind = self.chance.choice(("insert", "insert", "correct", "void"))
            edit = {"edit": kind, "after" if kind == "insert" else "event": event}
            if kind != "void":
                edit |= {"code": "cricket.delivery", "input": self.ball()}
            edits.append(edit)
        return {"edits": edits, **WHY}


@pytest.mark.usefixtures("no_verifier")
@pytest.mark.parametrize("seed", range(4))
async def test_a_match_is_sound_after_every_correction_of_a_generated_history(
    scored: Scored, database_url: str, pools: Pools, seed: int
) -> None:
    historian = Historian(seed)
    accepted: Counter[str] = Counter()
    balls = itertools.islice(taps(1), PLAYED, None)
    async with playing(database_url, scored) as (server, match, scorer):
        for number in range(TRIES):
            if len(historian.made) >= CORRECTIONS and accepted.keys() >= ASKED:
                break
            code, given = historian.next()
            answer = await scorer.send(code, given)
            if isinstance(answer, Accepted):
                accepted[code] += 1
                historian.made.append(answer.seq)
                verdict = await verify(server.database, pools, match)
                assert (verdict.findings, verdict.last_seq) == ([], answer.seq), (number, code, given)
            # Play goes on, as far as it fits what the past was made to be.
            for code, given in itertools.islice(balls, 3):
                await scorer.send(code, given)
        verdict = await verify(server.database, pools, match)
        assert verdict.findings == []
    assert accepted.keys() >= ASKED, accepted


INSERTED, AMENDED, REVERTED = PLAYED + 2, PLAYED + 3, PLAYED + 5
"""Seqs of the corrections below: a ball inserted, an amendment, a void and its revert."""
STANDING = PLAYED + 1 + 2 - 1
"""Events that stand after them: one inserted, two more and one less by the amendment."""
NEWEST = 200
"""Play goes on to this seq."""


async def correct(scorer: Scorer) -> None:
    """Three balls come into the past, by bowlers who bowl no other; 123/1 is the second of the amendment."""
    inserted = {"after": 40, "code": "cricket.delivery", "input": delivery(bowler="B5", bat=6), **WHY}
    assert await scorer.sure("match.insert", inserted) == INSERTED
    edits = [
        {"edit": "void", "event": 10},
        {"edit": "insert", "after": 20, "code": "cricket.delivery", "input": delivery(bowler="B3", bat=1)},
        {"edit": "insert", "after": 21, "code": "cricket.delivery", "input": delivery(bowler="B4", bat=2)},
        {"edit": "correct", "event": 31, "input": delivery(bowler="B9", bat=4)},
    ]
    assert await scorer.sure("match.amend", {"edits": edits, **WHY}) == AMENDED
    voided = await scorer.sure("match.void", {"event": 50, **WHY})
    assert await scorer.sure("match.revert", {"seq": voided, **WHY}) == REVERTED
    for code, given in itertools.islice(taps(1), PLAYED, PLAYED + NEWEST - REVERTED):
        await scorer.sure(code, given)


def line(key: str, role: str) -> str:
    return (
        "UPDATE stat_value SET computed = '{\"runs\":1000}' WHERE fixture_id = $MATCH"
        f" AND subject_role = '{role}' AND subject_id ="
        f" (SELECT participant_id FROM fixture_competitor WHERE fixture_id = $MATCH AND key = '{key}')"
    )


SPOILED: dict[str, tuple[list[str], str, int, str]] = {
    "state": (
        ["UPDATE scoreboard SET snapshot = '{}', state_hash = '\\x00' WHERE fixture_id = $MATCH"],
        "state",
        NEWEST,
        f"after event {NEWEST}",
    ),
    "line of an inserted ball": ([line("B5", "bowling")], "line", INSERTED, f"event {INSERTED} wrote"),
    "line of a ball of an amendment, and of a later one": (
        [line("A1", "batting"), line("B4", "bowling")],
        "line",
        AMENDED,
        f"event {AMENDED}/1 wrote",
    ),
    "part": (
        [
            'UPDATE published_document SET body = \'{"segment":"innings-1","lines":[]}\''
            " WHERE fixture_id = $MATCH AND segment = 'innings-1'"
        ],
        "part",
        NEWEST,
        f"event {NEWEST} wrote",
    ),
    "head": (
        ["DELETE FROM published_document WHERE fixture_id = $MATCH AND segment = ''"],
        "head",
        NEWEST,
        "lacks its head",
    ),
    "checkpoint": (
        ["UPDATE scoring_checkpoint SET state = '{}' WHERE fixture_id = $MATCH AND position = 150"],
        "checkpoint",
        REVERTED + 150 - STANDING,
        "(150 events)",
    ),
}


@pytest.mark.parametrize(("changes", "what", "seq", "words"), SPOILED.values(), ids=SPOILED.keys())
async def test_what_is_spoiled_in_a_corrected_match_is_found_with_the_event_played_first_and_repaired(
    scored: Scored,
    database_url: str,
    pools: Pools,
    monkeypatch: pytest.MonkeyPatch,
    changes: list[str],
    what: str,
    seq: int,
    words: str,
) -> None:
    async with playing(database_url, scored) as (server, match, scorer):
        await correct(scorer)
        assert (await verify(server.database, pools, match)).findings == []
    spoiled = Scored(UUID(match), scored.data, "")
    async with open_database(database_url) as database:
        await spoil(database, spoiled, *changes)
        first = (await verify(database, pools, match)).findings[0]
        assert (first.what, first.seq) == (what, seq), first
        assert words in first.sentence
    async with running(Settings(port=0, data=scored.data, database_url=database_url)) as server:

        def shown() -> dict[str, Any]:
            verifier: dict[str, Any] = server.matches.status(detail=True)["verifier"]
            return verifier

        await until(lambda: shown()["rounds"] == 1)
        assert (shown()["differing"], shown()["rebuilt"]) == (1, 1)
        [alert] = server.alerts.newest()
        assert (alert.kind, alert.event) == ("verification_failed", seq)
        assert alert.over_at is not None
        assert words in alert.sentence
        verdict = await verify(server.database, pools, match)
        assert (verdict.findings, verdict.last_seq) == ([], NEWEST + 1)
