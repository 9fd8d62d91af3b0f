"""Two servers on one database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import msgspec

from bench.play import opening
from config.server import Server, running, temporary_server
from config.settings import Settings
from gateway.auth import Identity, Role
from gateway.protocol import Accepted, Answer, CommandFrame, Created, CreateMatch

WHO = Identity("scorer", Role.OPERATOR)


@asynccontextmanager
async def two_nodes(folder: Path) -> AsyncIterator[tuple[Server, Server]]:
    async with temporary_server() as first:
        settings = Settings(port=0, data=folder, database_url=first.server.database_url)
        async with running(settings) as second:
            yield first.server, second


async def score(node: Server, match: str, code: str, given: dict[str, object], saw: int) -> Answer:
    return await node.matches.command(CommandFrame(str(uuid4()), match, code, given, saw), WHO)


async def test_a_scorer_goes_on_at_a_node_that_does_not_know_the_newest_events(tmp_path: Path) -> None:
    async with two_nodes(tmp_path) as (first, second):
        created = await first.matches.create_match(CreateMatch("cricket", "A v B", opening()), WHO)
        assert isinstance(created, Created)
        match = created.match
        taps: list[tuple[str, dict[str, object]]] = [
            ("cricket.innings", {"batting": "A"}),
            *[("cricket.delivery", {"striker": "A1", "non_striker": "A2", "bowler": "B11", "bat": 0})] * 4,
        ]
        nodes = (second, first, first, second, second)
        for seq, (node, (code, given)) in enumerate(zip(nodes, taps, strict=True), 1):
            answer = await score(node, match, code, given, seq)
            assert isinstance(answer, Accepted), msgspec.json.encode(answer)
            assert answer.seq == seq + 1
