"""Server time per ball, ball 1 to 2,700 of a Test match scored alone, beside the bare commit call.

The match is scored over the socket by a process of its own, a hundred commands at a time. After each hundred
the same hundred items are saved in a shadow match by the commit call alone: same run, same database.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import msgspec

from bench.play import opening
from bench.process import partner
from config.server import TemporaryServer, temporary_server
from gateway.records import CommitItem, Committed

BALLS = 2_700
BLOCK_BALLS = 100
"""Balls between two looks; also the window around ball 100 and ball 2,700."""
WARM_BALLS = 50
"""Scored before anything is measured: pools, plans and caches are cold before."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per ball: the server from frame to answer, the bare commit call, and what the tablet sees."""

    server: list[float]
    bare: list[float]
    tablet: list[float]

    def around(self, ball: int) -> float:
        """The median server time of the block that ends with this ball."""
        return median(self.server[max(0, ball - BLOCK_BALLS) : ball])

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
        match, copy = await create(temporary, ["Alone", "Shadow"])
        shadow = UUID(copy["match"])
        items, spent = _listen(server)
        port = str(urlsplit(temporary.url).port)
        found = Measured([], [], [])
        saw = match["seq"]
        async with partner("bench.scorers", port, temporary.token) as scorers:
            for skip in range(0, balls + WARM_BALLS, BLOCK_BALLS):
                size = min(BLOCK_BALLS, balls + WARM_BALLS - skip)
                items.clear()
                spent.clear()
                plan = {"matches": [[match["match"], saw, skip]], "balls": size}
                answer = await scorers.ask(plan)
                saw += answer["accepted"]
                found.server.extend(spent)
                found.tablet.extend(latency / 1e6 for latency in answer["latencies_us"])
                found.bare.extend(await _save_bare(server, list(items), shadow))
    return Measured(found.server[WARM_BALLS:], found.bare[WARM_BALLS:], found.tablet[WARM_BALLS:])


def _listen(server: Any) -> tuple[list[CommitItem], list[float]]:
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
