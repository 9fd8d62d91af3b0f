"""`scorebox demo` in a process of its own, as a newcomer runs it."""

import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from rich.console import Console

from config.demoreport import DemoReport, curl_line
from config.golden import demo_match
from config.playing import Played
from config.settings import Settings

SCOREBOX = Path(sys.executable).with_name("scorebox")
LIMIT_S = 120
STOP_LIMIT_S = 60
STAYS = "Ctrl-C ends the demo."
PORT_TAKEN = "is taken, so the demo takes a free one."


class Demo:
    """One run; its temporary files are in a folder of its own, so that what it leaves is seen."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SCOREBOX_")}
        self.process = subprocess.Popen(
            [SCOREBOX, "demo", *arguments],
            env=kept | {"TMPDIR": str(folder), "COLUMNS": "100"} | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.output = ""

    def read_until(self, words: str) -> None:
        """Reads what it prints until these words come."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output += line
            if words in line:
                return
        raise AssertionError(f"{words!r} was never said: {self.output}{self.process.stderr}")

    def end(self, *signals: signal.Signals) -> tuple[int, str]:
        """The exit code and standard error, after the signals if any."""
        for number in signals:
            self.process.send_signal(number)
        output, errors = self.process.communicate(timeout=STOP_LIMIT_S if signals else LIMIT_S)
        self.output += output
        return self.process.returncode, errors

    def left(self) -> list[str]:
        """Processes and files that are still there."""
        session = self.process.pid
        processes = [
            " ".join(process.info["cmdline"] or [process.info["name"]])
            for process in psutil.process_iter(["pid", "cmdline", "name"])
            if _session(process.info["pid"]) == session
            or str(self.folder) in " ".join(process.info["cmdline"] or ())
        ]
        return processes + [str(path) for path in self.folder.iterdir()]

    def close(self) -> None:
        """Kills it if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return -1


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A short one that other users can pass: sockets have short names, and postgres is another user."""
    with tempfile.TemporaryDirectory(prefix="sbd-") as name:
        os.chmod(name, 0o711)
        yield Path(name)


@pytest.fixture
def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def test_with_exit_it_scores_a_match_prints_the_card_and_leaves_nothing(folder: Path):
    demo = Demo(folder, "--exit", "--port", "0")
    try:
        code, errors = demo.end()
    finally:
        demo.close()
    assert (code, errors) == (0, ""), demo.output
    assert "Mumbai Indians  176/6 (20 overs)  innings 1" in demo.output
    assert re.search(r"JJ Bumrah +4 +0 +24 +3 ", demo.output)
    assert "Match tied (Kings XI Punjab won the super over)" in demo.output
    assert f"All {demo_match().expected.figures} figures are as on the scorecard of the day." in demo.output
    assert demo.left() == []


def test_it_stays_until_it_is_told_and_everything_it_prints_works(folder: Path):
    demo = Demo(folder, "--port", "0")
    try:
        demo.read_until(STAYS)
        addresses = dict(
            re.findall(r"^  (All matches|This match|Server status|Document) +(http\S+)$", demo.output, re.M)
        )
        for address in addresses.values():
            answer = httpx.get(address, trust_env=False)
            assert answer.status_code == 200, address
        assert (
            httpx.get(addresses["Document"], trust_env=False).json()["document"]["head"]["result"]["kind"]
            == "tie"
        )
        assert "Mumbai Indians" in httpx.get(addresses["All matches"], trust_env=False).text

        words = shlex.split(next(line for line in demo.output.splitlines() if line.startswith("  curl ")))
        headers = dict(word.split(": ", 1) for flag, word in pairwise(words) if flag == "-H")
        outcomes = [
            httpx.post(words[2], headers=headers, content=words[-1], trust_env=False).json() for _ in range(2)
        ]
        assert [(answer["outcome"], answer["duplicate"]) for answer in outcomes] == [
            ("accepted", False),
            ("accepted", True),
        ]
        assert headers["Authorization"].removeprefix("Bearer ") in demo.output
        code, errors = demo.end(signal.SIGTERM)
    finally:
        demo.close()
    assert (code, errors) == (0, "")
    assert demo.left() == []


@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGINT, signal.SIGINT, signal.SIGTERM)])
def test_interrupted_in_the_match_it_stops_in_order(folder: Path, signals: tuple[signal.Signals, ...]):
    demo = Demo(folder, "--port", "0", "--speed", "5")
    try:
        demo.read_until("Live at")
        code, errors = demo.end(*signals)
    finally:
        demo.close()
    assert (code, errors) == (130, "")
    assert "Stopping the server" in demo.output
    assert demo.left() == []


def test_where_the_default_port_is_taken_a_free_one_is(folder: Path):
    with ExitStack() as stack:
        with suppress(OSError):  # somebody else has it already
            stack.enter_context(socket.create_server((Settings().host, Settings().port)))
        demo = Demo(folder, "--exit")
        try:
            code, errors = demo.end()
        finally:
            demo.close()
    assert (code, errors) == (0, "")
    assert f"Port {Settings().port} {PORT_TAKEN}" in demo.output
    assert f"{Settings().host}:{Settings().port}" not in demo.output


def test_a_given_port_that_is_taken_is_said(folder: Path, free_port: int):
    with socket.create_server(("127.0.0.1", free_port)):
        given = Demo(folder, "--exit", SCOREBOX_PORT=str(free_port))
        try:
            code, errors = given.end()
        finally:
            given.close()
    assert code == 2
    assert f"port {free_port} on 127.0.0.1 is taken" in errors
    assert "--port" in errors
    assert given.left() == []


def test_with_data_everything_stays_in_that_folder(folder: Path):
    data = folder / "kept"
    for matches in (1, 2):
        demo = Demo(folder, "--port", "0", "--data", str(data))
        try:
            demo.read_until("The data stays in")
            url = re.search(r"All matches +(http\S+)", demo.output)
            assert url is not None
            listed = httpx.get(f"{url[1]}v1/matches", trust_env=False).json()["matches"]
            code, errors = demo.end(signal.SIGINT)
        finally:
            demo.close()
        assert len(listed) == matches
        assert (code, errors) == (0, "")
    assert demo.left() == [str(data)]


@pytest.mark.parametrize(
    ("arguments", "environment", "says"),
    [
        (("--speed", "slow"), {}, "is not a speed"),
        ((), {"SCOREBOX_PORT": "many"}, "SCOREBOX_PORT cannot be read"),
        (("--port", "0"), {"SCOREBOX_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, "database"),
    ],
)
def test_what_cannot_be_is_a_sentence(
    folder: Path, arguments: tuple[str, ...], environment: dict[str, str], says: str
):
    demo = Demo(folder, "--exit", *arguments, **environment)
    try:
        code, errors = demo.end()
    finally:
        demo.close()
    assert code == 2
    assert says in errors
    assert "Traceback" not in errors + demo.output
    assert demo.left() == []


def test_figures_that_differ_are_named():
    console = Console(record=True, width=100, file=io.StringIO())
    document: dict[str, Any] = {
        "head": {"sport": "cricket", "name": "A v B", "sides": [], "result": None},
        "parts": {},
    }
    played = Played("id", "a-v-b", "A v B", existed=False, document=document, figures=20)
    played.differences = ["innings-1, Ash batting: runs 8 as scored, 9 expected"]
    DemoReport(console).played(played)
    text = console.export_text()
    assert "runs 8 as scored, 9 expected" in text
    assert "1 of 20 figures differ." in text
    assert "as on the scorecard of the day" not in text


def test_the_curl_line_is_safe_in_a_shell():
    words = shlex.split(curl_line("http://127.0.0.1:1", "a-v-b", 7, "to'ken"))
    assert "Authorization: Bearer to'ken" in words
    assert '"saw": 7' in words[-1]
