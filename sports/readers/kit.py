"""Cricket's scorebooks as golden matches of the sport kit."""

from collections.abc import Callable
from pathlib import Path

from sports.kit.golden import Golden, GoldenStep
from sports.readers.golden import read_golden


def scorebook(path: Path) -> Golden:
    """A scorebook as the kit plays it.

    Raises:
        ReaderError: it cannot be read.
    """
    match = read_golden(path)
    steps = tuple(GoldenStep(step.code, step.input, step.override) for step in match.steps)
    return Golden(match.name or match.id, match.opening, steps, differences=match.expected.differences)


READERS: dict[str, Callable[[Path], Golden]] = {".scorebook": scorebook}
"""Ending → reader."""
