"""The README's commands for scoring a match, as somebody copies them into a shell."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.server import ServerProcess

README = Path(__file__).parent.parent.parent / "README.md"
SCOREBOX = f"{sys.executable} -c 'from config.cli import main; main()'"


def blocks() -> list[str]:
    """The indented blocks of the section on scoring that send commands."""
    section = README.read_text().partition("## Score a match")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^ {4}.*\n)+", section, re.MULTILINE)
    return [block for block in found if "curl" in block]


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: install it to try the README's commands")
def test_a_match_is_scored_with_the_commands_of_the_readme(cli_server: ServerProcess) -> None:
    def run(script: str) -> str:
        environment = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "SCOREBOX_TOKEN": cli_server.token,
            "SCOREBOX_SERVER": cli_server.url,
        }
        script = script.replace("localhost:8765", cli_server.url.removeprefix("http://"))
        script = script.replace(".venv/bin/scorebox", SCOREBOX)
        return subprocess.run(
            ["bash", "-euc", script],
            env=environment,
            cwd=README.parent,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout

    opening, commands = blocks()
    code = re.search(r'"code":"([^"]+)"', run(opening))
    assert code is not None
    shown = run(commands.replace("CODE", code[1]))
    assert shown.count('"outcome":"accepted"') == 2
    assert re.search(r"Reds +4/0", shown)
