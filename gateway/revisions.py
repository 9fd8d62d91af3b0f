"""The history of one event: who brought it, changed it, took it back and restored it. Pure (design 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.effective import (
    ENGINE_PREFIX,
    REVERT,
    CannotEdit,
    Entry,
    Name,
    Row,
    edit,
    effective,
    newest,
    shown,
)
from gateway.protocol import EventHistory, Revision
from gateway.records import LogRow
from gateway.road import log_event


@dataclass(frozen=True, slots=True)
class Change:
    """A row that touched an event, and the event after it; None where its insert was reverted."""

    row: Row
    entry: Entry | None


def newest_event(rows: Sequence[Row]) -> Name:
    """The event that an undo would take.

    Raises:
        CannotEdit: none stands.
    """
    return newest(effective(rows)).name


def changes(rows: Sequence[Row], name: Name) -> list[Change]:
    """The rows that touched an event, oldest first; the first brought it.

    Raises:
        CannotEdit: there never was such an event.
    """
    found: list[Change] = []
    entries: list[Entry] = []
    known: Entry | None = None
    for index, row in enumerate(rows):
        if not row.code.startswith(ENGINE_PREFIX):
            entry = Entry(Name(row.seq), row.code, row.input, row.override)
            entries.append(entry)
            if entry.name == name:
                known = entry
                found.append(Change(row, entry))
            continue
        # A revert changes what earlier rows came to.
        entries = effective(rows[: index + 1]) if row.code == REVERT else edit(entries, row)
        after = next((entry for entry in entries if entry.name == name), None)
        if after != known:
            found.append(Change(row, after))
            known = after
    if not found:
        raise CannotEdit(f"there is no event {shown(name)} in this match; look into its log", "event")
    return found


def history(found: Sequence[Change], name: Name, logged: Mapping[int, LogRow]) -> EventHistory:
    """An event as it stands, and how it came to that. `logged` has every row of the changes by its seq."""
    last = found[-1].entry
    # Taken away with the row that inserted it: shown as it was.
    entry = last or next(change.entry for change in reversed(found) if change.entry is not None)
    return EventHistory(
        shown(name),
        entry.code,
        entry.input,
        standing=_stands(last),
        voided=last is None or last.voided,
        skipped=last is not None and last.skipped,
        history=[_revision(change, logged[change.row.seq]) for change in found],
    )


def _revision(change: Change, row: LogRow) -> Revision:
    told = log_event(row)
    entry = change.entry
    reason: Any = change.row.input.get("reason") if change.row.code.startswith(ENGINE_PREFIX) else None
    return Revision(
        row.seq,
        row.code,
        told.received_at,
        None if entry is None or entry.voided else entry.input,
        _stands(entry),
        reason or None,
        row.source.account,
        row.source.device,
    )


def _stands(entry: Entry | None) -> bool:
    return entry is not None and not entry.voided and not entry.skipped
