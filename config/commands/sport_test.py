"""`scorebox sport test`: the sport kit on a folder, or on a sport that comes with the application."""

from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table

from config.commands.options import json_option
from config.running import Fault
from sports.kit import KitFault, Report, check_folder, find_folder
from sports.kit.report import FAILURES_KEPT
from sports.readers.errors import ReaderError
from sports.readers.kit import READERS

BUNDLED = Path(__file__).resolve().parents[2] / "sports"
FAILURE_EXIT_CODE = 1
FAILURES_SHOWN = 5
"""Of one check: one fault often fails every command alike."""


@click.command("test")
@click.argument("sport", metavar="FOLDER|SPORT")
@json_option
def test(*, sport: str, as_json: bool) -> None:
    """Run the sport kit on a sport's FOLDER, or on a bundled SPORT by its code.

    It plays every golden match: determinism under two hash seeds, no changed input, pure JSON, state size,
    step time, the manifest, refusals, "undo after do", and what the matches must come to. Exit code 1: a
    check failed.
    """
    screen = Console(stderr=True)
    try:
        folder = find_folder(_folder(sport))
        goldens = folder.goldens(READERS)
        with screen.status(f"{folder.package}: loading") as status:
            report = check_folder(
                folder,
                goldens,
                told=lambda name: status.update(f"{folder.package}: {name}"),
                program="config.kitworker",
            )
    except (KitFault, ReaderError) as error:
        raise Fault(str(error)) from error
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report.data())).decode())
    else:
        print_report(report)
    if not report.passed:
        raise SystemExit(FAILURE_EXIT_CODE)


def _folder(sport: str) -> Path:
    bundled = BUNDLED / sport
    if Path(sport).is_dir():
        return Path(sport)
    if sport.isidentifier() and bundled.is_dir():
        return bundled
    raise Fault(f"{sport} is neither a folder nor a sport that comes with the application")


def print_report(report: Report) -> None:
    """The table of checks, then what is wrong: at most FAILURES_SHOWN sentences of each."""
    console = Console(soft_wrap=True, highlight=False)
    table = Table(box=None, pad_edge=False, title=f"{report.sport} {report.version}", title_justify="left")
    for heading in ("check", "looked at", "", "remark"):
        table.add_column(heading, justify="right" if heading == "looked at" else "left")
    for check in report.checks:
        told = "passed" if check.passed else f"{len(check.failures) + check.more} FAILED"
        table.add_row(check.name, f"{check.count:,} {check.what}", told, check.remark)
    console.print(table)
    for check in report.checks:
        for sentence in check.failures[:FAILURES_SHOWN]:
            console.print(f"- {check.name}: {sentence}", markup=False)
        if (rest := len(check.failures) + check.more - FAILURES_SHOWN) > 0:
            console.print(
                f"- {check.name}: {rest} more; --json has them to the {FAILURES_KEPT}th", markup=False
            )
