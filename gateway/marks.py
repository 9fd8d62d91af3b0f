"""What stands on a match beside its score: the flags that are up, and the ruling. Pure."""

from collections.abc import Iterable

import msgspec

from gateway.flags import FLAG, FLAGGED, Flags, flags_of, put, read_flag
from gateway.quiet import QuietRow
from gateway.ruling import IS_OFFICIAL, IS_REOPENED, RULINGS, Ruling, rule, ruling_of

QUIET = RULINGS | {FLAG}
"""Codes whose rows change neither state nor past."""


class Marks(msgspec.Struct, frozen=True):
    """The marks of a match at one seq."""

    flags: Flags
    ruling: Ruling | None = None


UNMARKED = Marks({})


def mark(marks: Marks, row: QuietRow, *, over: bool) -> tuple[Marks, str]:
    """The marks after a row, and the word that it emits; `over` says whether the match is.

    Raises:
        CannotMark: it cannot be.
    """
    if row.code == FLAG:
        flags = put(marks.flags, read_flag(row.input), seq=row.seq, by=row.by)
        return Marks(flags, marks.ruling), FLAGGED
    ruling = rule(marks.ruling, row, over=over)
    return Marks(marks.flags, ruling), IS_OFFICIAL if ruling.official else IS_REOPENED


def marks_of(rows: Iterable[QuietRow]) -> Marks:
    """The marks after these rows of a log, oldest first."""
    given = list(rows)
    return Marks(flags_of(given), ruling_of(given))
