"""The effective log: what was played, once every correction is taken in. A pure function of the log.

The log is never changed; its rows edit a list, in the order of their seq (design 7). An event is put at the
end; `match.insert` puts one directly after its anchor as the list then stood; a corrected event keeps its
place; a voided one leaves a tombstone. `match.undo` voids the newest event that stood then, so two undos take
two. `match.amend` does several of these at once. `match.revert` takes a row of corrections back as if it had
never been: the redo.

What a row meant when it was written ("the newest event", what no longer fitted) is kept with it as
`resolved`, so that a later revert of another row does not change its meaning.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

OPEN = "match.open"
UNDO = "match.undo"
CORRECT = "match.correct"
VOID = "match.void"
INSERT = "match.insert"
AMEND = "match.amend"
REVERT = "match.revert"
MOVE = "match.move"
EDITS = frozenset({UNDO, CORRECT, VOID, INSERT, AMEND})
"""Rows that change the past and that a revert can take back."""
CORRECTIONS = EDITS | {REVERT}
OPENING_SEQ = 1
"""The seq of `match.open`: what is inserted after it comes first."""
ENGINE_PREFIX = "match."
"""Codes of the engine's own; all others are events of the sport."""


class Row(msgspec.Struct, frozen=True):
    """What the effective log needs of a row of the log."""

    seq: int
    code: str
    input: dict[str, Any]
    override: tuple[str, ...] = ()
    resolved: dict[str, Any] | None = None
    """{"event": [seq, place]} of an undo; {"skipped": [[seq, place], …]} of what passed events over."""


class Name(msgspec.Struct, frozen=True, order=True):
    """An event's name for ever: the seq of the row that brought it, and its place in that row's inserts."""

    seq: int
    place: int = 0


class Entry(msgspec.Struct, frozen=True):
    """One event as it stands. `revised` are the seqs of the rows that changed it, oldest first."""

    name: Name
    code: str
    input: dict[str, Any]
    override: tuple[str, ...]
    voided: bool = False
    skipped: bool = False
    """It no longer fits what came before it, and was passed over by force."""
    revised: tuple[int, ...] = ()


class CannotEdit(Exception):
    """A correction that cannot be: `sentence` says why, `field` which part of its input."""

    def __init__(self, sentence: str, field: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.field = field


def effective(rows: Iterable[Row]) -> list[Entry]:
    """The events in the order they were played, tombstones included.

    Raises:
        CannotEdit: a row edits what is not there. The road never writes such a row.
    """
    given = list(rows)
    gone = reverted(given)
    entries: list[Entry] = []
    for row in given:
        if row.seq in gone:
            continue
        if row.code.startswith(ENGINE_PREFIX):
            entries = edit(entries, row)
        else:
            # As `edit` does, without a new list for every event.
            entries.append(_event(row))
    return entries


def standing(entries: Iterable[Entry]) -> list[Entry]:
    """The events that count: neither voided nor skipped."""
    return [entry for entry in entries if not entry.voided and not entry.skipped]


def reverted(rows: Sequence[Row]) -> frozenset[int]:
    """The seqs of the rows that a revert has taken back and no later revert of that revert has restored."""
    gone: set[int] = set()
    for row in reversed(rows):
        if row.code == REVERT and row.seq not in gone:
            gone.add(row.input["seq"])
    return frozenset(gone)


def edit(entries: list[Entry], row: Row) -> list[Entry]:
    """The list after one row.

    Raises:
        CannotEdit: the row edits what is not there.
    """
    if not row.code.startswith(ENGINE_PREFIX):
        return [*entries, _event(row)]
    resolved = row.resolved or {}
    if row.code == UNDO:
        entries = _void(entries, Name(*resolved["event"]), row.seq)
    elif row.code in (CORRECT, VOID, INSERT):
        entries, _ = _one_edit(entries, row.code, row.input, row, place=0, field="")
    elif row.code == AMEND:
        place = 0
        for index, step in enumerate(row.input["edits"]):
            code = f"{ENGINE_PREFIX}{step['edit']}"
            entries, place = _one_edit(entries, code, step, row, place=place, field=f"edits[{index}].")
    if "skipped" in resolved or row.code in EDITS - {UNDO}:
        # An edit tries again what was passed over; an undo from memory goes back to what was.
        kept = row.code not in EDITS
        passed_over = {Name(*name) for name in resolved.get("skipped", ())}
        entries = [
            replace(entry, skipped=entry.name in passed_over or (kept and entry.skipped)) for entry in entries
        ]
    return entries


def _event(row: Row) -> Entry:
    return Entry(Name(row.seq), row.code, row.input, row.override)


def newest(entries: Sequence[Entry]) -> Entry:
    """The newest event that stands: what an undo takes.

    Raises:
        CannotEdit: there is none.
    """
    for entry in reversed(entries):
        if not entry.voided and not entry.skipped:
            return entry
    raise CannotEdit("there is nothing to undo: no event of this match stands", "")


def find(entries: Sequence[Entry], name: Name, field: str) -> int:
    """Where an event is in the list.

    Raises:
        CannotEdit: there is no such event.
    """
    for index, entry in enumerate(entries):
        if entry.name == name:
            return index
    raise CannotEdit(f"there is no event {shown(name)} in this match; look into its log", field)


def shown(name: Name) -> str:
    """An event's name as people write it: "140", or "140/1" for a further one of an amendment."""
    return str(name.seq) if name.place == 0 else f"{name.seq}/{name.place}"


def _one_edit(
    entries: list[Entry], code: str, given: dict[str, Any], row: Row, *, place: int, field: str
) -> tuple[list[Entry], int]:
    """One correction, void or insert. Returns the list, and the place of the next insert of the row."""
    if code == VOID:
        return _void(entries, _name(given), row.seq, f"{field}event"), place
    if code == CORRECT:
        index = find(entries, _name(given), f"{field}event")
        before = entries[index]
        if before.voided:
            raise CannotEdit(f"event {shown(before.name)} was taken back; revert that first", f"{field}event")
        after = replace(
            before,
            code=given.get("code") or before.code,
            input=given["input"],
            override=tuple(given.get("override", ())),
            revised=(*before.revised, row.seq),
        )
        return [*entries[:index], after, *entries[index + 1 :]], place
    first = given["after"] == OPENING_SEQ
    index = 0 if first else find(entries, _name(given, "after"), f"{field}after") + 1
    entry = Entry(Name(row.seq, place), given["code"], given["input"], tuple(given.get("override", ())))
    return [*entries[:index], entry, *entries[index:]], place + 1


def _void(entries: list[Entry], name: Name, by: int, field: str = "event") -> list[Entry]:
    index = find(entries, name, field)
    before = entries[index]
    if before.voided:
        raise CannotEdit(f"event {shown(name)} was taken back already", field)
    gone = replace(before, voided=True, revised=(*before.revised, by))
    return [*entries[:index], gone, *entries[index + 1 :]]


def _name(given: dict[str, Any], key: str = "event") -> Name:
    return Name(given[key], given.get(f"{key}_place", 0))


def first_difference(before: Sequence[Entry], after: Sequence[Entry]) -> int | None:
    """The index among the standing events where two effective logs first part; None where they are alike."""
    for index, (left, right) in enumerate(zip(before, after, strict=False)):
        if left is not right and (left.name, left.code, left.input, left.override) != (
            right.name,
            right.code,
            right.input,
            right.override,
        ):
            return index
    return None if len(before) == len(after) else min(len(before), len(after))
