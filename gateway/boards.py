"""A part of the document as tables for people: one per family of roles. Pure; live.js does the same."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_NUMBERED = re.compile(r"^(.*)-(\d+)$")
_PLACES = re.compile(r"(\d+)")
_FIGURE = re.compile(r"-?\d+(\.\d+)?")
"""Numbers that are texts, such as overs."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as a reader sees it; words stand left, numbers right."""

    text: str
    words: bool


@dataclass(frozen=True, slots=True)
class Table:
    """The lines of one family of roles. `keys` are the columns, `words` those that hold words."""

    title: str
    keys: tuple[str, ...]
    words: frozenset[str]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


def tables(part: Mapping[str, Any], names: Mapping[str, str]) -> list[Table]:
    """The tables of one part. Numbered roles (partnership-1, partnership-2) share one."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for line in part["lines"]:
        families.setdefault(family(line["role"]), []).append(line)
    return [_table(name, families[name], names) for name in sorted(families)]


def family(role: str) -> str:
    """The role without its number."""
    found = _NUMBERED.match(role)
    return found.group(1) if found else role


def plain(text: str) -> str:
    """A code as words: innings-1 → Innings 1."""
    words = re.sub(r"[_-]", " ", text).lower()
    return words[:1].upper() + words[1:]


def _table(name: str, lines: list[Mapping[str, Any]], names: Mapping[str, str]) -> Table:
    ordered = sorted(lines, key=_order)
    found = dict.fromkeys(key for line in ordered for key in line["values"] if key != "position")
    # What every line has stands first: on a narrow screen the rest is scrolled to.
    keys = tuple(sorted(found, key=lambda key: any(key not in line["values"] for line in ordered)))
    rows = tuple(
        (
            names.get(line["subject"], line["subject"]),
            tuple(_cell(line["values"].get(key), names) for key in keys),
        )
        for line in ordered
    )
    words = frozenset(
        key
        for place, key in enumerate(keys)
        if any(cells[place].words and cells[place].text for _, cells in rows)
    )
    return Table(plain(name), keys, words, rows)


def _order(line: Mapping[str, Any]) -> tuple[list[tuple[int, str]], int, list[tuple[int, str]]]:
    """By the role's number, then by position where the sport gives one, then by the subject's key."""
    position = line["values"].get("position")
    return _natural(line["role"]), position if isinstance(position, int) else 0, _natural(line["subject"])


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in _PLACES.split(text) if piece]


def _cell(value: Any, names: Mapping[str, str]) -> Cell:
    if isinstance(value, bool):
        return Cell("yes" if value else "", True)
    if isinstance(value, int):
        return Cell(str(value), False)
    text = _words(value, names)
    return Cell(text, not _FIGURE.fullmatch(text))


def _words(value: Any, names: Mapping[str, str]) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return names.get(value, value.replace("_", " "))
    if isinstance(value, Mapping):
        return ", ".join(f"{plain(key)} {_words(inner, names)}" for key, inner in value.items())
    if isinstance(value, Iterable):
        return ", ".join(_words(inner, names) for inner in value)
    return str(value)
