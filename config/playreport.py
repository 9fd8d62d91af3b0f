"""What `scorebox play` tells: for people on a console, for machines as plain data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from config.playing import Played
from config.scorecard import print_scorecard, result_text, side_scores

Rows = Sequence[tuple[Path, Played | Exception]]


def report_row(file: Path, outcome: Played | Exception) -> dict[str, Any]:
    """One file's outcome as plain data. `status` is agrees, differs or failed."""
    if not isinstance(outcome, Played):
        return {"file": str(file), "status": "failed", "error": str(outcome)}
    return {
        "file": str(file),
        "status": "differs" if outcome.differences else "agrees",
        "match": outcome.match,
        "code": outcome.code,
        "name": outcome.name,
        "existed": outcome.existed,
        "score": side_scores(outcome.document),
        "result": outcome.document["head"].get("result"),
        "commands": outcome.commands,
        "deliveries": outcome.deliveries,
        "seconds": round(outcome.seconds, 3),
        "figures": outcome.figures,
        "differences": outcome.differences,
        "warnings": dict(outcome.warnings),
        "overrides": dict(outcome.overrides),
    }


def print_report(console: Console, rows: Rows, *, scorecards: bool, verbose: bool) -> None:
    """Scorecards, one line for each file, whatever differs, and the sum."""
    if scorecards:
        for _, outcome in rows:
            if isinstance(outcome, Played):
                print_scorecard(console, outcome.document)
    else:
        console.print(_overview(rows))
    for file, outcome in rows:
        if not isinstance(outcome, Played):
            text = str(outcome)
            shown = text if text.startswith(str(file)) else f"{file}: {text}"
            console.print(f"[red]{escape(shown)}[/red]", soft_wrap=True)
            continue
        for difference in outcome.differences:
            console.print(f"[red]{escape(f'{file.name}: {difference}')}[/red]", soft_wrap=True)
        for sentence in [*outcome.overridden, *outcome.warned] if verbose else ():
            console.print(f"[yellow]{escape(f'{file.name}: {sentence}')}[/yellow]", soft_wrap=True)
    console.print(_sum(rows), highlight=False, soft_wrap=True)


def _overview(rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("file", "score", "result"):
        table.add_column(heading)
    for heading in ("figures", "differ", "warned", "overridden"):
        table.add_column(heading, justify="right")
    for file, outcome in rows:
        if not isinstance(outcome, Played):
            table.add_row(escape(file.name), "[red]not played[/red]")
            continue
        differ = len(outcome.differences)
        table.add_row(
            escape(file.name),
            escape(" · ".join(f"{name} {score}" for name, score in side_scores(outcome.document).items())),
            escape(result_text(outcome.document)),
            str(outcome.figures),
            f"[red]{differ}[/red]" if differ else "[green]none[/green]",
            str(outcome.warnings.total()),
            str(outcome.overrides.total()),
        )
    return table


def _sum(rows: Rows) -> str:
    played = [outcome for _, outcome in rows if isinstance(outcome, Played)]
    failed = len(rows) - len(played)
    differing = sum(bool(outcome.differences) for outcome in played)
    commands = sum(outcome.commands for outcome in played)
    figures = sum(outcome.figures for outcome in played)
    agreeing = len(played) - differing
    parts = [
        f"{agreeing} of {len(rows)} agree in every figure ({figures} compared, {commands} commands sent)"
    ]
    if differing:
        parts.append(f"{differing} differ")
    if failed:
        parts.append(f"{failed} could not be played")
    known = sum(outcome.existed for outcome in played)
    if known:
        parts.append(f"{known} were on the server already: checked, not scored again (--again does)")
    warned = sum(outcome.warnings.total() for outcome in played)
    overridden = sum(outcome.overrides.total() for outcome in played)
    parts.append(f"{warned} warnings, {overridden} refusals overridden")
    return "; ".join(parts)
