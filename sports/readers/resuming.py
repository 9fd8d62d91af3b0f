"""Where to go on in a match that was scored in part: the log laid beside the steps. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sports.readers.steps import Heard, Step


@dataclass(frozen=True, slots=True)
class Row:
    """An event of the log."""

    seq: int
    code: str
    input: dict[str, Any]
    emits: Sequence[str]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The log is the beginning of the steps: `done` of them are behind it, sent or left out."""

    done: int
    heard: Heard


@dataclass(frozen=True, slots=True)
class Parting:
    """The log is not the beginning of the steps: the seq where they part."""

    seq: int


def align(steps: Sequence[Step], rows: Iterable[Row]) -> Agreement | Parting:
    """How far a log has come along the steps."""
    heard = Heard()
    done = 0
    for row in rows:
        while done < len(steps) and not heard.due(steps[done]):
            done += 1
        if done == len(steps) or (steps[done].code, steps[done].input) != (row.code, row.input):
            return Parting(row.seq)
        heard.answered(steps[done], row.emits)
        done += 1
    return Agreement(done, heard)
