"""A real PostgreSQL for the whole test run, and a fresh database in it for every test that wants one."""

import itertools
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import structlog
import trio

from runtime.database import Database, open_database
from runtime.migrate import migrate
from runtime.postgres import embedded

MIGRATIONS = Path(__file__).parent.parent / "migrations"
TEMPLATE = "scorebox_template"
START_LIMIT_S = 120.0
_numbers = itertools.count(1)


@dataclass
class Cluster:
    """A running PostgreSQL and its folder."""

    data_dir: Path
    url: str = ""
    error: BaseException | None = None
    _ready: threading.Event = field(default_factory=threading.Event)
    _stop: trio.Event | None = None
    _token: trio.lowlevel.TrioToken | None = None

    def database(self, name: str) -> str:
        """The URL of another database of this cluster."""
        return self.url.replace("/scorebox?", f"/{name}?")

    def serve(self) -> None:
        """Runs in a thread that lives as long as the cluster: postgres ends with the thread that made it."""
        try:
            trio.run(self._serve)
        except BaseException as error:
            self.error = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._stop, self._token = trio.Event(), trio.lowlevel.current_trio_token()
        async with embedded(self.data_dir) as self.url:
            async with open_database(self.url) as database, database.dedicated(role=None) as session:
                await session.execute(f"CREATE DATABASE {TEMPLATE}")
            async with open_database(self.database(TEMPLATE)) as database:
                await migrate(database, MIGRATIONS)
            self._ready.set()
            await self._stop.wait()

    def wait_ready(self) -> None:
        """Wait for the template, or raise what went wrong."""
        assert self._ready.wait(START_LIMIT_S), "postgres did not start"
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Ask the thread to end."""
        if self._token is not None and self._stop is not None and self.error is None:
            self._token.run_sync_soon(self._stop.set)


@pytest.fixture
def all_levels() -> Iterator[None]:
    """Hears lines of every level, whatever level a command that ran in this process has set for all of it."""
    before = structlog.get_config()
    structlog.reset_defaults()
    yield
    structlog.configure(**before)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """One embedded cluster for all tests, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="scorebox-test-"))
    cluster = Cluster(folder)
    thread = threading.Thread(target=cluster.serve, name="postgres")
    thread.start()
    try:
        cluster.wait_ready()
        yield cluster
    finally:
        cluster.stop()
        thread.join()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template_url(postgres: Cluster) -> str:
    """The migrated database that others are copied from: roll back what you do there."""
    return postgres.database(TEMPLATE)


@pytest.fixture
async def empty_database_url(postgres: Cluster) -> AsyncIterator[str]:
    """A database with nothing in it."""
    async for url in _fresh(postgres, "template1"):
        yield url


@pytest.fixture
async def database_url(postgres: Cluster) -> AsyncIterator[str]:
    """A database with the whole schema and no rows."""
    async for url in _fresh(postgres, TEMPLATE):
        yield url


async def _fresh(cluster: Cluster, template: str) -> AsyncIterator[str]:
    name = f"test_{next(_numbers)}"
    async with open_database(cluster.url) as server, server.dedicated(role=None) as session:
        await session.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield cluster.database(name)
    async with open_database(cluster.url) as server, server.dedicated(role=None) as session:
        await session.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """The pool on a fresh database with the schema."""
    async with open_database(database_url) as database:
        yield database
