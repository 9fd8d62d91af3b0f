"""Server time of corrections: an old event, the first of a long match, an undo beside a ball.

Commands go to the match's actor in this process, so a time is the road's alone: no socket, no parsing.
"""

import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from statistics import median
from typing import Any

from bench.ball import create
from bench.play import taps
from config.server import TemporaryServer, temporary_server
from gateway.auth import Identity, Role
from gateway.protocol import Accepted, CommandFrame

SEED = 7
SHORT, LONG = 600, 2_700
OLD_EVENT, FIRST_BALL = 140, 3
"""Seqs: 1 is the opening, 2 the start of the innings."""
TRIES = 5
UNDOS = 40


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds: corrections of an old event and of the first ball, balls, and undos of the newest event."""

    old: list[float]
    first: list[float]
    ball: list[float]
    undo: list[float]


class Scorer:
    """Scores one match in this process and times every command."""

    def __init__(self, server: TemporaryServer, match: str) -> None:
        self._matches = server.server.matches
        self._who = Identity("bench", Role.ADMIN)
        self._match = match
        self._saw = 1

    async def send(self, code: str, given: dict[str, Any]) -> float:
        """One command that must be accepted; the seconds it took."""
        frame = CommandFrame(
            str(uuid.uuid4()), self._match, code, given, self._saw, sent_at=datetime.now(UTC).isoformat()
        )
        started = time.perf_counter()
        answer = await self._matches.command(frame, self._who)
        spent = time.perf_counter() - started
        assert isinstance(answer, Accepted), answer
        self._saw = answer.seq
        return spent


async def measure() -> Measured:
    """A match corrected at an old event, one at its first ball, one whose newest ball is undone."""
    found = Measured([], [], [], [])
    async with temporary_server() as server:
        made = await create(server, ["Short", "Long", "Undone"])
        short, long, undone = [Scorer(server, each["match"]) for each in made]
        played = list(islice(taps(SEED), LONG))
        for code, given in played[:SHORT]:
            await short.send(code, given)
            await undone.send(code, given)
        for code, given in played:
            await long.send(code, given)
        for code, given in played[SHORT : SHORT + UNDOS]:
            found.ball.append(await undone.send(code, given))
            found.undo.append(await undone.send("match.undo", {}))
            await undone.send(code, given)
        for spent, scorer, event in ((found.old, short, OLD_EVENT), (found.first, long, FIRST_BALL)):
            given = played[event - 2][1]
            for number in range(TRIES):
                # Runs are as typed: what follows fits whatever this ball brought.
                changed = given | {"bat": (given.get("bat", 0) + 2 * (number + 1)) % 10}
                correction = {"event": event, "input": changed, "reason": "measured", "force": True}
                spent.append(await scorer.send("match.correct", correction))
    return found


def undo_beside_ball(found: Measured) -> float:
    """How many times a ball an undo takes."""
    return median(found.undo) / median(found.ball)
