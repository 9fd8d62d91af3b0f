"""`scorebox db`: look after the database."""

import click

from config.database import found_database
from config.logs import configure_logs
from config.running import run
from config.server import APPLICATION
from config.settings import read_settings
from runtime.migrate import migrate

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
