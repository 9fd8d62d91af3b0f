"""`scorebox match`: list matches, show one, read its log, correct it, mark it."""

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
from config.lazy import LazyGroup, Table
from config.running import run
from config.scorecard import flag_names, print_scorecard, standing_word
from gateway.protocol import STATUSES, DocumentFrame, LogEvent

LIST_LIMIT = 50
INPUT_SHOWN_CHARACTERS = 120


MATCH_COMMANDS: Table = {
    "list": ("config.commands.match", "list_matches", "List matches, the live and newest first."),
    "show": ("config.commands.match", "show", "Show a scorecard, as it is or as it was at any seq."),
    "log": ("config.commands.match", "log", "Print the log: every event as it was accepted."),
    "history": ("config.commands.history", "history", "Show who brought and changed an event, and when."),
    "undo": ("config.commands.corrections", "undo", "Take back the newest event."),
    "correct": ("config.commands.corrections", "correct", "Give a past event another input."),
    "void": ("config.commands.corrections", "void", "Take back a past event."),
    "insert": ("config.commands.corrections", "insert", "Put in an event that was missed."),
    "amend": ("config.commands.corrections", "amend", "Make several corrections at once, all or none."),
    "revert": ("config.commands.corrections", "revert", "Take back a correction."),
    "flag": ("config.commands.marks", "flag", "Mark a match as uncertain or under review, or no longer."),
    "official": ("config.commands.marks", "official", "Make the score of a match that is over official."),
    "reopen": ("config.commands.marks", "reopen", "Open an official score to corrections again."),
    "export": ("config.commands.transfer", "export_match", "Write a whole match into a file."),
    "import": ("config.commands.transfer", "import_match", "Put an exported match into a server."),
    "rebuild": ("config.commands.corrections", "rebuild", "Work everything out anew from the log."),
}


@click.group(cls=LazyGroup, table=MATCH_COMMANDS)
def match() -> None:
    """List, show, correct and mark matches; read their log."""


@click.command("list")
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
    noted = ", ".join(filter(None, [standing_word(entry), *map(str.lower, flag_names(entry))]))
    return Text.assemble(
        (f"{status:<10}", "bold green" if status == "LIVE" else "bold"),
        f" {entry['code']}  ",
        (f"seq {entry['seq']}\n", "dim"),
        f"           {score}{result}",
        (f"  {noted}" if noted else "", "yellow"),
    )


@click.command()
@click.argument("ref", metavar="MATCH")
@click.option("--watch", is_flag=True, help="Stay, and show the score as it changes; Ctrl-C ends it.")
@click.option("--at", type=click.IntRange(1), metavar="SEQ", help="As it was after this row of the log.")
@server_option()
@token_option
@json_option
def show(*, ref: str, watch: bool, at: int | None, server: str, token: str | None, as_json: bool) -> None:
    """Show a match's scorecard. MATCH is its code or id."""
    if watch and as_json:
        raise click.UsageError("--watch and --json do not go together")
    if watch and at is not None:
        raise click.UsageError("--watch and --at do not go together: what was does not change")

    async def work() -> None:
        async with open_client(server, token) as client:
            if watch:
                await _follow(client, ref)
                return
            found = await client.document(ref, at=at)
            if as_json:
                click.echo(json.dumps(found, ensure_ascii=False, indent=2))
            else:
                print_scorecard(Console(), found["document"])

    run(work)


@click.command()
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


def input_text(given: Any) -> str:
    """An input on one line, cut where it is long."""
    text = json.dumps(given, ensure_ascii=False, separators=(", ", ": "))
    return text if len(text) <= INPUT_SHOWN_CHARACTERS else text[: INPUT_SHOWN_CHARACTERS - 1] + "…"


def _print_row(console: Console, row: LogEvent, as_json: bool) -> None:
    if as_json:
        fields = {name: value for name in row.__struct_fields__ if (value := getattr(row, name))}
        click.echo(json.dumps(fields, ensure_ascii=False))
        return
    text = input_text(row.input)
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
