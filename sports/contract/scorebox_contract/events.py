"""What goes into a sport: the opening, and events with typed input."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

TEXT = r"^[^\x00-\x1f]+$(?!\n)"
"""One line without control characters. Python's `$` alone would let a line feed stand at the end."""
Key = Annotated[str, Meta(min_length=1, max_length=64, pattern=TEXT)]
Name = Annotated[str, Meta(min_length=1, max_length=256, pattern=TEXT)]


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of every command's typed input. An unknown field is refused, not ignored."""


class PlayerName(Input, frozen=True, kw_only=True):
    """A player under a match-local key. Keys never change, names are for people to read."""

    key: Key
    name: Name


class SideSheet(Input, frozen=True, kw_only=True):
    """One side and its players as named on the team sheet."""

    key: Key
    name: Name
    players: list[PlayerName] = []


class Opening(Input, frozen=True, kw_only=True):
    """What every sport's opening has; a sport adds its own `format`.

    It is the payload of the first log row and never changes. `first_day` (YYYY-MM-DD) is the match's
    first day at its venue.
    """

    sides: list[SideSheet]
    first_day: Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$(?!\n)")]


@dataclass(frozen=True, slots=True)
class Event:
    """One event as a sport sees it: never its seq, source or time, so a corrected event steps alike.

    `override` holds the codes of refusals that the scorer, on the umpire's word, passes over.
    """

    code: str
    input: Any
    override: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Command:
    """A command a sport takes: its code, its input type, and the label a scorer reads.

    `pad` is how a tablet shows it (groups of buttons, choices taken from the state): plain data that
    goes into the manifest.
    """

    code: str
    input: type[Input]
    label: str
    pad: dict[str, Any]
