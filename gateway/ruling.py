"""The ruling on a match: somebody's word that its score is official, or that it is open again. Pure.

`match.official` and `match.reopen` take a seq and change no event. Between the two nothing is played and
nothing corrected. What they come to follows from the log's rows alone; what readers see, the standing, from
that and from whether the match is over.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gateway.quiet import CannotMark, QuietRow, typed

OFFICIAL = "match.official"
REOPEN = "match.reopen"
RULINGS = frozenset({OFFICIAL, REOPEN})
IS_OFFICIAL = "official"
"""What a row that makes the score official emits, and what is refused with while it is."""
IS_REOPENED = "reopened"
NOT_OVER = "not_over"
NOT_OFFICIAL = "not_official"
INVALID_INPUT = "invalid_input"

Standing = Literal["provisional", "official", "reopened"]


class MakeOfficial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of `match.official`."""

    reason: Annotated[str, Meta(max_length=500)] = ""


class Reopen(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of `match.reopen`."""

    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class Ruling(msgspec.Struct, frozen=True):
    """The newest word: who gave it in which row and why, and how often the score was made official so far."""

    official: bool
    revision: int
    reason: str
    by: str
    since_seq: int


def rule(ruling: Ruling | None, row: QuietRow, *, over: bool) -> Ruling:
    """The ruling after a row; `over` says whether the match is.

    Raises:
        CannotMark: `not_over` or `official` where it cannot be made official, `not_official` where there is
            nothing to reopen, `invalid_input` with the field.
    """
    if row.code == OFFICIAL:
        reason = typed(row.input, MakeOfficial, INVALID_INPUT).reason
        if is_official(ruling):
            raise CannotMark(IS_OFFICIAL, "the score is official already")
        if not over:
            raise CannotMark(NOT_OVER, "the match is not over: its score cannot be official yet")
        return Ruling(True, revision_of(ruling) + 1, reason, row.by, row.seq)
    reason = typed(row.input, Reopen, INVALID_INPUT).reason
    if not is_official(ruling):
        raise CannotMark(NOT_OFFICIAL, "the score is not official: there is nothing to reopen")
    return Ruling(False, revision_of(ruling), reason, row.by, row.seq)


def ruling_of(rows: Iterable[QuietRow]) -> Ruling | None:
    """The ruling after these rows of a log, oldest first; others say nothing of it."""
    ruling: Ruling | None = None
    for row in rows:
        if row.code in RULINGS:
            # That it was over then was seen when the row was taken.
            ruling = rule(ruling, row, over=True)
    return ruling


def is_official(ruling: Ruling | None) -> bool:
    """Whether the score is official: nothing is played and nothing corrected."""
    return ruling is not None and ruling.official


def revision_of(ruling: Ruling | None) -> int:
    """How often the score was made official."""
    return 0 if ruling is None else ruling.revision


def standing_of(ruling: Ruling | None, *, over: bool) -> Standing | None:
    """How the score stands. None before the end; reopened until it is official again, also when over."""
    if ruling is not None:
        return "official" if ruling.official else "reopened"
    return "provisional" if over else None


def shown(ruling: Ruling | None, *, over: bool) -> Mapping[str, Any]:
    """What the head of a document says of it."""
    said = None
    if ruling is not None:
        said = {"reason": ruling.reason, "by": ruling.by, "since_seq": ruling.since_seq}
    return {"standing": standing_of(ruling, over=over), "revision": revision_of(ruling), "ruling": said}
