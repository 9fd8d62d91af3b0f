"""A golden match: its opening, its commands, and what is known of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Document = dict[str, Any]
"""{"head": {"names", and the summary's keys}, "parts": {segment: {"lines": [{subject, role, values}]}}}."""


def _nothing(document: Document) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class GoldenStep:
    """One command as it is sent, with the codes of refusals that it passes over."""

    code: str
    input: dict[str, Any]
    override: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """What is known after so many commands.

    `values` of each kind: warned {codes} of the last command's warnings; refused {code, step: {code, input,
    override}}; line {subject, role, segment, values}; summary its keys. `where` tells a reader the place.
    """

    after: int
    kind: Literal["warned", "refused", "line", "summary"]
    values: dict[str, Any]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Golden:
    """A match. `differences` says of the finished match's document what is not as expected."""

    name: str
    opening: dict[str, Any]
    steps: tuple[GoldenStep, ...]
    marks: tuple[Mark, ...] = ()
    differences: Callable[[Document], list[str]] = _nothing


def missing(expected: Any, found: Any, where: str) -> list[str]:
    """Where `found` lacks what is expected of it: objects may hold more, all else is equal."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            sentence
            for key, value in expected.items()
            for sentence in missing(value, found.get(key), f"{where}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = zip(expected, found, strict=True)
        return [each for n, (one, other) in enumerate(pairs) for each in missing(one, other, f"{where}[{n}]")]
    return [] if expected == found else [f"{where} is {found!r}, {expected!r} is expected"]
