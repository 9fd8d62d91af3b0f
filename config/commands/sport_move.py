"""`scorebox sport move`: a match goes on in another version of its sport."""

import click

from config.client import Client
from config.commands.corrections import How, Wanted, carry_out, correction, match_argument, reason_option


@click.command()
@match_argument
@click.argument("version")
@reason_option
@correction
def move(*, ref: str, version: str, reason: str, how: How) -> None:
    """Have MATCH go on in VERSION of its sport.

    Its log is rehearsed first: where the versions part, the first event is named and nothing is changed,
    unless it is forced.
    """

    async def prepare(client: Client) -> Wanted:
        return Wanted("match.move", {"version": version, "reason": reason}, f"move the match to {version}")

    carry_out(ref, prepare, how)
