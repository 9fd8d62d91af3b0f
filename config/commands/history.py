"""`scorebox match history`: who brought an event and changed it, when, and from which device."""

import click
import msgspec
from rich.console import Console
from rich.text import Text

from config.client import open_client
from config.commands.events import EVENT, EventName
from config.commands.match import input_text
from config.commands.options import json_option, server_option, token_option
from config.running import Fault, run
from gateway.protocol import EventHistory


@click.command()
@click.argument("ref", metavar="MATCH")
@click.argument("event", type=EVENT)
@server_option()
@token_option
@json_option
def history(*, ref: str, event: EventName, server: str, token: str | None, as_json: bool) -> None:
    """Show how EVENT of MATCH came to stand as it does: every row that touched it, oldest first.

    EVENT is the seq of the row that brought it, "140/1" for a further one of an amendment. Who sent a row is
    told to those who may score the match.
    """

    async def work() -> EventHistory:
        async with open_client(server, token) as client:
            found = await client.event(ref, str(event))
            if found is None:
                raise Fault(f"there is no event {event} in {ref}; look into `scorebox match log {ref}`")
            return found

    found = run(work)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())
        return
    console = Console(soft_wrap=True, highlight=False)
    console.print(
        Text.assemble((f"{found.event}  ", "dim"), (f"{found.code}  ", "bold"), input_text(found.input))
    )
    console.print(Text(how_it_stands(found)))
    for row in found.history:
        who = "  ".join(part for part in (row.by, row.device) if part)
        after = "taken back" if row.input is None else input_text(row.input)
        console.print(
            Text.assemble(
                (f"{row.seq:>6}  {row.at}  ", "dim"),
                (row.code, "bold"),
                f"  {who}" if who else "",
                (f"  {row.reason}" if row.reason else "", "yellow"),
                f"\n        {after}",
            )
        )


def how_it_stands(found: EventHistory) -> str:
    """Whether an event counts, in a few words."""
    if found.voided:
        return "taken back"
    return "passed over: it no longer fits what came before it" if found.skipped else "stands"
