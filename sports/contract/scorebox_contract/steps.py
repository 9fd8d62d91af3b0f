"""What comes out of a sport: steps, lines, refusals, and the summary every sport shares."""

from dataclasses import dataclass, field
from typing import Any

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an event cannot be: a code for programs, a sentence for the scorer, the field it is about.

    Scorers score what the umpire says: only the impossible is not `overridable`.
    """

    code: str
    sentence: str
    field: str | None = None
    overridable: bool = False


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning for the answer. Play goes on; it never enters the state."""

    code: str
    sentence: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """The whole values of one changed line: a subject's numbers in one role and segment.

    `subject` is a match-local key of a side or player; `segment` a part of the match ("innings-1").
    """

    subject: str
    role: str
    segment: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    """A player who joined a side after the opening: the engine binds the key to a participant."""

    side: str
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """What one event does. `state` is the whole new state; the old one is left as it was."""

    state: State
    lines: tuple[Line, ...] = ()
    emits: tuple[str, ...] = ()
    warnings: tuple[Caution, ...] = ()
    joined: tuple[Joined, ...] = ()


@dataclass(frozen=True, slots=True)
class SideScore:
    """One side in the summary. `score` is what a board shows ("241 & 45/1"); rank 1 won, equal ranks drew."""

    side: str
    score: str
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How a match ended.

    `kind` is one of won, tie, draw, no_result, abandoned; `winner` a side's key; `margin` the numbers
    ({"runs": 8}, {"wickets": 3}, {"innings": 1, "runs": 46}); `method` how where not by play
    ("D/L"); `text` the line a reader sees.
    """

    kind: str
    text: str
    winner: str | None = None
    margin: dict[str, int] = field(default_factory=dict)
    method: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """The same keys for every sport: what other parts compare, and what a board shows now.

    `phase` is one of "before", "play", "interval", "over". `segment` names the part of the match in
    play. `show` is sport-specific plain data for screens (who is in, who bowls, what is needed).
    """

    phase: str
    sides: tuple[SideScore, ...]
    result: Result | None = None
    segment: str | None = None
    show: dict[str, Any] = field(default_factory=dict)
