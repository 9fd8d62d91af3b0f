"""Segments: the lines of a match in groups, each with its part of the document. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from gateway.document import LineKey, compose_part, encode_line


class Segment(NamedTuple):
    """The lines of one segment, and its part of the document. Never changed in place."""

    values: dict[LineKey, bytes]
    """(role, subject) → values as JSON."""
    lines: dict[LineKey, bytes]
    """(role, subject) → the whole line as the part shows it, in the order it shows them."""
    part: bytes


Line = tuple[str, str, str, bytes]
"""Subject, role, segment, values as JSON: as a worker hands it back."""
LineValues = dict[tuple[str, str, str], bytes]
"""(segment, role, subject) → values as JSON."""


def write_lines(segments: dict[str, Segment], changed: Iterable[Line]) -> dict[str, Segment]:
    """New segments with the changed lines in place; those that did not change are shared."""
    grouped: dict[str, list[Line]] = {}
    for line in changed:
        grouped.setdefault(line[2], []).append(line)
    after = dict(segments)
    for segment, lines in grouped.items():
        after[segment] = _write(segment, after.get(segment), lines)
    return after


def segments_of(lines: LineValues) -> dict[str, Segment]:
    """The segments that all lines of a match make."""
    return write_lines({}, ((subject, role, name, values) for (name, role, subject), values in lines.items()))


def _write(name: str, before: Segment | None, changed: list[Line]) -> Segment:
    values = dict(before.values) if before else {}
    lines = dict(before.lines) if before else {}
    known = len(lines)
    for subject, role, _, text in changed:
        values[role, subject] = text
        lines[role, subject] = encode_line(subject, role, text)
    if len(lines) != known:
        lines = dict(sorted(lines.items()))
    return Segment(values, lines, compose_part(name, lines.values()))


def without(name: str, segment: Segment, key: LineKey) -> Segment:
    """A segment with one line less."""
    values, lines = dict(segment.values), dict(segment.lines)
    del values[key], lines[key]
    return Segment(values, lines, compose_part(name, lines.values()))
