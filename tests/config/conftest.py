"""One server for every test of the command line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from config.cli import main
from tests.acceptance.server import ServerProcess, server_process

Scorebox = Callable[..., Result]


@pytest.fixture(scope="session")
def cli_server() -> Iterator[ServerProcess]:
    """A server that no test stops."""
    with server_process() as server:
        yield server


@pytest.fixture
def scorebox(cli_server: ServerProcess) -> Scorebox:
    """`scorebox ARGUMENTS` against that server, in this process."""

    def call(*arguments: str | Path, **environment: str | None) -> Result:
        given = {"SCOREBOX_SERVER": cli_server.url, "SCOREBOX_TOKEN": cli_server.token} | environment
        return CliRunner().invoke(main, [str(argument) for argument in arguments], env=given)

    return call


@pytest.fixture
def write_match(tmp_path: Path) -> Callable[[str, dict[str, Any]], Path]:
    """Writes a match file under a name of its own: the name is its id at the source."""

    def write(name: str, plain: dict[str, Any]) -> Path:
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps(plain))
        return file

    return write
