"""Server time per ball while a long match is verified over and over beside it, against without.

The two are measured in turns of some balls in one run, so that whatever else the machine does falls on both
alike. The verifier works as in a server: in the same process, with a worker of its own.
"""

import time
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit
from uuid import UUID

import trio

from bench.ball import Scored, create, listen
from bench.corrections import Scorer
from bench.play import taps
from bench.process import partner
from config.server import temporary_server
from runtime.database import Database
from runtime.pool import Pools
from verifier.replay import open_verifier_pools
from verifier.verify import verify

SEED = 7
VERIFIED_BALLS = 2_700
TURN_BALLS = 200
TURNS = 6
"""Turns with and turns without a verification."""
WARM_BALLS = 50


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per ball without and with a verification beside it, as server and as tablet see it."""

    alone: list[float]
    beside: list[float]
    tablet_alone: list[float]
    tablet_beside: list[float]
    verifications: list[float]
    """Seconds a whole verification took meanwhile."""


async def measure() -> Measured:
    """One match that is scored, another one that is verified."""
    found = Measured([], [], [], [], [])
    async with temporary_server() as temporary:
        server = temporary.server
        played, scored = await create(temporary, ["Played", "Scored"])
        scorer = Scorer(temporary, played["match"])
        for code, given in islice(taps(SEED), VERIFIED_BALLS):
            await scorer.send(code, given)
        _, spent = listen(server)
        port = str(urlsplit(temporary.url).port)
        async with (
            partner("bench.scorers", port, temporary.token) as scorers,
            open_verifier_pools(server.versions) as pools,
        ):
            match = Scored(scorers, scored)
            await match.score(WARM_BALLS)
            await verify(server.database, pools, UUID(played["match"]))
            for _ in range(TURNS):
                spent.clear()
                found.tablet_alone.extend(await match.score(TURN_BALLS))
                found.alone.extend(spent)
                async with trio.open_nursery() as nursery:
                    enough = trio.Event()
                    nursery.start_soon(
                        _again_and_again, server.database, pools, played["match"], found.verifications, enough
                    )
                    spent.clear()
                    found.tablet_beside.extend(await match.score(TURN_BALLS))
                    found.beside.extend(spent)
                    # The last one is let come to its end: a call that is cut off costs a worker.
                    enough.set()
    return found


async def _again_and_again(
    database: Database, pools: Pools, match: str, took: list[float], enough: trio.Event
) -> None:
    while not enough.is_set():
        started = time.perf_counter()
        verdict = await verify(database, pools, UUID(match))
        took.append(time.perf_counter() - started)
        assert not verdict.findings, verdict.findings
