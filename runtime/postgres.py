"""PostgreSQL embedded in the server: from a pip package's programs, in the data folder, on a private socket.

`async with embedded(data_dir) as url:` holds the data folder, makes the cluster where there is none, starts
postgres, waits until it answers (through crash recovery), keeps it running while the block runs, and stops
it at the end. Design section 13.
"""

import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import structlog
import trio

from runtime import postgres_launcher
from runtime.errors import DataFolderUnreachable, PostgresFailed, PostgresKilled
from runtime.groups import sole_error
from runtime.postgres_home import OsUser, binaries, locked, postgres_user, prepare_data_folder

OWNER_ROLE = "scorebox"
DATABASE = "scorebox"
PORT = 5432
"""Names the socket's file; nothing listens on TCP."""
SOCKET_PATH_LIMIT_BYTES = 107
"""sun_path of a Unix socket less its closing zero."""
INITDB_LIMIT_S = 60.0
READY_LIMIT_S = 300.0
"""Crash recovery replays at most a checkpoint's worth of log; five minutes is a very slow disk."""
READY_POLL_S = 0.02
FAST_STOP_LIMIT_S = 10.0
"""After SIGINT: sessions are rolled back, a checkpoint is written."""
IMMEDIATE_STOP_LIMIT_S = 3.0
"""After SIGQUIT: no checkpoint, recovery at the next start. Nothing committed is lost."""
RESTART_LIMIT = 5
RESTART_WINDOW_S = 60.0
"""A postgres that ends by itself more often than this within the window is let rest."""
REST_S = 60.0
MAX_CONNECTIONS = 60
SHARED_BUFFERS_MB_MIN = 64
SHARED_BUFFERS_MB_MAX = 1024
SHARED_BUFFERS_MEMORY_PART = 16
"""Shared buffers are one part in so many of the machine's memory, between the two limits."""
START_LOG = "postgres-start.log"
"""What postgres says before its own log is open, in the data folder."""
LOG_TAIL_BYTES = 2000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Cluster:
    """One cluster's places."""

    data_dir: Path
    user: OsUser
    programs: Path
    sockets: Path

    @property
    def pgdata(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def access(self) -> Path:
        return self.data_dir / "pg_hba.conf"

    @property
    def users(self) -> Path:
        return self.data_dir / "pg_ident.conf"

    @property
    def url(self) -> str:
        return database_url(self.sockets)


def database_url(sockets: Path) -> str:
    """The URL of the embedded database whose socket lies in this folder."""
    return f"postgresql://{OWNER_ROLE}@/{DATABASE}?host={quote(str(sockets), safe='')}&port={PORT}"


def _settings(cluster: _Cluster) -> dict[str, str]:
    """postgres' settings. Durability is never weakened: fsync and synchronous_commit stay on."""
    memory_mb = psutil.virtual_memory().total // 2**20
    shared = min(max(memory_mb // SHARED_BUFFERS_MEMORY_PART, SHARED_BUFFERS_MB_MIN), SHARED_BUFFERS_MB_MAX)
    return {
        "listen_addresses": "",
        "unix_socket_directories": str(cluster.sockets),
        "hba_file": str(cluster.access),
        "ident_file": str(cluster.users),
        "unix_socket_permissions": "0700",
        "port": str(PORT),
        "max_connections": str(MAX_CONNECTIONS),
        "shared_buffers": f"{shared}MB",
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "wal_buffers": "16MB",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "jit": "off",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "logging_collector": "on",
        "log_directory": "log",
        "log_filename": "postgresql-%a.log",
        "log_truncate_on_rotation": "on",
        "log_rotation_age": "1d",
        "log_rotation_size": "0",
        "log_min_messages": "warning",
    }


def _spawn(command: list[str], user: OsUser, output: Path) -> subprocess.Popen[bytes]:
    """Start a program through the launcher, from this thread: the death signal follows the thread.

    Trio's own spawning uses a thread that ends when idle (trio#3360), which would end postgres with it.
    """
    uid, gid = ("-", "-") if user.is_us else (str(user.uid), str(user.gid))
    launcher = [sys.executable, "-I", "-S", postgres_launcher.__file__, str(os.getpid()), uid, gid]
    with output.open("wb") as stream:
        return subprocess.Popen(
            [*launcher, *command],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            start_new_session=True,
        )


async def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a child's end; cancellable, the thread is left behind."""
    return await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)


def _last_words(cluster: _Cluster) -> str:
    """The end of what postgres wrote, for an error's message: at its start, and in its newest log."""
    logs = [cluster.data_dir / START_LOG]
    logs += sorted((cluster.pgdata / "log").glob("*.log"), key=lambda path: path.stat().st_mtime)[-1:]
    return " … ".join(path.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace").strip() for path in logs)


def _own(path: Path, user: OsUser) -> None:
    """Make a folder of ours private to postgres' user."""
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)
    if not user.is_us:
        os.chown(path, user.uid, user.gid)


def _socket_folder(data_dir: Path, user: OsUser) -> Path:
    """A private folder for the socket: in the data folder where its path is short enough, else in /tmp."""
    inside = data_dir / "run"
    if len(os.fsencode(inside / f".s.PGSQL.{PORT}.lock")) <= SOCKET_PATH_LIMIT_BYTES:
        _own(inside, user)
        return inside
    outside = Path(tempfile.mkdtemp(prefix="scorebox-", dir="/tmp"))
    _own(outside, user)
    return outside


def _write_access(cluster: _Cluster) -> None:
    """Let in the server's own operating system user over the socket, and nobody else.

    The files stand in the server's own folder: postgres' user reads them and cannot have them be something
    else when the server, perhaps root, writes them.
    """
    us = psutil.Process().username()
    for path, text in (
        (cluster.access, "local all all peer map=scorebox\n"),
        (cluster.users, f'scorebox "{us}" {OWNER_ROLE}\n'),
    ):
        path.write_text(text)
        path.chmod(0o644)


async def _run(cluster: _Cluster, name: str, *command: str, feed: bytes | None = None) -> None:
    """Run one of postgres' programs to its end as postgres' user."""
    user = cluster.user
    as_user: dict[str, Any] = {} if user.is_us else {"user": user.uid, "group": user.gid, "extra_groups": []}
    with trio.move_on_after(INITDB_LIMIT_S):
        done = await trio.run_process(
            [str(cluster.programs / name), *command],
            stdin=feed or b"",
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            **as_user,
        )
        if done.returncode != 0:
            raise PostgresFailed(
                f"{name} failed: {done.stderr.decode(errors='replace').strip()[-LOG_TAIL_BYTES:]}"
            )
        return
    raise PostgresFailed(f"{name} was not done after {INITDB_LIMIT_S:.0f} s")


async def _make(cluster: _Cluster) -> None:
    """Make the cluster and its database in a folder beside, then move it into place whole."""
    fresh = cluster.data_dir / "postgres.new"
    shutil.rmtree(fresh, ignore_errors=True)
    _own(fresh, cluster.user)
    await _run(
        cluster,
        "initdb",
        f"--pgdata={fresh}",
        f"--username={OWNER_ROLE}",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums",
        "--auth=reject",
        "--no-instructions",
    )
    await _run(
        cluster,
        "postgres",
        "--single",
        "-D",
        str(fresh),
        "postgres",
        feed=f"CREATE DATABASE {DATABASE};\n".encode(),
    )
    fresh.rename(cluster.pgdata)


def _check_version(cluster: _Cluster) -> None:
    """Refuse data of another major version than the programs are."""
    have = (cluster.pgdata / "PG_VERSION").read_text().strip()
    done = subprocess.run(
        [str(cluster.programs / "postgres"), "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    programs = done.stdout.split()[-1].split(".")[0]
    if have != programs:
        raise DataFolderUnreachable(
            f"{cluster.pgdata} was written by PostgreSQL {have}, the installed programs are {programs}: "
            "move it with pg_dump or pg_upgrade, or install the older programs"
        )


def _ours(pgdata: Path) -> list[psutil.Process]:
    """Live postgres processes of this data folder, the postmaster and what it left behind."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and process.cwd() == str(pgdata) and process.status() != "zombie":
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _postmaster_pid(pgdata: Path) -> int | None:
    try:
        return int((pgdata / "postmaster.pid").read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


async def _clear_orphans(cluster: _Cluster) -> None:
    """Stop a postgres that outlived its server, and see its last process gone.

    The data folder is locked by us, so whatever runs on it has lost its owner. Nothing committed is lost: a
    fast stop writes a checkpoint, a hard one leaves the log for recovery. A pid file is removed where it is
    empty or its pid lives on (as somebody else, or as a zombie nobody reaps), and only once no postgres of
    this folder lives; any other stale one postgres sees through itself.
    """
    pgdata = cluster.pgdata
    steps = (
        (signal.SIGINT, FAST_STOP_LIMIT_S),
        (signal.SIGQUIT, IMMEDIATE_STOP_LIMIT_S),
        (signal.SIGKILL, 3.0),
    )
    orphans = _ours(pgdata)
    postmaster = _postmaster_pid(pgdata)
    for number, patience_s in steps:
        if not orphans:
            break
        log.warning("postgres_orphan_stopped", pids=[each.pid for each in orphans], signal=number.name)
        # Backends end with their postmaster; without one they are told themselves.
        heads = [each for each in orphans if each.pid == postmaster] or orphans
        for each in heads:
            try:
                each.send_signal(number)
            except psutil.NoSuchProcess:
                continue
        with trio.move_on_after(patience_s):
            while orphans:
                await trio.sleep(READY_POLL_S)
                orphans = _ours(pgdata)
    if orphans:
        raise PostgresFailed(
            f"postgres processes {[each.pid for each in orphans]} on {pgdata} cannot be stopped"
        )
    if postmaster is None or psutil.pid_exists(postmaster):
        (pgdata / "postmaster.pid").unlink(missing_ok=True)
    for leftover in cluster.sockets.glob(".s.PGSQL.*"):
        leftover.unlink()


async def _start(cluster: _Cluster) -> subprocess.Popen[bytes]:
    """Start postgres and wait until it accepts sessions.

    Raises:
        PostgresFailed: it ended, or did not get ready in time.
    """
    await _clear_orphans(cluster)
    _write_access(cluster)
    command = [str(cluster.programs / "postgres"), "-D", str(cluster.pgdata)]
    for name, value in _settings(cluster).items():
        command += ["-c", f"{name}={value}"]
    process = _spawn(command, cluster.user, cluster.data_dir / START_LOG)
    pid_file = cluster.pgdata / "postmaster.pid"
    try:
        with trio.move_on_after(READY_LIMIT_S):
            while process.poll() is None:
                try:
                    lines = pid_file.read_text().split("\n")
                except OSError:
                    lines = []
                # The eighth line is postgres' word on itself; pg_ctl reads the same.
                if len(lines) >= 8 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
                    return process
                await trio.sleep(READY_POLL_S)
            kind = PostgresKilled if process.returncode < 0 else PostgresFailed
            raise kind(f"postgres ended with {process.returncode} at start: {_last_words(cluster)}")
        raise PostgresFailed(f"postgres was not ready after {READY_LIMIT_S:.0f} s: {_last_words(cluster)}")
    except BaseException:
        with trio.CancelScope(shield=True):
            await _stop(process)
        raise


async def _start_first(cluster: _Cluster) -> subprocess.Popen[bytes]:
    """Start postgres for the first time: what is wrong is told, one that somebody killed is started again.

    Raises:
        PostgresFailed: as `_start`; it was killed more than RESTART_LIMIT times.
    """
    for _ in range(RESTART_LIMIT):
        try:
            return await _start(cluster)
        except PostgresKilled as error:
            log.error("postgres_start_failed", error=str(error))
    return await _start(cluster)


async def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop postgres: fast, then without a checkpoint, then by force. Bounded by the limits above."""
    for number, patience_s in (
        (signal.SIGINT, FAST_STOP_LIMIT_S),
        (signal.SIGQUIT, IMMEDIATE_STOP_LIMIT_S),
        (signal.SIGKILL, math.inf),
    ):
        if process.poll() is not None:
            return
        process.send_signal(number)
        with trio.move_on_after(patience_s):
            await _wait(process)


async def _keep(
    cluster: _Cluster, process: subprocess.Popen[bytes], running: list[subprocess.Popen[bytes]]
) -> None:
    """Start postgres again whenever it ends by itself, also while it starts; rest when it ends too often.

    It is never given up: without it the server answers "try again", says that it is not ready, and goes on
    when the cause is gone (a disk that was full, memory that was short).
    """
    ends: list[float] = []
    while True:
        log.error("postgres_ended", code=await _wait(process))
        while True:
            now = trio.current_time()
            ends = [at for at in ends if now - at < RESTART_WINDOW_S] + [now]
            if len(ends) > RESTART_LIMIT:
                log.error("postgres_resting", ends=len(ends), window_s=RESTART_WINDOW_S, rest_s=REST_S)
                await trio.sleep(REST_S)
                ends.clear()
            try:
                process = await _start(cluster)
                break
            except (PostgresFailed, OSError) as error:
                log.error("postgres_start_failed", error=str(error))
        running[:] = [process]
        log.info("postgres_ready", pid=process.pid)


@asynccontextmanager
async def embedded(data_dir: Path) -> AsyncIterator[str]:
    """Run PostgreSQL in `data_dir` and yield the URL of its database.

    The folder is made when missing. A postgres that a killed server left behind is replaced. Where we run as
    root, postgres runs as an unprivileged user. One that dies is started again.

    Raises:
        DataFolderBusy: another server holds the folder.
        DataFolderUnreachable: postgres' user cannot get at it, or its data is of another major version.
        PostgresFailed: it did not start.
    """
    user = postgres_user()
    data_dir = await trio.to_thread.run_sync(prepare_data_folder, data_dir, user)
    with locked(data_dir):
        programs = await trio.to_thread.run_sync(binaries, data_dir, user)
        cluster = _Cluster(data_dir, user, programs, _socket_folder(data_dir, user))
        try:
            if not cluster.pgdata.exists():
                await _make(cluster)
            await trio.to_thread.run_sync(partial(_check_version, cluster))
            async with _kept(cluster):
                yield cluster.url
        finally:
            if cluster.sockets.parent != data_dir:
                shutil.rmtree(cluster.sockets, ignore_errors=True)


@asynccontextmanager
async def _kept(cluster: _Cluster) -> AsyncIterator[None]:
    """postgres, started before the block and kept up while it runs."""
    running = [await _start_first(cluster)]
    log.info("postgres_ready", data=str(cluster.pgdata), pid=running[0].pid, system=platform.system())
    try:
        with sole_error():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_keep, cluster, running[0], running)
                yield
                nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await _stop(running[0])
