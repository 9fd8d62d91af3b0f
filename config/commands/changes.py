"""What a correction changed, on a console: the score before and after, parts, events that no longer fit."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from config.scorecard import result_text, side_scores
from gateway.protocol import Unfit

Document = Mapping[str, Any]


def print_changes(console: Console, before: Document, after: Document) -> None:
    """Each side's score and the result, before and after, and the parts of the document that differ."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "before", "after"):
        table.add_column(name)
    old, new = side_scores(before), side_scores(after)
    rows = [(side, old.get(side, ""), score) for side, score in new.items()]
    rows.append(("", result_text(before), result_text(after)))
    for side, was, now in rows:
        table.add_row(side, was or "-", Text(now or "-", style="bold" if now != was else ""))
    console.print(table)
    touched = parts_touched(before, after)
    console.print(f"changed: {', '.join(touched)}" if touched else "no figure changed")


def parts_touched(before: Document, after: Document) -> list[str]:
    """The parts of the document that differ."""
    old, new = before["parts"], after["parts"]
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def print_unfit(console: Console, unfit: Sequence[Unfit]) -> None:
    """The later events that no longer fit, if any."""
    if not unfit:
        return
    console.print(
        f"{len(unfit)} later events no longer fit:" if len(unfit) > 1 else "one later event no longer fits:"
    )
    for event in unfit:
        console.print(
            Text.assemble((f"{event.event:>8}  ", "dim"), (f"{event.code}  ", "bold"), event.sentence)
        )
