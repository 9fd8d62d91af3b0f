"""Server time per ball, ball 1 to 2,700 of a Test match scored alone, beside the bare commit call.

The match is scored over the socket by a process of its own, ten commands at a time. After each ten the same
items are saved in a shadow match by the commit call alone: same run, same database, and the disk's moods,
which last from a moment to minutes, fall on both alike.

Whether a ball costs more as the match grows is measured at its end: the grown match and fresh ones are
scored in turns of a few balls, so that whatever else the machine and its disk do falls on all alike.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import msgspec

from bench.play import opening
from bench.process import Partner, partner
from config.server import TemporaryServer, temporary_server
from gateway.records import CommitItem, Committed

BALLS = 2_700
BLOCK_BALLS = 10
"""Balls, then so many commit calls."""
TURN_BALLS = 5
"""Balls of the grown match, then so many of the young one."""
TURNS = 40
"""Turns of each young match."""
YOUNG_BALL = TURNS * TURN_BALLS // 2
"""The ball that its balls centre on, and which is set beside the last."""
YOUNG_MATCHES = 6
"""With one the ratio moves by a tenth from run to run."""
WARM_BALLS = 50
"""Scored before anything is measured: pools, plans and caches are cold before."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per ball: the server from frame to answer, the bare commit call, and what the tablet sees.

    `young` and `grown` are server times of balls around ball 100 and of those after the last of the others,
    scored in turns.
    """

    server: list[float]
    bare: list[float]
    tablet: list[float]
    young: list[float]
    grown: list[float]

    @property
    def p99_server(self) -> float:
        """The 99th percentile of the server time."""
        return quantiles(self.server, n=100)[98]

    @property
    def p99_bare(self) -> float:
        """The 99th percentile of the commit call."""
        return quantiles(self.bare, n=100)[98]


async def create(server: TemporaryServer, names: Sequence[str]) -> list[dict[str, Any]]:
    """Test matches on the server: what `POST /v1/matches` answers."""
    created = []
    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as http:
        for name in names:
            body = {"sport": "cricket", "name": name, "opening": opening()}
            answer = await http.post("/v1/matches", json=body)
            answer.raise_for_status()
            created.append(answer.json())
    return created


async def measure(balls: int = BALLS) -> Measured:
    """Score a Test match of so many balls."""
    async with temporary_server() as temporary:
        server = temporary.server
        names = ["Alone", "Shadow", *(f"Young {n}" for n in range(YOUNG_MATCHES))]
        match, copy, *fresh = await create(temporary, names)
        shadow = UUID(copy["match"])
        items, spent = listen(server)
        port = str(urlsplit(temporary.url).port)
        found = Measured([], [], [], [], [])
        async with partner("bench.scorers", port, temporary.token) as scorers:
            alone = Scored(scorers, match)
            for done in range(0, balls, BLOCK_BALLS):
                items.clear()
                spent.clear()
                latencies = await alone.score(min(BLOCK_BALLS, balls - done))
                found.server.extend(spent)
                found.tablet.extend(latencies)
                found.bare.extend(await _save_bare(server, list(items), shadow))
            for young in [Scored(scorers, each) for each in fresh]:
                for _ in range(TURNS):
                    for scored, times in ((alone, found.grown), (young, found.young)):
                        spent.clear()
                        await scored.score(TURN_BALLS)
                        times.extend(spent)
    return Measured(
        found.server[WARM_BALLS:],
        found.bare[WARM_BALLS:],
        found.tablet[WARM_BALLS:],
        found.young,
        found.grown,
    )


class Scored:
    """One match, and how far it is scored."""

    def __init__(self, scorers: Partner, match: dict[str, Any]) -> None:
        self._scorers = scorers
        self._match = match["match"]
        self._saw = match["seq"]
        self._done = 0

    async def score(self, balls: int) -> list[float]:
        """Score so many more: what the tablet waited for each, in seconds."""
        plan = {"matches": [[self._match, self._saw, self._done]], "balls": balls}
        answer = await self._scorers.ask(plan)
        self._saw += answer["accepted"]
        self._done += balls
        return [latency / 1e6 for latency in answer["latencies_us"]]


def listen(server: Any) -> tuple[list[CommitItem], list[float]]:
    """Collect what is committed and how long every answer took."""
    items: list[CommitItem] = []
    spent: list[float] = []
    commit, answered = server.committer.commit, server.counters.answered

    async def note_commit(item: CommitItem) -> Any:
        items.append(item)
        return await commit(item)

    def note_answer(answer: Any, seconds: float) -> None:
        spent.append(seconds)
        answered(answer, seconds)

    server.committer.commit = note_commit
    server.counters.answered = note_answer
    return items, spent


async def _save_bare(server: Any, items: list[CommitItem], shadow: UUID) -> list[float]:
    """Save the items in the shadow match, one call after another on one session."""
    spent = []
    async with server.database.session() as session:
        for item in items:
            copy = msgspec.structs.replace(item, match=shadow)
            started = time.perf_counter()
            outcomes = await server.ledger.commit_on(session, [copy])
            spent.append(time.perf_counter() - started)
            assert isinstance(outcomes[0], Committed), outcomes
    return spent
