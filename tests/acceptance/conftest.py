"""One server for tests that leave it as it was."""

from collections.abc import Iterator

import pytest

from tests.acceptance.server import ServerProcess, server_process


@pytest.fixture(scope="session")
def shared_server() -> Iterator[ServerProcess]:
    """A server with the rogue sport, shared by tests that do not stop it."""
    with server_process(rogue=True) as server:
        yield server
