"""Flags on a match: a scorer's or supervisor's word that its score is uncertain, or under review. Pure.

`match.flag` puts one up or takes it down. It takes a seq, but changes no event: nobody's view of the match
gets old by it (design 6). The flags that are up follow from the log's rows alone.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gateway.quiet import CannotMark, QuietRow, typed

FLAG = "match.flag"
FLAGGED = "flagged"
"""What such a row emits."""
CANNOT_FLAG = "cannot_flag"
SHOWN = {"uncertain": "Uncertain", "under_review": "Under review"}
"""Flag → its name for readers."""


class Flag(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The input of `match.flag`."""

    flag: Literal["uncertain", "under_review"]
    on: bool
    reason: Annotated[str, Meta(min_length=1, max_length=500)]


class Raised(msgspec.Struct, frozen=True):
    """A flag that is up: the newest reason and who gave it, and the row since which it has been up."""

    reason: str
    by: str
    since_seq: int


Flags = Mapping[str, Raised]
"""The flags that are up, by name, in the order they were put up."""


def read_flag(given: Mapping[str, Any]) -> Flag:
    """The typed input.

    Raises:
        CannotMark: a value that cannot be; names the field.
    """
    return typed(given, Flag, CANNOT_FLAG)


def put(flags: Flags, flag: Flag, *, seq: int, by: str) -> Flags:
    """The flags after a row. One that is up already keeps its seq and gets the new reason.

    Raises:
        CannotMark: it takes down a flag that is not up.
    """
    known = flags.get(flag.flag)
    if flag.on:
        return {**flags, flag.flag: Raised(flag.reason, by, seq if known is None else known.since_seq)}
    if known is None:
        raise CannotMark(CANNOT_FLAG, f"the match is not marked as {SHOWN[flag.flag].lower()}", "flag")
    return {name: raised for name, raised in flags.items() if name != flag.flag}


def flags_of(rows: Iterable[QuietRow]) -> Flags:
    """The flags that are up after these rows of a log, oldest first; others say nothing of them."""
    flags: Flags = {}
    for row in rows:
        if row.code == FLAG:
            flags = put(flags, read_flag(row.input), seq=row.seq, by=row.by)
    return flags
