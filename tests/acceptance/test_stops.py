"""Being told to stop: at any moment, more than once, and while something hangs."""

import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.acceptance.server import START_LIMIT_S, STOP_LIMIT_S, ServerProcess, server_process

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
