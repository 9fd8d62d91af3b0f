"""Backup beside a running server, restore into a fresh data folder, and what is refused."""

import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pytest

from bench.play import taps
from tests.acceptance.server import SCOREBOX, START_LIMIT_S, Desk, ServerProcess, server_process
from tests.acceptance.test_stops import processes_of, wait_for

BALLS = 60


@contextmanager
def elsewhere() -> Iterator[ServerProcess]:
    """A server that was never started, on a data folder that is not there."""
    with tempfile.TemporaryDirectory(prefix="scorebox-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        server = ServerProcess(Path(folder))
        try:
            yield server
        finally:
            server.close()


def scorebox(server: ServerProcess, *arguments: str | Path, **how: Any) -> "subprocess.CompletedProcess[str]":
    command = [str(SCOREBOX), *map(str, arguments)]
    return subprocess.run(
        command, env=server.environment, capture_output=True, text=True, timeout=120, check=False, **how
    )


def refused(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.fixture(scope="module")
def source() -> Iterator[tuple[ServerProcess, Path]]:
    """A running server with matches, and a folder for its backups."""
    with server_process() as server, tempfile.TemporaryDirectory() as folder:
        yield server, Path(folder)


async def scored(desk: Desk, balls: int = BALLS) -> tuple[str, int, dict[str, Any]]:
    """A match with a correction and a flag: its id, its newest seq, and the first command that was sent."""
    match, seq = (await desk.create())["match"], 1
    first: dict[str, Any] = {}
    for tap, _ in zip(taps(1), range(balls), strict=False):
        id = str(uuid4())
        answer = await desk.send(match, *tap, seq, id=id)
        assert answer["outcome"] == "accepted", answer
        first, seq = first or {"id": id, "code": tap[0], "input": tap[1]}, answer["seq"]
    for code, given in (
        ("match.undo", {"reason": "wrong"}),
        ("match.flag", {"flag": "uncertain", "on": True, "reason": "rain"}),
    ):
        answer = await desk.send(match, code, given, seq)
        assert answer["outcome"] == "accepted", answer
        seq = answer["seq"]
    return match, seq, first


async def test_a_backup_made_while_scoring_goes_on_is_restored_whole_and_scoring_goes_on_in_it(
    source: tuple[ServerProcess, Path],
) -> None:
    server, folder = source
    file = folder / "whole.backup"
    async with Desk(server) as desk:
        match, seq, first = await scored(desk)
        document, log = await desk.document(match), await desk.log(match)
        done = scorebox(server, "db", "backup", file)
        assert done.returncode == 0, done
        assert (await desk.send(match, "match.undo", {"reason": "after the backup"}, seq))[
            "outcome"
        ] == "accepted"
    assert os.listdir(folder) == [file.name]
    with elsewhere() as fresh:
        done = scorebox(fresh, "db", "restore", file)
        assert done.returncode == 0, done
        assert "restored 1 matches" in done.stdout
        checked = scorebox(fresh, "verify", "--all")
        assert (checked.returncode, "1 of 1 matches" in checked.stdout) == (0, True), checked
        fresh.token = server.token  # Tokens came along.
        fresh.start()
        async with Desk(fresh) as desk:
            assert await desk.document(match) == document
            assert await desk.log(match) == log
            again = await desk.send(match, first["code"], first["input"], 1, id=first["id"])
            assert (again["outcome"], again["duplicate"], again["seq"]) == ("accepted", True, 2)
            on = await desk.send(match, "match.undo", {"reason": "scoring goes on"}, seq)
            assert (on["outcome"], on["seq"]) == ("accepted", seq + 1), on
            other, newest, _ = await scored(desk, 3)
            assert newest == 6
        fresh.stop()
        assert scorebox(fresh, "verify", "--all").returncode == 0
        refused(scorebox(fresh, "db", "restore", file), "there is data already (2 matches")
        assert other != match


async def test_refusals_change_nothing(source: tuple[ServerProcess, Path]) -> None:
    server, folder = source
    file = folder / "refusals.backup"
    assert scorebox(server, "db", "backup", file).returncode == 0
    refused(scorebox(server, "db", "backup", file), "is there already")
    refused(scorebox(server, "db", "restore", file), "another server is using the data folder")
    refused(scorebox(server, "db", "backup", folder / "nowhere" / "x"), "No such file")
    with elsewhere() as fresh:
        cut = folder / "cut"
        cut.write_bytes(file.read_bytes()[:-1000])
        refused(scorebox(fresh, "db", "restore", cut), "cut")
        cut.unlink()
        assert not fresh.data.exists()


def test_a_full_disk_leaves_no_half_backup(source: tuple[ServerProcess, Path]) -> None:
    server, folder = source
    target = folder / "full"
    target.mkdir()

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = scorebox(server, "db", "backup", target / "x", preexec_fn=small_disk)
    refused(done, "File too large")
    assert os.listdir(target) == []


def test_a_backup_that_is_killed_leaves_nothing(source: tuple[ServerProcess, Path]) -> None:
    server, folder = source
    target = folder / "killed"
    target.mkdir()
    [postmaster] = server.postgres()
    hanging = [psutil.Process(postmaster), *psutil.Process(postmaster).children()]
    for each in hanging:
        each.suspend()
    try:
        process = subprocess.Popen([SCOREBOX, "db", "backup", target / "x"], env=server.environment)
        until = time.monotonic() + START_LIMIT_S
        while not any(f"{target}/" in opened for opened in _opened(process.pid)):
            assert time.monotonic() < until
            assert process.poll() is None
            time.sleep(0.01)
        process.kill()
        process.wait()
    finally:
        for each in hanging:
            each.resume()
    assert os.listdir(target) == []


def _opened(pid: int) -> list[str]:
    """What the process has open."""
    found = []
    for path in Path(f"/proc/{pid}/fd").glob("*"):
        with suppress(FileNotFoundError):
            found.append(str(path.readlink()))
    return found


@pytest.mark.parametrize("moment", ["postgres/postmaster.pid", "sports/cricket"])
async def test_a_restore_that_is_killed_can_be_made_again(
    source: tuple[ServerProcess, Path], moment: str
) -> None:
    server, folder = source
    file = folder / f"{moment.replace('/', '-')}.backup"
    async with Desk(server) as desk:
        await scored(desk, 5)
        listed = len(httpx.get(f"{server.url}/v1/matches", trust_env=False).json()["matches"])
    assert scorebox(server, "db", "backup", file).returncode == 0
    with elsewhere() as fresh:
        process = subprocess.Popen([SCOREBOX, "db", "restore", file], env=fresh.environment)
        wait_for(fresh.data / moment)
        process.kill()
        process.wait()
        until = time.monotonic() + START_LIMIT_S
        while processes_of(fresh):
            assert time.monotonic() < until
            time.sleep(0.05)
        done = scorebox(fresh, "db", "restore", file)
        if done.returncode == 0:
            assert f"restored {listed} matches" in done.stdout
        else:  # It was done before it was killed.
            refused(done, f"there is data already ({listed} matches")
        assert scorebox(fresh, "verify", "--all").returncode == 0
