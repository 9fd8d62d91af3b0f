"""`scorebox status`: how a server is doing."""

import json

import click
import trio
from rich.console import Console
from rich.text import Text

from config.client import open_client
from config.commands.options import json_option, server_option, token_option
from config.commands.screen import screen
from config.errors import Unreachable
from config.running import run
from config.statusboard import status_board

REFRESH_S = 1.0


@click.command()
@click.option("--watch", is_flag=True, help="Stay and refresh every second; Ctrl-C ends it.")
@server_option()
@token_option
@json_option
def status(*, watch: bool, server: str, token: str | None, as_json: bool) -> None:
    """Show how a server is doing: readiness, workers, matches, database, alerts."""
    if watch and as_json:
        raise click.UsageError("--watch and --json do not go together")

    async def work() -> None:
        console = Console()
        async with open_client(server, token) as client:
            if as_json:
                click.echo(json.dumps(await client.status(), ensure_ascii=False, indent=2))
                return
            if not watch:
                console.print(status_board(server, await client.status()), soft_wrap=True)
                return
            first = status_board(server, await client.status())
            with screen(console) as show:
                show(first)
                while True:
                    await trio.sleep(REFRESH_S)
                    try:
                        show(status_board(server, await client.status()))
                    except Unreachable as error:
                        show(Text(str(error), style="red"))

    run(work)
