"""What a correction may say, and what it means for the effective log. Pure (design 7).

`match.undo` takes the newest event that stands; `match.correct`, `match.void` and `match.insert` change one
event of the past; `match.amend` several at once; `match.revert` takes a correction back; `match.rebuild`
works everything out anew from the log. Every one carries a reason. With `preview` nothing is written; with
`force` later events that no longer fit are passed over, and stay visible as such.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gateway.effective import (
    AMEND,
    CORRECT,
    EDITS,
    ENGINE_PREFIX,
    INSERT,
    REVERT,
    UNDO,
    VOID,
    CannotEdit,
    Entry,
    Name,
    Row,
    edit,
    effective,
    first_difference,
    newest,
    shown,
    standing,
)
from gateway.misfit import misfit
from gateway.protocol import Code, Seq
from gateway.records import HistoryRow

REBUILD = "match.rebuild"
EDITS_LIMIT = 64
"""Changes in one amendment."""

Reason = Annotated[str, Meta(min_length=1, max_length=500)]
Place = Annotated[int, Meta(ge=0, le=EDITS_LIMIT)]
Overrides = Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=16)]


class _Correction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every correction has."""

    preview: bool = False
    force: bool = False


class Undo(_Correction, frozen=True, kw_only=True):
    """Take back the newest event. With `event` only if that is the newest: an undo names what it undoes."""

    event: Seq | None = None
    reason: Annotated[str, Meta(max_length=500)] = ""


class Correct(_Correction, frozen=True, kw_only=True):
    """An event gets a new input (and code, where it was another one)."""

    event: Seq
    event_place: Place = 0
    input: dict[str, Any]
    code: Code | None = None
    override: Overrides = []
    reason: Reason


class Void(_Correction, frozen=True, kw_only=True):
    """An event never was."""

    event: Seq
    event_place: Place = 0
    reason: Reason


class Insert(_Correction, frozen=True, kw_only=True):
    """A missed event, directly after another one; after 1 it is the first."""

    after: Seq
    after_place: Place = 0
    code: Code
    input: dict[str, Any]
    override: Overrides = []
    reason: Reason


class CorrectEdit(msgspec.Struct, frozen=True, kw_only=True, tag_field="edit", tag="correct"):
    """One change of an amendment: as `Correct`."""

    event: Seq
    event_place: Place = 0
    input: dict[str, Any]
    code: Code | None = None
    override: Overrides = []


class VoidEdit(msgspec.Struct, frozen=True, kw_only=True, tag_field="edit", tag="void"):
    """One change of an amendment: as `Void`."""

    event: Seq
    event_place: Place = 0


class InsertEdit(msgspec.Struct, frozen=True, kw_only=True, tag_field="edit", tag="insert"):
    """One change of an amendment: as `Insert`."""

    after: Seq
    after_place: Place = 0
    code: Code
    input: dict[str, Any]
    override: Overrides = []


class Amend(_Correction, frozen=True, kw_only=True):
    """Several changes at once: all or none."""

    edits: Annotated[list[CorrectEdit | VoidEdit | InsertEdit], Meta(min_length=1, max_length=EDITS_LIMIT)]
    reason: Reason


class Revert(_Correction, frozen=True, kw_only=True):
    """Take a correction back, by the seq of its row."""

    seq: Seq
    reason: Reason


class Rebuild(_Correction, frozen=True, kw_only=True):
    """Work state, lines and document out anew from the log."""

    reason: Reason


INPUTS: dict[str, type[_Correction]] = {
    UNDO: Undo,
    CORRECT: Correct,
    VOID: Void,
    INSERT: Insert,
    AMEND: Amend,
    REVERT: Revert,
    REBUILD: Rebuild,
}
"""Every correction by its code."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a correction comes to: the events that are to stand, and how many of them are as they were."""

    before: tuple[Entry, ...]
    after: tuple[Entry, ...]
    changed_from: int
    resolved: dict[str, Any]


def read(code: str, given: dict[str, Any]) -> _Correction:
    """The typed input of a correction.

    Raises:
        CannotEdit: no such correction, or a value that cannot be; names the field.
    """
    kind = INPUTS.get(code)
    if kind is None:
        raise CannotEdit(f"there is no {code}; the corrections are {', '.join(INPUTS)}", "code")
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        field, sentence = misfit(str(error))
        raise CannotEdit(sentence, field or "input") from error


def plan(rows: Sequence[Row], code: str, given: dict[str, Any], seq: int) -> Plan:
    """What a correction that gets `seq` means for the log as it stands.

    Raises:
        CannotEdit: it edits what is not there, or changes nothing.
    """
    entries = effective(rows)
    before = tuple(standing(entries))
    if code == REBUILD:
        return Plan(before, before, 0, {})
    resolved: dict[str, Any] = {}
    if code == UNDO:
        name = newest(entries).name
        if given.get("event") not in (None, name.seq):
            raise CannotEdit(f"the newest event is {shown(name)}; an undo takes only that one", "event")
        resolved |= {"event": [name.seq, name.place], "skipped": []}
    if code == REVERT:
        target = next((row for row in rows if row.seq == given["seq"]), None)
        if target is None or (target.code not in EDITS and target.code != REVERT):
            raise CannotEdit(f"row {given['seq']} is no correction: there is nothing to take back", "seq")
    row = Row(seq, code, given, resolved=resolved)
    try:
        # Only a revert changes what earlier rows come to.
        entries = effective([*rows, row]) if code == REVERT else edit(entries, row)
    except CannotEdit as error:
        if code == REVERT:
            raise CannotEdit(f"a later correction builds on row {given['seq']}: {error}", "seq") from error
        raise
    after = tuple(standing(entries))
    changed = first_difference(before, after)
    if changed is None:
        raise CannotEdit("this correction changes nothing", "")
    return Plan(before, after, changed, resolved)


Emitted = dict[Name, tuple[str, ...]]
"""Event → what it emitted."""


def told(rows: Sequence[HistoryRow]) -> Emitted:
    """What every event has emitted, as far as feeds were told: by its own row, then by corrections."""
    emitted: Emitted = {}
    for row in rows:
        if not row.code.startswith(ENGINE_PREFIX):
            emitted[Name(row.seq)] = row.emits
        for seq, place, words in (row.resolved or {}).get("emits", ()):
            emitted[Name(seq, place)] = tuple(words)
    return emitted


def told_anew(before: Emitted, after: Emitted) -> tuple[str, ...]:
    """What feeds hear: `retract:EVENT:WORD` of what no longer holds, `issue:EVENT:WORD` of what now does."""
    words = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, ()), after.get(name, ())
        words += [f"retract:{shown(name)}:{word}" for word in old if word not in new]
        words += [f"issue:{shown(name)}:{word}" for word in new if word not in old]
    return tuple(words)
