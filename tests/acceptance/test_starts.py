"""Starting while something is in the way."""

import os
import signal
import time

import httpx

from tests.acceptance.server import START_LIMIT_S, ServerProcess
from tests.acceptance.test_stops import launched


def wait_until_ready(server: ServerProcess) -> None:
    until = time.monotonic() + START_LIMIT_S
    while True:
        assert server._process is not None
        assert server._process.poll() is None, server.log.read_text()
        assert time.monotonic() < until, server.log.read_text()
        try:
            if httpx.get(f"{server.url}/health/ready", timeout=2, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.05)


def test_postgres_killed_while_the_server_starts_on_it() -> None:
    with launched() as server:
        pid_file = server.data / "postgres" / "postmaster.pid"
        killed: set[int] = set()
        until = time.monotonic() + START_LIMIT_S
        while len(killed) < 3:
            assert time.monotonic() < until, server.log.read_text()
            assert server._process is not None
            assert server._process.poll() is None, server.log.read_text()
            try:
                lines = pid_file.read_text().split("\n")
                ready = lines[7].strip() == "ready"
            except (OSError, IndexError):
                continue
            if ready and (pid := int(lines[0])) not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        wait_until_ready(server)
