"""`scorebox token`: make and end tokens, in the database itself."""

import getpass
import json
from datetime import UTC, datetime, timedelta

import click

from config.commands.options import json_option
from config.database import reach_database
from config.errors import UnknownMatch, UnknownToken
from config.logs import configure_logs
from config.running import run
from config.settings import read_settings
from gateway.auth import Identity, Role, StoredToken, new_token, token_hash
from gateway.ledger import Ledger
from gateway.tokens import Tokens

DAYS_LIMIT = 3650
LOG_LEVEL = "warning"
"""Of starting a database for the while, only what is wrong."""


@click.group()
def token() -> None:
    """Make and end tokens, in the database of the settings (SCOREBOX_DATABASE_URL, SCOREBOX_DATA)."""
    configure_logs(level=LOG_LEVEL)


@token.command()
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.SCORER.value,
    show_default=True,
    help="What the token may do: viewers watch, scorers score, operators also set up matches.",
)
@click.option("--match", "ref", metavar="MATCH", help="Only for this match: its code or id.")
@click.option("--account", metavar="NAME", help="Whose token it is; stands in the log (default: your login).")
@click.option("--days", type=click.IntRange(1, DAYS_LIMIT), help="Days until it ends (default: never).")
@json_option
def create(*, role: str, ref: str | None, account: str | None, days: int | None, as_json: bool) -> None:
    """Make a token and print it. It is shown this once: only its hash is kept."""
    made = new_token()
    owner = account or getpass.getuser()
    expires = None if days is None else datetime.now(UTC) + timedelta(days=days)

    async def work() -> None:
        async with reach_database(read_settings()) as database:
            match = None
            if ref is not None:
                found = await Ledger(database).load(ref)
                if found is None:
                    raise UnknownMatch(f"there is no match {ref!r}; `scorebox match list` shows their codes")
                match = str(found.match)
            kept = StoredToken(token_hash(made), Identity(owner, Role(role), match))
            await Tokens(database).add(kept, expires)

    run(work)
    if as_json:
        ends = expires.isoformat(timespec="seconds") if expires else None
        row = {"token": made, "role": role, "account": owner, "match": ref, "expires_at": ends}
        click.echo(json.dumps(row, ensure_ascii=False))
        return
    click.echo(made)
    bound = f" for {ref}" if ref else ""
    ends = f", until {expires:%Y-%m-%d}" if expires else ""
    click.echo(f"role {role}{bound}, account {owner}{ends}; give it as SCOREBOX_TOKEN or --token", err=True)


@token.command()
@click.argument("given", metavar="TOKEN")
def revoke(given: str) -> None:
    """End a token. A server may still take it for half a minute."""

    async def work() -> None:
        async with reach_database(read_settings()) as database:
            if not await Tokens(database).revoke(token_hash(given)):
                raise UnknownToken("there is no such token that is valid; nothing was changed")

    run(work)
    click.echo("the token is revoked")
