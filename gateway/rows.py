"""Database rows and commit arguments as plain records: the border between SQL and the gateway. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
from uuid_utils.compat import uuid7

from gateway.marks import UNMARKED, Marks, marks_of
from gateway.quiet import QuietRow
from gateway.records import (
    BeforeImage,
    CodeMismatch,
    CommitItem,
    Committed,
    Correction,
    HistoryRow,
    LineRow,
    Locked,
    LogRow,
    Malformed,
    MatchListing,
    Outcome,
    Source,
    Stale,
    StoredLine,
    StoredMatch,
    Unknown,
)
from gateway.summary import summary_of_head

Row = Mapping[str, Any]
HEAD = ""
"""The segment under which the document's head is stored."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def log_row(row: Row) -> LogRow:
    """A row of the log as readers get it. Times are UTC."""
    sent_at: datetime | None = row["sent_at"]
    return LogRow(
        seq=row["seq"],
        epoch=row["epoch"],
        id=row["idempotency_key"],
        code=row["event_type"],
        input=row["payload"],
        override=tuple(row["override"]),
        source=Source(row["actor"], row["device"], row["source_code"]),
        sent_at=None if sent_at is None else _rfc3339(sent_at),
        received_at=row["received_at"],
        state_hash=row["state_hash"],
        emits=tuple(row["emits"]),
        warnings=row["warnings"],
    )


def _rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def history_row(row: Row) -> HistoryRow:
    """A row of the log as corrections need it."""
    resolved = row["resolved"]
    return HistoryRow(
        row["seq"],
        row["event_type"],
        row["payload"].encode(),
        tuple(row["override"]),
        None if resolved is None else _decode(resolved),
        tuple(row["emits"]),
    )


_images = msgspec.json.Decoder(list[BeforeImage])
_quiet_rows = msgspec.json.Decoder(list[QuietRow])


def before_images(text: str) -> list[BeforeImage]:
    """What one row wrote over."""
    return _images.decode(text)


def stored_match(head: Row, competitors: list[Row], lines: list[Row], tail: list[Row]) -> StoredMatch:
    """A match from its rows; `tail` comes newest first."""
    return StoredMatch(
        match=head["id"],
        code=head["code"],
        name=head["name"],
        sport=head["sport"],
        version=head["version"],
        code_sha=head["code_sha"],
        status=head["status"],
        last_seq=head["last_seq"],
        events_seq=head["events_seq"],
        epoch=head["epoch"],
        position=head["position"],
        opening=_decode(head["opening"]),
        state=head["snapshot"].encode(),
        state_hash=head["state_hash"],
        summary=summary_of_head(head["head"]),
        lines=tuple(
            StoredLine(row["key"], row["role"], row["segment"], row["computed"].encode()) for row in lines
        ),
        keys={row["key"]: row["participant_id"] for row in competitors if row["participant_id"] is not None},
        names={row["key"]: row["name"] for row in competitors},
        marks=_marks(head["quiet_rows"]),
        tail=tuple(log_row(row) for row in reversed(tail)),
    )


def _marks(rows: str | None) -> Marks:
    return marks_of(_quiet_rows.decode(rows)) if rows else UNMARKED


def match_listing(row: Row) -> MatchListing:
    """One match of a list."""
    return MatchListing(
        match=row["id"],
        code=row["code"],
        name=row["name"],
        sport=row["sport"],
        status=row["status"],
        last_seq=row["last_seq"],
        head=_decode(row["head"]),
    )


def sent_moment(text: str | None) -> datetime | None:
    """A device's time.

    Raises:
        ValueError: it is not an RFC 3339 time with its offset.
    """
    if text is None:
        return None
    moment = datetime.fromisoformat(text.upper())
    if moment.tzinfo is None:
        raise ValueError(f"sent_at {text!r} has no offset from UTC")
    return moment


def _lines_before(lines: tuple[LineRow, ...]) -> str:
    """The before-images of the lines an event changed, as JSON."""
    return _encode(
        [
            {
                "participant": line.participant,
                "role": line.role,
                "segment": line.segment,
                "values": None if line.before is None else msgspec.Raw(line.before.encode()),
            }
            for line in lines
        ]
    ).decode()


def commit_argument(item: CommitItem) -> tuple[Any, ...]:
    """An item as SQL's `commit_item`: field by field in the type's order.

    Raises:
        ValueError: `sent_at` is no time.
    """
    parts = [(HEAD, item.head)]
    parts += item.parts.items()
    return (
        item.match,
        item.id,
        item.expect_seq,
        item.code_sha,
        item.code,
        item.input,
        item.override,
        item.source.account,
        item.source.device,
        item.source.provider,
        sent_moment(item.sent_at),
        item.received_at,
        item.state,
        item.state_hash,
        item.emits,
        item.warnings,
        item.status,
        item.result,
        _lines_before(item.lines if item.correction is None else item.lines + item.correction.gone),
        [(line.participant, line.role, line.segment, line.values) for line in item.lines],
        parts,
        list(item.ranks.items()),
        [(uuid7(), player.participant, player.key, player.name, player.side) for player in item.joined],
        item.resolved,
        item.quiet,
        item.official,
    )


def correction_arguments(correction: Correction) -> tuple[Any, ...]:
    """What SQL's `commit_correction` takes besides the item."""
    return (
        correction.changed_from,
        correction.position,
        [(line.participant, line.role, line.segment, line.values) for line in correction.gone],
        None if correction.gone_parts is None else list(correction.gone_parts),
        [(each.position, each.state, each.state_hash, each.lines) for each in correction.checkpoints],
    )


def outcome_of(row: Row) -> Outcome:
    """What became of an item, but for "known", which needs its row read.

    Raises:
        AssertionError: SQL speaks of an outcome that is not known here.
    """
    match row["kind"]:
        case "committed":
            return Committed(row["seq"], row["epoch"])
        case "stale":
            return Stale(row["seq"])
        case "busy":
            return Locked()
        case "code":
            return CodeMismatch(row["detail"])
        case "unknown":
            return Unknown()
        case "malformed":
            return Malformed(row["detail"])
        case kind:
            raise AssertionError(f"commit_batch answered {kind!r}")


def parse_id(ref: str) -> UUID | None:
    """The match's id where a reference is one, in any spelling; None for a code."""
    try:
        return UUID(ref)
    except ValueError:
        return None


def parse_ref(ref: str) -> tuple[str, str | None]:
    """A match's code and, where the reference is "sport:code", its sport."""
    sport, colon, code = ref.partition(":")
    return (code, sport) if colon else (ref, None)
