"""`scorebox sport list` and `retire`: the versions that are installed."""

import click
import msgspec
from rich.console import Console
from rich.table import Table

from config.commands.options import json_option, server_option, token_option
from config.logs import configure_logs
from config.running import run
from config.settings import read_settings
from config.sports import reach_sports
from gateway.installing import ListedVersion

SHA_SHOWN_CHARACTERS = 12
SERVER_HELP = "Server to ask; without it the data folder here (SCOREBOX_DATA)."


@click.command("list")
@server_option(default=None, help=SERVER_HELP)
@token_option
@json_option
def list_versions(*, server: str | None, token: str | None, as_json: bool) -> None:
    """List the versions of every sport, which one new matches use, and the unfinished matches on each."""
    configure_logs(level="error")

    async def work() -> list[ListedVersion]:
        async with reach_sports(server, token, read_settings()) as sports:
            return await sports.list()

    versions = run(work)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(versions)).decode())
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("sport", "version", "code", "new matches", "unfinished"):
        table.add_column(heading, justify="right" if heading == "unfinished" else "left")
    for each in versions:
        use = "use it" if each.current else "" if each.installed else "MISSING: install it"
        sha = each.code_sha[:SHA_SHOWN_CHARACTERS]
        table.add_row(each.sport, each.version, sha, use, str(each.unfinished))
    Console(soft_wrap=True, highlight=False).print(table if versions else "no sport is installed")


@click.command()
@click.argument("sport")
@click.argument("version")
@server_option(default=None, help=SERVER_HELP)
@token_option
def retire(*, sport: str, version: str, server: str | None, token: str | None) -> None:
    """Take away a VERSION of a SPORT. Refused while new or unfinished matches need it."""
    configure_logs(level="error")

    async def work() -> None:
        async with reach_sports(server, token, read_settings()) as sports:
            await sports.retire(sport, version)

    run(work)
    click.echo(f"{sport} {version} is retired")
