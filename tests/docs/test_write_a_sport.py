"""docs/write-a-sport.md, done as a reader does it: files written, commands entered, output compared."""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import trio

PROJECT = Path(__file__).parents[2]
GUIDE = PROJECT / "docs" / "write-a-sport.md"
SCOREBOX = f"scorebox() {{ {sys.executable} -c 'from config.cli import main; main()' \"$@\"; }}"
BLOCK_LIMIT_S = 120
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is to be written to, its text."""

    language: str
    file: str | None
    text: str


def blocks() -> list[Block]:
    found = [Block(*match.groups()) for match in BLOCK.finditer(GUIDE.read_text())]
    assert GUIDE.read_text().count("\n```") == 2 * len(found), "a block is not closed, or has no language"
    return found


def squeezed(text: str) -> str:
    return " ".join(text.split())


async def test_a_reader_gets_to_an_installed_sport(tmp_path: Path, database_url: str):
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "COLUMNS": "200",
        "HOME": str(tmp_path),
        "SCOREBOX_DATA": str(tmp_path / "data"),
        "SCOREBOX_DATABASE_URL": database_url,
    }

    async def run(program: list[str]) -> str:
        done = await trio.run_process(
            program,
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_stdout=True,
            stderr=subprocess.STDOUT,
        )
        assert done.returncode == 0, f"{program[-1]}\n{done.stdout.decode()}"
        return done.stdout.decode()

    said, compared = "", 0
    for block in blocks():
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
        elif block.language == "sh":
            with trio.fail_after(BLOCK_LIMIT_S):
                said = squeezed(await run(["bash", "-euc", f"{SCOREBOX}\n{block.text}"]))
        elif block.language == "python":
            await run([sys.executable, "-c", block.text])
        else:
            assert block.language == "output", block
            for line in block.text.splitlines():
                assert squeezed(line) in said
                compared += 1
    assert compared > 5


def test_every_kind_of_block_is_there():
    found = blocks()
    assert {block.language for block in found} == {"sh", "toml", "python", "text", "output"}
    assert len(found) > 10


def test_the_code_is_formatted_and_lints(tmp_path: Path):
    for number, block in enumerate(blocks()):
        if block.language == "python" and block.file is not None:
            (tmp_path / f"block_{number}.py").write_text(block.text)
    config = ["--config", str(PROJECT / "pyproject.toml")]
    for command in (["format", "--check"], ["check", "--ignore", "RUF012,I001", "--no-cache"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, *config, str(tmp_path)],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BLOCK_LIMIT_S,
            text=True,
        )
        assert done.returncode == 0, done.stdout
