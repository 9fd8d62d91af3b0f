"""What a match must come to: totals, figures and the result, as facts apart from any scoring code.

A match's document is compared with it: {"head": {"names", "result"}, "parts": {segment: {"lines":
[{"subject", "role", "values"}, …]}}}. Every difference is one plain sentence.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NOTHING: tuple[Any, ...] = (None, 0, "0", [], {})
"""What a figure that was never counted is worth."""
HOLD_KEYS = frozenset({"out_bowler", "out_fielders", "winner"})
"""Figures that name somebody: by key, or by name who has none. They are compared and shown by name."""

Values = Mapping[str, Any]
Names = Mapping[str, str]
"""Key → name."""


@dataclass(frozen=True, slots=True)
class ExpectedLine:
    """The values that a subject's line must have, among others."""

    segment: str
    role: str
    subject: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """Lines, and the result: kind, winner, margin and method; None where nothing is expected of it."""

    lines: tuple[ExpectedLine, ...] = ()
    result: dict[str, Any] | None = None

    @property
    def figures(self) -> int:
        """How many figures are compared."""
        return sum(len(line.values) for line in self.lines) + len(self.result or ())

    def differences(self, document: Values) -> list[str]:
        """Every figure in which a match's document differs, as a sentence; empty where all agree."""
        return list(self._differences(document))

    def _differences(self, document: Values) -> Iterator[str]:
        names: Names = document["head"].get("names") or {}
        scored = {
            (segment, line["role"], line["subject"]): line["values"]
            for segment, part in document["parts"].items()
            for line in part["lines"]
        }
        for line in self.lines:
            values = scored.get((line.segment, line.role, line.subject), {})
            where = f"{line.segment}, {names.get(line.subject, line.subject)} {line.role}"
            for figure, expected in line.values.items():
                yield from _figure(where, figure, expected, values.get(figure), names)
        yield from self._strangers(scored, names)
        if self.result is not None:
            result = document["head"].get("result") or {}
            for figure, expected in self.result.items():
                yield from _figure("result", figure, expected, result.get(figure), names)

    def _strangers(self, scored: Mapping[tuple[str, str, str], Values], names: Names) -> Iterator[str]:
        """Innings and players with figures of whom nothing is expected."""
        known = {(line.segment, line.role, line.subject) for line in self.lines}
        complete = {(segment, role) for segment, role, _ in known}
        figures = {(line.role, figure) for line in self.lines for figure in line.values}
        for (segment, role, subject), values in scored.items():
            if (segment, role, subject) in known:
                continue
            unknown_innings = role == "side" and (segment, role) not in complete and bool(self.lines)
            counted = any(
                value not in NOTHING for figure, value in values.items() if (role, figure) in figures
            )
            if unknown_innings or ((segment, role) in complete and counted):
                yield f"{segment}: {names.get(subject, subject)} has {role} figures, but none are expected"


def _figure(where: str, figure: str, expected: Any, scored: Any, names: Names) -> Iterator[str]:
    if figure in HOLD_KEYS:
        expected, scored = _named(expected, names), _named(scored, names)
    if expected != scored and not (expected in NOTHING and scored in NOTHING):
        yield f"{where}: {figure.replace('_', ' ')} {scored} as scored, {expected} expected"


def _named(value: Any, names: Names) -> Any:
    """Names for keys; a list of them item by item."""
    if isinstance(value, list | tuple):
        return [_named(each, names) for each in value]
    return names.get(value, value)
