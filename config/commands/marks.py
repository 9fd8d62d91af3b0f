"""`scorebox match flag`, `official`, `reopen`: what stands on a match beside its score."""

from typing import Any

import click
import msgspec
from rich.console import Console

from config.client import Client, open_client
from config.commands.corrections import REFUSED_EXIT_CODE, failed, match_argument, this_device
from config.commands.options import json_option, server_option, token_option
from config.running import run
from config.scorecard import print_flags, result_text, side_scores, standing_text
from gateway.flags import FLAG, SHOWN
from gateway.protocol import Accepted
from gateway.ruling import OFFICIAL, REOPEN

ON = "on"

reason_option = click.option(
    "--reason", required=True, metavar="TEXT", help="Why; everybody reads it beside the score."
)


@click.command()
@match_argument
@click.argument("flag", type=click.Choice(list(SHOWN)))
@click.argument("state", type=click.Choice([ON, "off"]))
@reason_option
@server_option()
@token_option
@json_option
def flag(
    *, ref: str, flag: str, state: str, reason: str, server: str, token: str | None, as_json: bool
) -> None:
    """Mark MATCH as uncertain or under review, or take the mark away. Play goes on."""
    given = {"flag": flag, "on": state == ON, "reason": reason}
    send_mark(ref, FLAG, given, server=server, token=token, as_json=as_json)


@click.command()
@match_argument
@click.option("--reason", default="", metavar="TEXT", help="On whose word; it is kept with it.")
@server_option()
@token_option
@json_option
def official(*, ref: str, reason: str, server: str, token: str | None, as_json: bool) -> None:
    """Make the score of MATCH official, once it is over: nothing is played or corrected any more."""
    given = {"reason": reason} if reason else {}
    send_mark(ref, OFFICIAL, given, server=server, token=token, as_json=as_json)


@click.command()
@match_argument
@reason_option
@server_option()
@token_option
@json_option
def reopen(*, ref: str, reason: str, server: str, token: str | None, as_json: bool) -> None:
    """Open the official score of MATCH again: it can be corrected, and then made official anew."""
    send_mark(ref, REOPEN, {"reason": reason}, server=server, token=token, as_json=as_json)


def send_mark(
    ref: str, code: str, given: dict[str, Any], *, server: str, token: str | None, as_json: bool
) -> None:
    """Send a mark on the score as it stands now, and print what stands on the match then.

    Exit code 1: it was refused, or somebody scored meanwhile; one sentence says why.
    """

    async def work() -> bool:
        async with open_client(server, token, device=this_device()) as client:
            return await _sent(client, ref, code, given, as_json=as_json)

    if not run(work):
        raise click.exceptions.Exit(REFUSED_EXIT_CODE)


async def _sent(client: Client, ref: str, code: str, given: dict[str, Any], *, as_json: bool) -> bool:
    console = Console(soft_wrap=True, highlight=False, markup=False)
    before = await client.document(ref)
    if not as_json:
        console.print(score_text(before["document"]))
    answer = await client.command(ref, code, given, before["seq"])
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
    if failed(answer, saw=before["seq"]):
        return False
    assert isinstance(answer, Accepted), "a mark has no preview"
    if not as_json:
        head = (await client.document(ref))["document"]["head"]
        print_flags(console, head)
        standing = standing_text(head)
        console.print(f"accepted as row {answer.seq}" + (f": the score is {standing}" if standing else ""))
    return True


def score_text(document: dict[str, Any]) -> str:
    """The score that is marked: both sides' and the result."""
    scores = ", ".join(f"{side} {score}".rstrip() for side, score in side_scores(document).items())
    return f"{document['head']['name']}: {scores}; {result_text(document)}"
