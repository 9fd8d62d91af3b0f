"""The road's decisions: pure functions from plain data to an answer (design 6).

authorise → parse → mailbox → known id? → `saw` → check and step in a worker → one commit call → answer.
Nothing here waits, reads a clock or touches the network.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from gateway.card import Card
from gateway.corrections import REBUILD
from gateway.effective import ENGINE_PREFIX, MOVE
from gateway.marks import QUIET
from gateway.protocol import (
    Accepted,
    CommandFrame,
    Conflict,
    LogEvent,
    Preview,
    Refused,
    TryAgain,
    Unfit,
    Warned,
)
from gateway.records import LogRow
from gateway.ruling import IS_OFFICIAL, Ruling, is_official
from scorebox_contract import canonical

MISSED_LIMIT_EVENTS = 50
"""A client further behind than this takes the document again."""

BUSY_AFTER_MS = 100
WORKER_AFTER_MS = 50
DATABASE_AFTER_MS = 500
CODE_AFTER_MS = 2_000
DRAIN_AFTER_MS = 1_000

_warnings = msgspec.json.Decoder(list[Warned])


def same_command(frame: CommandFrame, row: LogRow) -> bool:
    """True when a known id came again with the same code and canonical input."""
    return frame.code == row.code and canonical(frame.input) == canonical(msgspec.json.decode(row.input))


def recall(frame: CommandFrame, match: str, row: LogRow) -> Accepted | Refused:
    """The answer to a command whose id is in the log: the first answer again, or `id_reused`."""
    if same_command(frame, row):
        return accepted(frame.id, match, row, duplicate=True)
    return Refused(
        frame.id,
        match,
        "id_reused",
        f"this id was used for {row.code} at seq {row.seq} with other content; a new command needs a new id",
        field="id",
    )


def accepted(id: str, match: str, row: LogRow, *, duplicate: bool = False) -> Accepted:
    """The answer that a row of the log stands for."""
    return Accepted(
        id,
        match,
        row.seq,
        row.epoch,
        row.state_hash.hex(),
        list(row.emits),
        _warnings.decode(row.warnings),
        duplicate,
    )


def is_stale(saw: int, *, events_seq: int, last_seq: int) -> bool:
    """True when a row that changed the events state came after `saw`, or `saw` was never given out."""
    return saw < events_seq or saw > last_seq


def conflict(
    frame: CommandFrame, match: str, *, tail: Sequence[LogRow], last_seq: int, epoch: int
) -> Conflict:
    """The answer to an old `saw`: the events missed, when the tail reaches back to it in this epoch."""
    missed = [row for row in tail if row.seq > frame.saw]
    # A correction among them changed what was seen: the events alone do not tell that. A mark does not.
    reaches = bool(missed) and missed[0].seq == frame.saw + 1 and missed[0].epoch == epoch
    reaches = reaches and not any(
        row.code.startswith(ENGINE_PREFIX) and row.code not in QUIET for row in missed
    )
    if reaches and len(missed) <= MISSED_LIMIT_EVENTS:
        return Conflict(frame.id, match, last_seq, epoch, [log_event(row) for row in missed])
    return Conflict(frame.id, match, last_seq, epoch, resync=True)


def closed(frame: CommandFrame, match: str, ruling: Ruling | None) -> Refused | None:
    """The refusal of what would change an official score: play, and every correction.

    A rebuild or a move that is not forced gives the same score from the same events.
    """
    same = frame.code in (REBUILD, MOVE) and not frame.input.get("force")
    if not is_official(ruling) or frame.code in QUIET or same:
        return None
    return Refused(
        frame.id,
        match,
        IS_OFFICIAL,
        "the score is official and no longer changes; send match.reopen with a reason first",
    )


def refused(frame: CommandFrame, match: str, refusal: dict[str, Any]) -> Refused:
    """The answer to a refusal of the sport's: {code, sentence, field, overridable}."""
    return Refused(
        frame.id,
        match,
        refusal["code"],
        refusal["sentence"],
        field=refusal["field"],
        overridable=refusal["overridable"],
    )


def spread(answer: TryAgain, chance: float) -> TryAgain:
    """The answer with its wait made up to twice as long, by a chance of 0 to 1: those who hear it part."""
    return msgspec.structs.replace(answer, after_ms=round(answer.after_ms * (1 + chance)))


def rule_stuck(frame: CommandFrame, match: str) -> Refused:
    """The command is parked: its step got workers killed again and again."""
    return Refused(
        frame.id,
        match,
        "rule_stuck",
        "the sport's rules do not come to an end on this command; it is set aside and an alert was raised; "
        "score on with other commands",
    )


def preview(frame: CommandFrame, match: str, before: Card, after: Card, unfit: list[Unfit]) -> Preview:
    """What a correction would make of the match: the head, and the parts that would change."""
    names = before.segments.keys() | after.segments.keys()
    old, new = before.all_parts(), after.all_parts()
    return Preview(
        frame.id,
        match,
        before.last_seq,
        before.epoch,
        after.state_hash.hex(),
        msgspec.Raw(after.head),
        {
            name: msgspec.Raw(new[name]) if name in new else None
            for name in sorted(names)
            if old.get(name) != new.get(name)
        },
        unfit,
    )


def unknown_match(id: str | None, match: str) -> Refused:
    """No such match."""
    return Refused(
        id,
        match,
        "unknown_match",
        f"there is no match {match!r}; look it up in the list of matches",
        field="match",
    )


def log_event(row: LogRow) -> LogEvent:
    """A row of the log as readers see it."""
    source = {"account": row.source.account}
    if row.source.device:
        source["device"] = row.source.device
    if row.source.provider:
        source["provider"] = row.source.provider
    return LogEvent(
        seq=row.seq,
        code=row.code,
        input=msgspec.Raw(row.input.encode()),
        received_at=_text(row.received_at),
        state_hash=row.state_hash.hex(),
        sent_at=row.sent_at,
        override=list(row.override),
        emits=list(row.emits),
        source=source,
        id=str(row.id) if row.id else None,
    )


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
