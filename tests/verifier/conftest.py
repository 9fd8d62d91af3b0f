"""A match of 600 events, scored once; every test gets a database of its own with it."""

import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import trio

from bench.play import opening, taps
from config.server import Server, running
from config.settings import Settings
from gateway.auth import Identity, Role
from gateway.protocol import Accepted, CommandFrame, Created, CreateMatch
from runtime.database import Database, open_database
from runtime.pool import Pools
from runtime.versions import VersionStore
from tests.conftest import TEMPLATE, Cluster
from verifier.actor import Verifier
from verifier.replay import open_verifier_pools

EVENTS = 600
PATIENCE_S = 60.0
LOOK_AGAIN_S = 0.02
SCORED = "verifier_scored"
SCORER = Identity("ann", Role.ADMIN)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Scored:
    """The match, the folder of the sports' code, and the database to copy."""

    match: UUID
    data: Path
    template: str

    @property
    def versions(self) -> VersionStore:
        return VersionStore(self.data / "sports")


async def create(server: Server, name: str = "A v B") -> str:
    created = await server.matches.create_match(CreateMatch("cricket", name, opening()), SCORER)
    assert isinstance(created, Created)
    return created.match


async def score(server: Server, match: str, first: int, last: int) -> None:
    """The events of these numbers, counted from 1, one after another."""
    for number, (code, given) in enumerate(itertools.islice(taps(1), first - 1, last), first):
        frame = CommandFrame(str(uuid4()), match, code, given, number)
        answer = await server.matches.command(frame, SCORER)
        assert isinstance(answer, Accepted), answer


@pytest.fixture(scope="session")
def scored(postgres: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    data = tmp_path_factory.mktemp("scored")

    async def make() -> str:
        async with open_database(postgres.url) as cluster, cluster.dedicated(role=None) as session:
            await session.execute(f"CREATE DATABASE {SCORED} TEMPLATE {TEMPLATE}")
        settings = Settings(port=0, data=data, database_url=postgres.database(SCORED))
        async with running(settings) as server:
            match = await create(server)
            await score(server, match, 1, EVENTS)
        return match

    return Scored(UUID(trio.run(make)), data, SCORED)


@pytest.fixture
def no_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose background check does nothing: the test does its own."""

    async def rest(self: Verifier, commands: Any) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(Verifier, "run", rest)


async def until(condition: Callable[[], bool]) -> None:
    """Looks again and again until something is so."""
    with trio.fail_after(PATIENCE_S):
        while not condition():
            await trio.sleep(LOOK_AGAIN_S)


@pytest.fixture
async def scored_url(postgres: Cluster, scored: Scored) -> AsyncIterator[str]:
    """A database with the match in it, of this test alone."""
    name = f"verifier_{next(_numbers)}"
    async with open_database(postgres.url) as server, server.dedicated(role=None) as session:
        await session.execute(f"CREATE DATABASE {name} TEMPLATE {scored.template}")
    yield postgres.database(name)
    async with open_database(postgres.url) as server, server.dedicated(role=None) as session:
        await session.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def scored_database(scored_url: str) -> AsyncIterator[Database]:
    async with open_database(scored_url) as database:
        yield database


@pytest.fixture
async def pools(scored: Scored) -> AsyncIterator[Pools]:
    """The verifier's own workers."""
    async with open_verifier_pools(scored.versions) as pools:
        yield pools
