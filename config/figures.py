"""The figures of any sport on a console, from a match's document alone: as the pages show them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

Lines = Sequence[Mapping[str, Any]]

_NUMBERED = re.compile(r"-\d+$")
_NUMBER = re.compile(r"(\d+)")


def print_sides(console: Console, head: Mapping[str, Any]) -> None:
    """Every side with its score as a board shows it."""
    width = max((len(side["name"]) for side in head["sides"]), default=0)
    for side in head["sides"]:
        console.print(Text.assemble(f"{side['name']:<{width}}  ", (str(side["score"] or "-"), "bold")))
    console.print()


def print_figures(console: Console, document: Mapping[str, Any]) -> None:
    """A table for every segment and role: a row for each subject, a column for each figure."""
    names = document["head"]["names"]
    for segment in sorted(document["parts"], key=_natural):
        lines = document["parts"][segment]["lines"]
        for role in sorted({_family(line["role"]) for line in lines}):
            console.print(Text(f"{_plain(segment)}, {_plain(role)}", style="dim"))
            console.print(_table([line for line in lines if _family(line["role"]) == role], names))
            console.print()


def _table(lines: Lines, names: Mapping[str, str]) -> Table:
    """Roles that differ by a number alone share a table. A `position` orders the rows and is not shown."""
    ordered = sorted(
        lines,
        key=lambda line: (
            _natural(line["role"]),
            line["values"].get("position") or 0,
            _natural(line["subject"]),
        ),
    )
    keys = [
        key for key in dict.fromkeys(key for line in ordered for key in line["values"]) if key != "position"
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    table.add_column("  ")
    for key in keys:
        table.add_column(escape(_plain(key)), justify="right")
    for line in ordered:
        shown = (escape(_words(line["values"].get(key), names)) for key in keys)
        table.add_row(f"  {escape(names.get(line['subject'], line['subject']))}", *shown)
    return table


def _words(value: Any, names: Mapping[str, str]) -> str:
    """A value for a reader: who is named by a key is called by his name."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, str):
        return names.get(value) or _plain(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{_plain(key)} {_words(inner, names)}" for key, inner in value.items())
    if isinstance(value, Sequence):
        return ", ".join(_words(inner, names) for inner in value)
    return str(value)


def _family(role: str) -> str:
    return _NUMBERED.sub("", role)


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """Sorts game-10 after game-2."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in _NUMBER.split(text) if part
    ]


def _plain(word: str) -> str:
    return word.replace("_", " ").replace("-", " ")
