"""`scorebox db`: look after the database."""

from contextlib import AsyncExitStack

import click

from config.running import run
from config.server import APPLICATION
from config.settings import read_settings
from runtime.database import open_database
from runtime.migrate import migrate
from runtime.postgres import embedded
from runtime.postgres_home import default_data_folder


@click.group()
def db() -> None:
    """Look after the database: SCOREBOX_DATABASE_URL, else the one in the data folder."""


@db.command("migrate")
def migrate_command() -> None:
    """Bring the schema up to this version. A server does so at its start, too."""

    async def work() -> None:
        settings = read_settings()
        async with AsyncExitStack() as stack:
            url = settings.database_url
            if url is None:
                url = await stack.enter_async_context(embedded(settings.data or default_data_folder()))
            database = await stack.enter_async_context(open_database(url))
            applied = await migrate(database, APPLICATION / "migrations")
        for migration in applied:
            click.echo(f"applied {migration.version:04}_{migration.name}")
        if not applied:
            click.echo("the schema is up to date")

    run(work)
