"""What passes between the match actor and the ledger: plain data, no I/O.

What is made for every command is a struct, which is made ten times as fast as a frozen dataclass.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import msgspec

from gateway.marks import Marks


class Source(msgspec.Struct, frozen=True):
    """Who sent a command."""

    account: str
    device: str | None = None
    provider: str | None = None


class LineRow(msgspec.Struct, frozen=True):
    """A changed line on its way to `stat_value`. `values` are canonical JSON, `before` what they replace."""

    participant: UUID
    role: str
    segment: str
    values: str
    before: str | None


@dataclass(frozen=True, slots=True)
class NewCompetitor:
    """A player (`side` set) or side who joins a match; the participant is made or found by the ledger."""

    key: str
    name: str
    side: str | None = None
    external_source: str | None = None
    external_id: str | None = None
    participant: UUID | None = None
    """Set by the actor for players who join during a match, so that their lines can be written at once: a new
    one, or that of the key where the match knows it."""


class Rewritten(msgspec.Struct, frozen=True):
    """A checkpoint in the midst of what stands: after `position` events."""

    position: int
    state: str
    state_hash: bytes
    lines: str
    """All lines there: JSON [[segment, role, subject, values], …]."""


class Correction(msgspec.Struct, frozen=True):
    """What a row that changes the past does besides an event: a new epoch, and what is no more."""

    changed_from: int | None
    """Events of the effective log that are as they were; None of an undo: all that stand after it."""
    position: int | None
    """Events that stand after it; None of an undo: one less than before."""
    gone: tuple[LineRow, ...] = ()
    """Lines that are no more; their values are of no account, `before` is what they were."""
    gone_parts: tuple[str, ...] | None = ()
    """Parts that are no more; None: all but those that are written."""
    checkpoints: tuple[Rewritten, ...] = ()
    """In place of those that no longer hold."""
    moved_from: str | None = None
    """Of a move: the code_sha the match is pinned to until then; the item's is the new one."""


class CommitItem(msgspec.Struct, frozen=True):
    """One command ready to be saved. JSON columns are text, written as they are."""

    match: UUID
    id: UUID
    expect_seq: int
    """`fixture.last_seq` as the actor knows it; anything else is stale. The row gets expect_seq + 1."""
    code_sha: str
    code: str
    input: str
    override: tuple[str, ...]
    source: Source
    sent_at: str | None
    received_at: datetime
    state: str
    state_hash: bytes
    lines: tuple[LineRow, ...]
    head: str
    parts: dict[str, str]
    """Segment → the whole new part; only those touched."""
    emits: tuple[str, ...]
    warnings: str
    """JSON array of {code, sentence, field}."""
    status: str
    """SCHEDULED, LIVE, COMPLETED, ABANDONED."""
    result: str | None = None
    """The summary's result as JSON once there is one."""
    ranks: dict[str, int] = {}
    """Side key → rank, once there is a result."""
    joined: tuple[NewCompetitor, ...] = ()
    resolved: str | None = None
    """JSON: what a correction meant when it was written."""
    correction: Correction | None = None
    quiet: bool = False
    """It takes a seq and changes no event."""
    official: bool = False
    """The score is official after it: `fixture.results_official`."""

    def row(self, seq: int, epoch: int) -> "LogRow":
        """The log row that this item became."""
        return LogRow(
            seq,
            epoch,
            self.id,
            self.code,
            self.input,
            self.override,
            self.source,
            self.sent_at,
            self.received_at,
            self.state_hash,
            self.emits,
            self.warnings,
        )


class LogRow(msgspec.Struct, frozen=True):
    """One row of the log, as read back."""

    seq: int
    epoch: int
    id: UUID | None
    code: str
    input: str
    override: tuple[str, ...]
    source: Source
    sent_at: str | None
    """RFC 3339, as the device sent it."""
    received_at: datetime
    state_hash: bytes
    emits: tuple[str, ...]
    warnings: str


class Committed(msgspec.Struct, frozen=True):
    """Saved: the seq and epoch it got."""

    seq: int
    epoch: int


@dataclass(frozen=True, slots=True)
class Known:
    """The id is in the log already: its row, for the answer."""

    row: LogRow


@dataclass(frozen=True, slots=True)
class Stale:
    """The database is further than the actor knew: reload and try again."""

    last_seq: int


@dataclass(frozen=True, slots=True)
class Locked:
    """Somebody else holds the match's row; retried alone, and still held after the wait."""


@dataclass(frozen=True, slots=True)
class CodeMismatch:
    """The match is pinned to other code than the item was stepped with."""

    code_sha: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """No such match."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """The database could not take this item: a fault of ours, with its message."""

    message: str


Outcome = Committed | Known | Stale | Locked | CodeMismatch | Unknown | Malformed


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """A match to be created: one transaction, idempotent by (external_source, external_id)."""

    match: UUID
    sport: str
    sport_name: str
    version: str
    code_sha: str
    manifest: str
    """The version's manifest as JSON."""
    code: str
    """Human code, unique per sport."""
    name: str
    competition: str | None
    external_source: str | None
    external_id: str | None
    first_day: date
    format: str
    opening: str
    competitors: tuple[NewCompetitor, ...]
    source: Source
    received_at: datetime
    state: str
    state_hash: bytes
    head: str
    parts: dict[str, str]


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line as stored: under the match-local key of its subject."""

    key: str
    role: str
    segment: str
    values: bytes
    """Canonical JSON."""


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """All that the actor needs to go on: read in a fixed number of statements."""

    match: UUID
    code: str
    name: str
    sport: str
    version: str
    code_sha: str
    status: str
    last_seq: int
    events_seq: int
    """The newest seq that changed the events state; `saw` is measured against it."""
    epoch: int
    position: int
    """Events that stand."""
    opening: dict[str, Any]
    state: bytes
    state_hash: bytes
    summary: bytes | None
    """None where the head of the document, which holds it, is lost."""
    lines: tuple[StoredLine, ...]
    keys: dict[str, UUID]
    """Match-local key → participant."""
    names: dict[str, str]
    """Match-local key → name, sides and players."""
    marks: Marks
    tail: tuple[LogRow, ...]
    """The newest rows, oldest first, at most `TAIL_ROWS`."""


@dataclass(frozen=True, slots=True)
class MatchListing:
    """One match in a list."""

    match: UUID
    code: str
    name: str
    sport: str
    status: str
    last_seq: int
    head: dict[str, Any]


class HistoryRow(msgspec.Struct, frozen=True):
    """A row of the log as corrections need it. `input` is JSON."""

    seq: int
    code: str
    input: bytes
    override: tuple[str, ...]
    resolved: dict[str, Any] | None
    emits: tuple[str, ...]


class Checkpoint(msgspec.Struct, frozen=True):
    """The state after so many events, written by the row `seq`."""

    position: int
    seq: int
    state: bytes
    lines: str | None = None
    """All lines as they stood there, as `Rewritten` has them; None: the before-images of later rows tell."""


class BeforeImage(msgspec.Struct, frozen=True):
    """What a row wrote over: a line's values as JSON, None where there was no such line."""

    participant: UUID
    role: str
    segment: str
    values: msgspec.Raw
