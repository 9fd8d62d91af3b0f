"""A server in a process of its own, to be killed, stopped and started again on the same data."""

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx
import psutil
import trio

from bench.play import opening
from runtime.versions import VersionStore
from tests.guardlevel import achievable

SCOREBOX = Path(sys.executable).with_name("scorebox")
START_LIMIT_S = 60.0
STOP_LIMIT_S = 40.0
EPHEMERAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
ROGUE = Path(__file__).parent.parent / "runtime" / "rogue" / "scorebox_rogue"


def free_port() -> int:
    """A port that stays free while its server is down: the kernel gives nobody one outside its own range."""
    lowest = int(EPHEMERAL_PORTS.read_text().split()[0])
    while True:
        port = random.randrange(lowest // 2, lowest)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class ServerProcess:
    """`scorebox serve` on its own data folder and port; `settings` are variables without SCOREBOX_."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.data = folder / "data"
        self.log = folder / "log"
        self.settings = {f"SCOREBOX_{name.upper()}": value for name, value in settings.items()}
        self.command = [str(SCOREBOX), "serve"]
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What `scorebox` runs with."""
        # Sports installed by hand run with what the kernel under the tests can give.
        guard = {"SCOREBOX_MINIMUM_GUARD_LEVEL": achievable()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SCOREBOX_")}
        own = {"SCOREBOX_DATA": str(self.data), "SCOREBOX_PORT": str(self.port)}
        return kept | own | guard | self.settings

    def install_rogue(self) -> None:
        """Put the sport that misbehaves on request beside the bundled ones."""
        VersionStore(self.data / "sports").install_folder(ROGUE, "rogue", "1.0.0")

    def launch(self) -> "subprocess.Popen[bytes]":
        """Start it, and do not wait."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        return self._process

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.launch()
        assert self._process is not None
        until = time.monotonic() + START_LIMIT_S
        while True:
            assert self._process.poll() is None, self.log.read_text()
            assert time.monotonic() < until, self.log.read_text()
            try:
                if httpx.get(f"{self.url}/health/ready", timeout=2, trust_env=False).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        if not self.token:
            self.token = self.run("token", "create", "--role", "admin").stdout.strip()

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """`scorebox ARGUMENTS` in the same environment."""
        return subprocess.run(
            [SCOREBOX, *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    def kill(self) -> None:
        """kill -9, and nothing else: what it leaves behind is the test."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        """SIGTERM, and a clean end."""
        assert self._process is not None
        process, self._process = self._process, None
        process.send_signal(signal.SIGTERM)
        code = process.wait(STOP_LIMIT_S)
        assert code == 0, self.log.read_text()[-4000:]

    def close(self) -> None:
        """End it, whatever state it is in."""
        if self._process is not None and self._process.poll() is None:
            self.stop()
        for pid in self.postgres():
            psutil.Process(pid).kill()

    def workers(self) -> list[psutil.Process]:
        """The worker processes."""
        assert self._process is not None
        return [
            child
            for child in psutil.Process(self._process.pid).children()
            if "worker/main.py" in " ".join(child.cmdline())
        ]

    def postgres(self) -> list[int]:
        """The pid of the embedded postmaster, where there is one."""
        try:
            pid = int((self.data / "postgres" / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return []
        return [pid] if psutil.pid_exists(pid) else []


@contextmanager
def server_process(*, rogue: bool = False, **settings: str) -> Iterator[ServerProcess]:
    """A running server that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="scorebox-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        server = ServerProcess(Path(folder), **settings)
        if rogue:
            server.install_rogue()
        try:
            server.start()
            yield server
        finally:
            server.close()


class Desk:
    """Commands over HTTP with everything in one's own hand: ids, `saw`, and every single answer."""

    def __init__(self, server: ServerProcess) -> None:
        self._http = httpx.AsyncClient(
            base_url=server.url,
            headers={"Authorization": f"Bearer {server.token}"},
            trust_env=False,
            timeout=30,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._http.aclose()

    async def create(self, sport: str = "cricket", **how: Any) -> dict[str, Any]:
        """A match."""
        sheet = opening() if sport == "cricket" else how.pop("opening")
        answer = await self._http.post(
            "/v1/matches", json={"sport": sport, "name": "A v B", "opening": sheet} | how
        )
        assert answer.status_code in (200, 201), answer.text
        created: dict[str, Any] = answer.json()
        return created

    async def send(
        self, match: str, code: str, input: dict[str, Any], saw: int, *, id: str | None = None, **how: Any
    ) -> dict[str, Any]:
        """One command, one answer."""
        body = {"id": id or str(uuid4()), "code": code, "input": input, "saw": saw} | how
        response = await self._http.post(f"/v1/matches/{match}/commands", json=body)
        assert response.headers["content-type"] == "application/json", (
            response,
            response.headers,
            response.text,
        )
        answer: dict[str, Any] = response.json()
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE and "outcome" not in answer:
            # Nobody judges commands just now: the server starts, or has no room for a request.
            after_ms = int(response.headers["retry-after"]) * 1_000
            return {"outcome": "try_again", "reason": answer["code"], "after_ms": after_ms}
        return answer

    async def send_until_answered(
        self, match: str, code: str, input: dict[str, Any], saw: int
    ) -> list[dict[str, Any]]:
        """The same command, with the same id, until it is anything but "try again"; all the answers."""
        id, answers = str(uuid4()), []
        with trio.fail_after(START_LIMIT_S):
            while True:
                try:
                    answers.append(await self.send(match, code, input, saw, id=id))
                    if answers[-1]["outcome"] != "try_again":
                        return answers
                    await trio.sleep(answers[-1]["after_ms"] / 1000)
                except httpx.TransportError:
                    await trio.sleep(0.05)

    async def log(self, match: str) -> list[dict[str, Any]]:
        """The whole log."""
        rows: list[dict[str, Any]] = []
        after: int | None = 0
        while after is not None:
            page = (
                await self._http.get(f"/v1/matches/{match}/log", params={"after": after, "limit": 200})
            ).json()
            rows += page["rows"]
            after = page["next"]
        return rows

    async def document(self, match: str) -> dict[str, Any]:
        """The document with its position."""
        document: dict[str, Any] = (await self._http.get(f"/v1/matches/{match}/document")).json()
        return document

    async def status(self) -> dict[str, Any]:
        """The status with its details."""
        status: dict[str, Any] = (await self._http.get("/status")).json()
        return status
