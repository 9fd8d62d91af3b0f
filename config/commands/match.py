"""`scorebox match`: list matches, show one, read its log."""

import contextlib
import io
import json
from typing import Any

import click
import trio
from rich.console import Console
from rich.text import Text

from config.client import Client, open_client
from config.commands.options import json_option, server_option, token_option
from config.commands.screen import screen
from config.running import run
from config.scorecard import print_scorecard
from gateway.protocol import STATUSES, DocumentFrame, LogEvent

LIST_LIMIT = 50
INPUT_SHOWN_CHARACTERS = 120


@click.group()
def match() -> None:
    """List, show and read the log of matches."""


@match.command("list")
@click.option("--status", type=click.Choice(STATUSES, case_sensitive=False), help="Only these.")
@click.option("--limit", type=click.IntRange(1, 500), default=LIST_LIMIT, show_default=True)
@server_option()
@token_option
@json_option
def list_matches(*, status: str | None, limit: int, server: str, token: str | None, as_json: bool) -> None:
    """List matches, the live and newest first."""

    async def work() -> list[dict[str, Any]]:
        async with open_client(server, token) as client:
            return await client.matches(status=status.upper() if status else None, limit=limit)

    matches = run(work)
    if as_json:
        click.echo(json.dumps(matches, ensure_ascii=False, indent=2))
        return
    console = Console(soft_wrap=True, highlight=False)
    for entry in matches:
        console.print(_listed(entry))
    if not matches:
        console.print("no matches")


def _listed(entry: dict[str, Any]) -> Text:
    """Two lines: status and code; what the board shows."""
    score = " · ".join(f"{side['name']} {side['score']}".strip() for side in entry["sides"])
    result = f" - {entry['result']['text']}" if entry.get("result") else ""
    status = str(entry["status"])
    return Text.assemble(
        (f"{status:<10}", "bold green" if status == "LIVE" else "bold"),
        f" {entry['code']}  ",
        (f"seq {entry['seq']}\n", "dim"),
        f"           {score}{result}",
    )


@match.command()
@click.argument("ref", metavar="MATCH")
@click.option("--watch", is_flag=True, help="Stay, and show the score as it changes; Ctrl-C ends it.")
@server_option()
@token_option
@json_option
def show(*, ref: str, watch: bool, server: str, token: str | None, as_json: bool) -> None:
    """Show a match's scorecard. MATCH is its code or id."""
    if watch and as_json:
        raise click.UsageError("--watch and --json do not go together")

    async def work() -> None:
        async with open_client(server, token) as client:
            if watch:
                await _follow(client, ref)
                return
            found = await client.document(ref)
            if as_json:
                click.echo(json.dumps(found, ensure_ascii=False, indent=2))
            else:
                print_scorecard(Console(), found["document"])

    run(work)


@match.command()
@click.argument("ref", metavar="MATCH")
@click.option("--after", type=click.IntRange(0), default=0, show_default=True, help="Rows after this seq.")
@click.option("--limit", type=click.IntRange(1), help="At most so many rows.")
@server_option()
@token_option
@json_option
def log(*, ref: str, after: int, limit: int | None, server: str, token: str | None, as_json: bool) -> None:
    """Print a match's log: every event as it was accepted. MATCH is its code or id."""

    async def work() -> None:
        console = Console(soft_wrap=True)
        printed = 0
        async with (
            open_client(server, token) as client,
            contextlib.aclosing(client.log(ref, after=after)) as rows,
        ):
            async for row in rows:
                _print_row(console, row, as_json)
                printed += 1
                if printed == limit:
                    return

    run(work)


def _print_row(console: Console, row: LogEvent, as_json: bool) -> None:
    if as_json:
        fields = {name: value for name in row.__struct_fields__ if (value := getattr(row, name))}
        click.echo(json.dumps(fields, ensure_ascii=False))
        return
    text = json.dumps(row.input, ensure_ascii=False, separators=(", ", ": "))
    if len(text) > INPUT_SHOWN_CHARACTERS:
        text = text[: INPUT_SHOWN_CHARACTERS - 1] + "…"
    notes = " ".join([*(f"+{word}" for word in row.emits), *(f"!{code}" for code in row.override)])
    console.print(
        Text.assemble(
            (f"{row.seq:>6}  ", "dim"),
            (f"{row.code:<24}", "bold"),
            text,
            (f"  {notes}" if notes else "", "yellow"),
        )
    )


async def _follow(client: Client, ref: str) -> None:
    """The scorecard, shown anew whenever it changed."""
    document: dict[str, Any] = {}
    console = Console()
    with screen(console) as show:
        async with contextlib.aclosing(client.watch(ref)) as frames:
            async for frame in frames:
                if isinstance(frame, DocumentFrame):
                    document = frame.document
                else:
                    document = {"head": frame.head, "parts": {**document["parts"], **frame.parts}}
                show(fitting_card(console, document))
                await trio.lowlevel.checkpoint()


def fitting_card(terminal: Console, document: dict[str, Any]) -> Text:
    """The scorecard as it fits on a screen: where it is longer, its end, which is what changes."""
    # A console of its own: one that is Live prints its live part along with everything else.
    console = Console(
        file=io.StringIO(),
        width=terminal.width,
        force_terminal=terminal.is_terminal,
        color_system="auto" if terminal.is_terminal else None,
    )
    with console.capture() as card:
        print_scorecard(console, document)
    lines = card.get().rstrip().split("\n")
    if terminal.is_terminal and len(lines) > terminal.height:
        lines = [lines[0], "…", *lines[len(lines) - terminal.height + 2 :]]
    return Text.from_ansi("\n".join(lines))
