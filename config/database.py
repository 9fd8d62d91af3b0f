"""The database for a command that works on it directly, also while a server is running on it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import trio

from config.server import APPLICATION
from config.settings import Settings
from runtime.database import Database, open_database
from runtime.errors import DataFolderBusy
from runtime.migrate import migrate
from runtime.postgres import database_url, embedded
from runtime.postgres_home import default_data_folder

SOCKETS_LINE = 4
"""Line of postmaster.pid that names the socket's folder, counted from 0."""


@asynccontextmanager
async def reach_database(settings: Settings) -> AsyncIterator[Database]:
    """The database of the settings, brought up to this version.

    Raises:
        RuntimeFault: it cannot be had.
    """
    async with found_database(settings) as database:
        await migrate(database, APPLICATION / "migrations")
        yield database


@asynccontextmanager
async def found_database(settings: Settings) -> AsyncIterator[Database]:
    """The database of the settings as it is.

    The embedded one is started for the while, or reached through the server that runs it.

    Raises:
        RuntimeFault: it cannot be had.
    """
    async with AsyncExitStack() as stack:
        url = settings.database_url
        if url is None:
            data = settings.data or default_data_folder()
            try:
                url = await stack.enter_async_context(embedded(data))
            except DataFolderBusy:
                running = await trio.to_thread.run_sync(running_url, data)
                if running is None:
                    raise
                url = running
        yield await stack.enter_async_context(open_database(url))


def running_url(data: Path) -> str | None:
    """The URL of the embedded database that a server runs in a data folder, or None."""
    try:
        lines = (data / "postgres" / "postmaster.pid").read_text().splitlines()
        return database_url(Path(lines[SOCKETS_LINE].strip()))
    except (OSError, IndexError):
        return None
