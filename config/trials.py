"""Golden matches in a wheel, read for the trial before it is installed."""

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any

from runtime.errors import TrialFailed
from runtime.trial import Document, Golden, GoldenMark, GoldenStep
from sports.kit import KitFault, Mark, parse_match
from sports.kit.golden import missing
from sports.readers.errors import ReaderError
from sports.readers.golden import parse_golden

NOTES = frozenset({".md", ".txt", ""})
"""Endings of files that tell about golden matches and are none."""


def _scorebook(name: str, content: bytes) -> Golden:
    match = parse_golden(content, name, id=PurePath(name).stem)
    steps = [GoldenStep(step.code, step.input, step.override) for step in match.steps]
    return Golden(match.name or match.id, match.opening, steps, match.expected.differences)


def _golden(name: str, content: bytes) -> Golden:
    match = parse_match(name, content)
    steps = [GoldenStep(step.code, step.input, step.override) for step in match.steps]
    return Golden(match.name, match.opening, steps, match.differences, [_mark(mark) for mark in match.marks])


def _mark(mark: Mark) -> GoldenMark:
    if mark.kind == "refused":
        step = mark.values["step"]
        tried = GoldenStep(step["code"], step["input"], step["override"])
        return GoldenMark(mark.after, mark.where, refused=(tried, mark.values["code"]))
    return GoldenMark(mark.after, mark.where, partial(_missed, mark))


def _missed(mark: Mark, document: Document, warned: list[str]) -> list[str]:
    said = mark.values
    if mark.kind == "warned":
        return missing(sorted(said["codes"]), sorted(warned), "warnings")
    if mark.kind == "summary":
        return missing(said, document["head"], "summary")
    part = document["parts"].get(said["segment"], {"lines": []})
    place = said["subject"], said["role"]
    values: Any = next(
        (line["values"] for line in part["lines"] if (line["subject"], line["role"]) == place), {}
    )
    return missing(said["values"], values, " ".join((*place, said["segment"])))


READERS: dict[str, Callable[[str, bytes], Golden]] = {".golden": _golden, ".scorebook": _scorebook}
"""Ending → reader. A reader raises ReaderError or KitFault."""


def read_golden(name: str, content: bytes) -> Golden | None:
    """A golden match from a file of a wheel; None where the file only tells about them.

    Raises:
        TrialFailed: nobody can read it.
    """
    ending = PurePath(name).suffix.lower()
    if ending in NOTES:
        return None
    reader = READERS.get(ending)
    if reader is None:
        known = ", ".join(sorted(READERS))
        raise TrialFailed(f"the golden match {name} is in no form that is known here ({known})")
    try:
        return reader(name, content)
    except (ReaderError, KitFault) as error:
        raise TrialFailed(f"the golden match {name} cannot be read: {error}") from error
