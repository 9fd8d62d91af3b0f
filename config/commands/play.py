"""`scorebox play`: match files, ball by ball, on a server."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import click
import trio
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from config.client import open_client
from config.commands.options import json_option, server_option, token_option
from config.errors import ConfigFault
from config.logs import configure_logs
from config.playing import Played
from config.playing import play as play_match
from config.playreport import print_report, report_row
from config.running import FAULT_EXIT_CODE, run
from sports.readers.cricsheet import CricsheetMatch, read_cricsheet
from sports.readers.errors import ReaderError

DIFFERENCE_EXIT_CODE = 1
AT_ONCE_DEFAULT = 8
AT_ONCE_LIMIT = 100
DEVICE = "scorebox-play"

Outcome = Played | ConfigFault | ReaderError


class Speed(click.ParamType[float | None]):
    """`max`, or deliveries a second."""

    name = "max|N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Deliveries a second, None for as fast as they are answered."""
        if value == "max":
            return None
        try:
            per_second = float(value)
        except ValueError:
            per_second = 0
        if not 0 < per_second < float("inf"):
            self.fail(f"{value!r} is not a speed: write max, or deliveries a second (such as 2)", param, ctx)
        return per_second


@click.group()
def play() -> None:
    """Play match files on a server and check every figure."""


@play.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@server_option(default=None, help="Server to play on; without it a temporary one is started.")
@token_option
@click.option("--speed", type=Speed(), default="max", show_default=True, help="Deliveries a second.")
@click.option(
    "--at-once",
    type=click.IntRange(1, AT_ONCE_LIMIT),
    default=AT_ONCE_DEFAULT,
    show_default=True,
    help="Matches played side by side.",
)
@click.option("--again", is_flag=True, help="Play as a new match what the server has already.")
@click.option(
    "--scorecard/--no-scorecard", default=None, help="Print whole scorecards (default: for one file)."
)
@click.option("--verbose", "-v", is_flag=True, help="Print every warning and every refusal overridden.")
@json_option
def cricsheet(
    *,
    files: tuple[Path, ...],
    server: str | None,
    token: str | None,
    speed: float | None,
    at_once: int,
    again: bool,
    scorecard: bool | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Play Cricsheet JSON files ball by ball.

    Every command is sent over the WebSocket and its answer waited for. Then totals, wickets, overs, the
    result and every batter's and bowler's figures are compared with what the file itself adds up to.

    A match that the server has already is not scored twice: what is missing of it is sent, then it is
    compared. Exit code 1: a figure differs. 2: a file could not be read or played.
    """
    read = [(file, _read(file)) for file in files]
    matches = [match for _, match in read if isinstance(match, CricsheetMatch)]
    outcomes: dict[int, Outcome] = {
        index: match for index, (_, match) in enumerate(read) if isinstance(match, ReaderError)
    }

    async def work() -> None:
        limiter = trio.CapacityLimiter(at_once)
        async with _server(server, token) as (url, bearer):
            with _progress(matches) as advance:

                async def play_one(index: int, match: CricsheetMatch) -> None:
                    async with limiter:
                        try:
                            async with open_client(url, bearer, device=DEVICE) as client:
                                outcomes[index] = await play_match(
                                    client, match, again=again, per_second=speed, advance=advance
                                )
                        except ConfigFault as error:
                            outcomes[index] = error

                async with trio.open_nursery() as nursery:
                    for index, (_, match) in enumerate(read):
                        if isinstance(match, CricsheetMatch):
                            nursery.start_soon(play_one, index, match)

    if matches:
        configure_logs(level="info" if verbose else "error")
        run(work)
    rows = [(file, outcomes[index]) for index, (file, _) in enumerate(read)]
    if as_json:
        click.echo(json.dumps(_for_machines(rows), ensure_ascii=False, indent=2))
    else:
        whole = len(rows) == 1 if scorecard is None else scorecard
        print_report(Console(), rows, scorecards=whole, verbose=verbose)
    if any(not isinstance(outcome, Played) for _, outcome in rows):
        raise click.exceptions.Exit(FAULT_EXIT_CODE)
    if any(isinstance(outcome, Played) and outcome.differences for _, outcome in rows):
        raise click.exceptions.Exit(DIFFERENCE_EXIT_CODE)


def _read(file: Path) -> CricsheetMatch | ReaderError:
    try:
        return read_cricsheet(file)
    except ReaderError as error:
        return error


@asynccontextmanager
async def _server(url: str | None, token: str | None) -> AsyncIterator[tuple[str, str | None]]:
    if url is not None:
        yield url, token
        return
    from config.server import temporary_server  # the whole server: loaded only where it is started

    async with temporary_server() as server:
        yield server.url, server.token


@contextmanager
def _progress(matches: list[CricsheetMatch]) -> Iterator[Callable[[int], None]]:
    """A bar of deliveries on standard error while that is a terminal."""
    console = Console(stderr=True)
    with Progress(
        TextColumn("playing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("deliveries"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("play", total=sum(match.deliveries for match in matches))
        yield lambda deliveries: progress.advance(task, deliveries)


def _for_machines(rows: list[tuple[Path, Outcome]]) -> dict[str, Any]:
    matches = [report_row(file, outcome) for file, outcome in rows]
    return {
        "matches": matches,
        "agree": sum(match["status"] == "agrees" for match in matches),
        "differ": sum(match["status"] == "differs" for match in matches),
        "failed": sum(match["status"] == "failed" for match in matches),
    }
