"""What a run stands on: postgres behind a proxy, a server in a process of its own, matches, and a record."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import psutil
import trio

from runtime.database import Database, open_database
from runtime.errors import AnswerLost, DatabaseAway
from runtime.postgres import embedded
from runtime.postgres_home import postgres_user
from tests.acceptance.server import SCOREBOX, ServerProcess
from tests.chaos.disk import NoDisk, SmallDisk, small_disk
from tests.chaos.proxy import DatabaseProxy, database_proxy
from tests.chaos.records import History

ROOT = Path(__file__).parent.parent.parent
DATABASE = "chaos"
TABLESPACE = "small"
START_AGAIN_LIMIT_S = 180.0
"""A start that meets a database that is away ends; who looks after the server starts it again, so long."""
READY_LIMIT_S = 90.0
PROGRESS_LIMIT_S = 90.0
"""After a fault, a command is accepted within this time."""
LOOK_AGAIN_S = 0.05
REQUEST_LIMIT_S = 20.0
VERIFY_LIMIT_S = 600
AWAY = (httpx.TransportError, httpx.StreamError, DatabaseAway, AnswerLost, OSError)
"""What somebody meets who speaks to a server or a database that a fault is happening to."""


class ChaosServer(ServerProcess):
    """A server with a clock of its own, and a folder of its own for what is temporary."""

    def __init__(self, folder: Path, database_url: str) -> None:
        super().__init__(folder, database_url=database_url, log_format="json")
        self.clock = folder / "clock"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.temporary.chmod(0o711)
        self.command = [sys.executable, "-m", "tests.chaos.clocked"]
        self.seen_workers: dict[tuple[int, float], psutil.Process] = {}

    @property
    def environment(self) -> dict[str, str]:
        """What it runs with."""
        own = {"CHAOS_CLOCK_FILE": str(self.clock), "TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)}
        return super().environment | own

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        """The server's process, None between an end and a start."""
        return self._process

    def start_again(self) -> None:
        """Start it and wait until it is ready; one that ends because its database is away is started anew."""
        until = time.monotonic() + START_AGAIN_LIMIT_S
        while time.monotonic() < until:
            self.launch()
            if self._becomes_ready():
                return
            time.sleep(LOOK_AGAIN_S)
        raise AssertionError(f"the server does not start: {self.log.read_text()[-2000:]}")

    def _becomes_ready(self) -> bool:
        until = time.monotonic() + READY_LIMIT_S
        while time.monotonic() < until:
            if self._process is None or self._process.poll() is not None:
                return False
            try:
                if httpx.get(f"{self.url}/health/ready", timeout=2, trust_env=False).status_code == 200:
                    return True
            except httpx.TransportError:
                pass
            time.sleep(LOOK_AGAIN_S)
        raise AssertionError(f"the server is not ready within {READY_LIMIT_S:.0f} s")

    def note_workers(self) -> list[psutil.Process]:
        """The workers now; every one ever seen is remembered, to be found should it outlive its server."""
        found: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess, AssertionError):
            for worker in self.workers():
                with suppress(psutil.NoSuchProcess):
                    self.seen_workers[worker.pid, worker.create_time()] = worker
                    found.append(worker)
        return found


@dataclass(eq=False, slots=True)
class Match:
    """A match of the run."""

    ref: str
    sport: str
    played_out: bool = False
    """Nobody scores it any more."""


@dataclass(eq=False)
class Stage:
    """Everything a fault may lay hands on."""

    folder: Path
    server: ChaosServer
    proxy: DatabaseProxy
    postgres_data: Path
    database: Database
    """Straight to postgres, as the owner, in another database than the server's."""
    disk: SmallDisk | None
    nursery: trio.Nursery
    history: History
    chance: random.Random
    matches: list[Match] = field(default_factory=list)
    yards: list[Match] = field(default_factory=list)
    """Matches of the rogue sport that no scorer scores: what is sent to them is not overtaken."""
    tablets: list[Any] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    """Of cricket, installed by the run and not retired."""
    missing: dict[str, str] = field(default_factory=dict)
    """Kinds of faults that cannot be had here, and why."""
    installing: trio.Lock = field(default_factory=trio.Lock)
    ended_on_purpose: bool = False
    """The server's process is meant to be away just now."""
    started_at: float = field(default_factory=time.monotonic)

    def note(self, sentence: str) -> None:
        """A line in the run's own log."""
        with (self.folder / "chaos.log").open("a") as log:
            log.write(f"{time.monotonic() - self.started_at:8.2f}  {sentence}\n")

    def running(self, sport: str | None = None) -> list[Match]:
        """Matches that are being scored."""
        return [
            match
            for match in self.matches
            if not match.played_out and (sport is None or match.sport == sport)
        ]

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One request on a connection of its own, as the admin.

        Raises:
            httpx.TransportError: no answer.
        """
        options = {"timeout": REQUEST_LIMIT_S} | options
        async with httpx.AsyncClient(
            base_url=self.server.url,
            headers={"Authorization": f"Bearer {self.server.token}"},
            trust_env=False,
        ) as client:
            return await client.request(method, path, **options)

    async def read(self, path: str, **options: Any) -> Any:
        """What a GET brings, asked again until it does.

        Raises:
            trio.TooSlowError: it did not within READY_LIMIT_S.
        """
        with trio.fail_after(READY_LIMIT_S):
            while True:
                with suppress(*AWAY):
                    response = await self.request("GET", path, **options)
                    if response.status_code == httpx.codes.OK:
                        return response.json()
                await trio.sleep(LOOK_AGAIN_S)

    async def position(self, match: Match) -> dict[str, Any]:
        """Where a match stands: seq, epoch."""
        found: dict[str, Any] = await self.read(f"/v1/matches/{match.ref}")
        return found

    async def log(self, match: str) -> list[dict[str, Any]]:
        """The whole log."""
        rows: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = await self.read(f"/v1/matches/{match}/log", params={"after": after, "limit": 500})
            rows += page["rows"]
            after = page["next"]
        return rows

    async def pools(self) -> list[dict[str, Any]]:
        """The worker pools, by the status."""
        status: dict[str, Any] = await self.read("/status")
        return list(status["pools"])

    async def progress(self, after: str) -> None:
        """Wait until a command that was sent from now on is accepted."""
        start = self.history.tallies["accepted"]
        with trio.move_on_after(PROGRESS_LIMIT_S):
            while self.history.tallies["accepted"] < start + 3:
                await trio.sleep(LOOK_AGAIN_S)
            return
        self.history.violate(f"no command was accepted for {PROGRESS_LIMIT_S:.0f} s after: {after}")

    async def sessions(self) -> list[int]:
        """The pids of the server's backends."""
        sql = "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'"
        return await self.ask(sql, DATABASE)

    async def ask(self, sql: str, *given: object) -> list[Any]:
        """The first column of what a statement of the database's owner brings.

        Raises:
            DatabaseAway, AnswerLost: a fault is happening to it.
        """
        async with self.database.dedicated(role=None) as session:
            return [row[0] for row in await session.fetch(sql, *given)]

    def postmaster(self) -> int | None:
        """Its pid, while it runs."""
        with suppress(OSError, ValueError, IndexError):
            return int((self.postgres_data / "postgres" / "postmaster.pid").read_text().split()[0])
        return None

    async def restart(self) -> None:
        """Start the server again after a fault that ended it."""
        await trio.to_thread.run_sync(self.server.start_again)
        self.server.note_workers()
        self.ended_on_purpose = False

    async def heal(self) -> None:
        """Take away what faults may have left."""
        self.proxy.heal()
        self.server.clock.write_text("0")
        if self.disk is not None:
            await trio.to_thread.run_sync(self.disk.free)

    def verify(self) -> "subprocess.CompletedProcess[str]":
        """`scorebox verify --all` beside the running server."""
        return subprocess.run(
            [SCOREBOX, "verify", "--all", "--json"],
            env=self.server.environment,
            capture_output=True,
            text=True,
            timeout=VERIFY_LIMIT_S,
            check=False,
        )


def run_folder() -> Path:
    """A new folder for a run, to be kept where it fails."""
    folder = Path(tempfile.mkdtemp(prefix="scorebox-chaos-"))
    # postgres runs as another user where we are root, and has to reach its folder.
    folder.chmod(0o711)
    return folder


@asynccontextmanager
async def staged(folder: Path, seed: int) -> AsyncIterator[Stage]:
    """A running server with the bundled sports and the rogue one; everything is gone afterwards."""
    async with AsyncExitStack() as exits:
        missing: dict[str, str] = {}
        disk: SmallDisk | None = None
        try:
            disk = exits.enter_context(small_disk(folder / "disk"))
        except NoDisk as error:
            missing["disk full"] = str(error)
        url = await exits.enter_async_context(embedded(folder / "postgres"))
        database = await exits.enter_async_context(open_database(url))
        await _make_database(database, disk)
        sockets = parse_qs(urlsplit(url).query)["host"][0]
        proxy, port = await exits.enter_async_context(database_proxy(f"{sockets}/.s.PGSQL.5432"))
        server = ChaosServer(folder, f"postgresql://scorebox@127.0.0.1:{port}/{DATABASE}?sslmode=disable")
        server.install_rogue()
        exits.callback(_end, server)
        await trio.to_thread.run_sync(server.start)
        nursery = await exits.enter_async_context(trio.open_nursery())

        def note(sentence: str) -> None:
            stage.note(sentence)

        stage = Stage(
            folder=folder,
            server=server,
            proxy=proxy,
            postgres_data=folder / "postgres",
            database=database,
            disk=disk,
            nursery=nursery,
            history=History(note),
            chance=random.Random(seed),
            missing=missing,
        )
        yield stage
        nursery.cancel_scope.cancel()


def _end(server: ChaosServer) -> None:
    """End the server whatever state it is in: nothing of a run outlives it."""
    process = server.process
    if process is not None and process.poll() is None:
        for number in (signal.SIGCONT, signal.SIGKILL):
            process.send_signal(number)
        process.wait()


async def _make_database(database: Database, disk: SmallDisk | None) -> None:
    """The server's database, on the small disk where there is one."""
    async with database.dedicated(role=None) as session:
        if disk is None:
            await session.execute(f"CREATE DATABASE {DATABASE}")
            return
        place, user = disk.folder / "tables", postgres_user()
        place.mkdir()
        os.chown(place, user.uid, user.gid)
        await session.execute(f"CREATE TABLESPACE {TABLESPACE} LOCATION '{place}'")
        await session.execute(f"CREATE DATABASE {DATABASE} TABLESPACE {TABLESPACE}")
