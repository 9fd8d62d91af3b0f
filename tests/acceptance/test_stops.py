"""Being told to stop: at any moment, more than once, and while something hangs."""

import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import pytest
import trio

from tests.acceptance.server import START_LIMIT_S, STOP_LIMIT_S, Desk, ServerProcess, server_process
from tests.runtime.rogue_calls import OPENING

DRAIN_S = 3
SLACK_S = 3.0
"""What a loaded machine may add."""


@contextmanager
def launched() -> Iterator[ServerProcess]:
    """A server that was started and not waited for."""
    with tempfile.TemporaryDirectory(prefix="scorebox-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        server = ServerProcess(Path(folder))
        server.launch()
        try:
            yield server
        finally:
            server.close()


def processes_of(server: ServerProcess) -> list[int]:
    """Everything that runs on the server's data folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(server.data) in " ".join(process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def wait_for(path: Path) -> None:
    until = time.monotonic() + START_LIMIT_S
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["server.lock", "postgres.new", "postgres/postmaster.pid", "sports"])
def test_a_signal_during_the_start_ends_it_in_order(number: signal.Signals, moment: str) -> None:
    with launched() as server:
        wait_for(server.data / moment)
        assert server._process is not None
        server._process.send_signal(number)
        assert server._process.wait(STOP_LIMIT_S) == 0, server.log.read_text()
        assert processes_of(server) == []


def test_further_signals_do_not_tear_a_stop_apart() -> None:
    with server_process() as server:
        process = server._process
        assert process is not None
        with socket.create_connection(("127.0.0.1", server.port)) as slow:
            # A request whose body does not come keeps the drain busy for a moment.
            slow.sendall(b"POST /v1/matches HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
            while process.poll() is None:
                for number in (signal.SIGTERM, signal.SIGINT):
                    process.send_signal(number)
                    time.sleep(0.005)
        assert process.returncode == 0, server.log.read_text()
        assert processes_of(server) == []


def test_a_stop_ends_in_time_while_postgres_hangs() -> None:
    with server_process(drain_seconds=str(DRAIN_S)) as server:
        [postmaster] = server.postgres()
        hanging = [psutil.Process(postmaster), *psutil.Process(postmaster).children()]
        for each in hanging:
            each.suspend()
        try:
            assert server._process is not None
            began = time.monotonic()
            server._process.send_signal(signal.SIGTERM)
            assert server._process.wait(STOP_LIMIT_S) == 0
            assert time.monotonic() - began < DRAIN_S + SLACK_S
        finally:
            for each in hanging:
                each.resume()
        psutil.wait_procs(hanging, STOP_LIMIT_S)
        assert processes_of(server) == []
        # What was saved is there, and the folder can be used again.
        server.start()
        server.stop()


async def test_a_stop_ends_in_time_with_a_worker_in_a_step_and_a_client_that_stopped_reading() -> None:
    with server_process(rogue=True, drain_seconds=str(DRAIN_S), worker_call_ms="60000") as server:
        process = server._process
        assert process is not None
        async with Desk(server) as desk, trio.open_nursery() as nursery:
            match = (await desk.create("rogue", opening=OPENING))["match"]

            async def misbehave() -> None:
                with suppress(httpx.TransportError):
                    await desk.send(match, "rogue.misbehave", {"misdeed": "sleep", "amount": 600_000}, 1)

            with socket.create_connection(("127.0.0.1", server.port)) as deaf:
                deaf.settimeout(0.5)
                # It asks and asks and reads no answer, until the server can neither write nor take more.
                with suppress(TimeoutError):
                    while True:
                        deaf.sendall(b"GET /v1/matches HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
                nursery.start_soon(misbehave)
                with trio.fail_after(START_LIMIT_S):
                    while not any(actor["busy"] for actor in (await desk.status())["matches"]["actors"]):
                        await trio.sleep(0.01)
                began = time.monotonic()
                process.send_signal(signal.SIGTERM)
                assert await trio.to_thread.run_sync(process.wait, STOP_LIMIT_S) == 0, server.log.read_text()
                assert time.monotonic() - began < DRAIN_S + SLACK_S
        # Where the stop was cut short, the kernel tells them; they end a moment later.
        left = [psutil.Process(pid) for pid in processes_of(server) if psutil.pid_exists(pid)]
        _, alive = psutil.wait_procs(left, STOP_LIMIT_S)
        assert alive == []
