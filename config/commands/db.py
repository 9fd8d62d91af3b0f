"""`scorebox db`: look after the database."""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import click
import trio

from config.backup import KIND, READS, About, Tell, back_up, read_about, restore
from config.commands.progress import progress_of
from config.database import found_database
from config.logs import configure_logs
from config.running import run
from config.server import APPLICATION
from config.settings import Settings, read_settings
from runtime.archive import open_archive
from runtime.database import Database, open_database
from runtime.migrate import migrate
from runtime.postgres import embedded
from runtime.postgres_home import default_data_folder
from runtime.versions import VersionStore

LOG_LEVEL = "warning"
"""The command says itself what it applied."""


@click.group()
def db() -> None:
    """Look after the database: SCOREBOX_DATABASE_URL, else the one in the data folder."""
    configure_logs(level=LOG_LEVEL)


@db.command("migrate")
def migrate_command() -> None:
    """Bring the schema up to this version. A server does so at its start, too."""

    async def work() -> None:
        async with found_database(read_settings()) as database:
            applied = await migrate(database, APPLICATION / "migrations")
        for migration in applied:
            click.echo(f"applied {migration.version:04}_{migration.name}")
        if not applied:
            click.echo("the schema is up to date")

    run(work)


@db.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
def backup_command(file: Path) -> None:
    """Write everything into FILE.

    That is every row of the database, and the code of every sport. A server may run on meanwhile: the
    backup is of the moment it began. FILE must not be there yet; it appears when it is whole.
    """

    async def work() -> tuple[About, str]:
        settings = read_settings()
        with ExitStack() as stack:
            bar = _bar(stack, "backing up")
            async with found_database(settings) as database:
                return await back_up(database, await _versions(settings), file, bar)

    about, sha = run(work)
    rows = sum(entry.rows for entry in about.tables)
    click.echo(
        f"{file}: {about.matches} matches, {rows} rows, {len(about.sports)} versions of sports, "
        f"{file.stat().st_size} bytes"
    )
    click.echo(f"sha256 of its manifest {sha}")
    for each in about.missing:
        click.echo(
            f"not in it: {each.sport} {each.version} ({each.code_sha[:12]}), which {each.matches} matches "
            "are pinned to, is not installed here; keep its wheel",
            err=True,
        )


@db.command("restore")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
def restore_command(file: Path) -> None:
    """Put a backup into a fresh data folder.

    FILE goes into SCOREBOX_DATA, or into an empty database at SCOREBOX_DATABASE_URL. Nothing is ever
    written over, and no server may run there. The backup is checked to its last byte first; it is put in
    whole or not at all.
    """

    async def work() -> About:
        settings = read_settings()
        with open_archive(file, KIND, READS) as archive, ExitStack() as stack:
            read_about(archive)
            bar = _bar(stack, "restoring")
            async with _own_database(settings) as database:
                return await restore(archive, database, await _versions(settings), bar)

    about = run(work)
    click.echo(f"restored {about.matches} matches as they were at {about.made_at:%Y-%m-%d %H:%M:%S} UTC")
    click.echo("`scorebox verify --all` plays every one of them again")


def _bar(stack: ExitStack, doing: str) -> Callable[[int], Tell]:
    return lambda rows: stack.enter_context(progress_of(doing, rows, "rows"))


async def _versions(settings: Settings) -> VersionStore:
    folder = (settings.data or default_data_folder()) / "sports"
    return await trio.to_thread.run_sync(lambda: VersionStore(folder, experimental=settings.experimental))


@asynccontextmanager
async def _own_database(settings: Settings) -> AsyncIterator[Database]:
    """The database, for nobody but us: one that a server runs is not taken."""
    if settings.database_url is not None:
        async with open_database(settings.database_url) as database:
            yield database
        return
    async with embedded(settings.data or default_data_folder()) as url, open_database(url) as database:
        yield database
