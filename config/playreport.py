"""What `scorebox play` tells: for people on a console, for machines as plain data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

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
        "notes": list(outcome.notes),
    }


def print_report(console: Console, rows: Rows, *, scorecards: bool, verbose: bool) -> None:
    """Scorecards, one line for each file, whatever differs, and the sum."""
    for file, outcome in rows:
        if not isinstance(outcome, Played):
            text = str(outcome)
            shown = text if text.startswith(str(file)) else f"{file}: {text}"
            console.print(Text(shown, style="red"), soft_wrap=True)
            continue
        if scorecards:
            print_scorecard(console, outcome.document)
        else:
            console.print(_overview(file, outcome), soft_wrap=True)
        for difference in outcome.differences:
            console.print(Text(f"{file.name}: {difference}", style="red"), soft_wrap=True)
        for sentence in [*outcome.notes, *outcome.overridden, *outcome.warned] if verbose else ():
            console.print(Text(f"{file.name}: {sentence}", style="yellow"), soft_wrap=True)
    console.print(_sum(rows), highlight=False, soft_wrap=True)


def _overview(file: Path, played: Played) -> Text:
    """One line: does it agree, the file, the score, the result."""
    score = " · ".join(f"{name} {score}".strip() for name, score in side_scores(played.document).items())
    notes = [f"{played.figures} figures"]
    if played.warnings:
        notes.append(f"{played.warnings.total()} warned")
    if played.overrides:
        notes.append(f"{played.overrides.total()} overridden")
    return Text.assemble(
        (f"{len(played.differences)} differ ", "red") if played.differences else ("agrees ", "green"),
        (f"{file.name}  ", "bold"),
        f"{score} - {result_text(played.document)}  ",
        (f"({', '.join(notes)})", "dim"),
    )


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
