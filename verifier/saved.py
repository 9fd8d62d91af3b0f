"""What the database holds of a match at one moment: plain data, and its one read."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import msgspec

from gateway.correcting import read_lines
from gateway.effective import Row
from gateway.ledger import READ_ONLY, Ref
from gateway.queries import load_blocks
from gateway.rows import parse_id, parse_ref
from runtime.database import Database, Session
from verifier.errors import NoSuchMatch

ROWS_AT_ONCE = 500
"""Rows of a log in one read: other tasks go between."""

_SQL = load_blocks("verifier.sql")
_MATCHES = load_blocks("matches.sql")
_decode = msgspec.json.Decoder().decode

LineId = tuple[str, str, str]
"""Subject's key, role, segment."""


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A row of the log. `raw` is its input as it stands there."""

    row: Row
    epoch: int
    raw: bytes
    state_hash: bytes | None
    account: str


@dataclass(frozen=True, slots=True)
class SavedLine:
    """A stored line: its values as JSON, and the seq it was written at."""

    values: bytes
    seq: int


@dataclass(frozen=True, slots=True)
class SavedPart:
    """A stored part of the document, as JSON."""

    body: bytes
    seq: int


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A stored checkpoint. `lines` are those of one in the midst of what a correction replayed."""

    position: int
    code_sha: str
    state: bytes
    state_hash: bytes
    lines: dict[LineId, bytes] | None


@dataclass(frozen=True, slots=True)
class Saved:
    """A match as it is stored, all at one moment."""

    match: UUID
    code: str
    name: str
    sport: str
    version: str
    code_sha: str
    first_day: date
    results_official: bool
    fixture_seq: int
    last_seq: int
    epoch: int
    position: int
    state: bytes
    state_hash: bytes
    rows: tuple[SavedRow, ...]
    """The whole log, the opening first."""
    names: dict[str, str]
    """Key → name of everybody in the match."""
    lines: dict[LineId, SavedLine]
    """A subject who is not in the match stands under its id."""
    parts: dict[str, SavedPart]
    checkpoints: tuple[SavedCheckpoint, ...]

    @property
    def opening(self) -> bytes:
        """The whole input of the first state."""
        return self.rows[0].raw


async def read_match(database: Database, ref: Ref) -> Saved:
    """A match as it is stored at one moment. Takes no lock.

    Raises:
        NoSuchMatch: there is no match of that id or code.
        DatabaseAway: the database cannot be reached.
    """
    async with database.transaction(begin=READ_ONLY) as session:
        match = await _resolve(session, ref)
        head = None if match is None else await session.fetchrow(_SQL["saved_match"], match)
        if match is None or head is None:
            raise NoSuchMatch(f"there is no match {str(ref)!r}; `scorebox match list` shows their codes")
        rows = await _read_rows(session, match)
        names = await session.fetch(_MATCHES["match_competitors"], match)
        lines = await session.fetch(_SQL["saved_lines"], match, head["first_day"])
        parts = await session.fetch(_SQL["saved_parts"], match)
        checkpoints = await session.fetch(_SQL["saved_checkpoints"], match, head["epoch"])
    return Saved(
        match=match,
        code=head["code"],
        name=head["name"],
        sport=head["sport"],
        version=head["version"],
        code_sha=head["code_sha"],
        first_day=head["first_day"],
        results_official=head["results_official"],
        fixture_seq=head["fixture_seq"],
        last_seq=head["last_seq"],
        epoch=head["epoch"],
        position=head["position"],
        state=head["snapshot"].encode(),
        state_hash=head["state_hash"],
        rows=tuple(rows),
        names={row["key"]: row["name"] for row in names},
        lines={
            (row["key"] or str(row["subject_id"]), row["role"], row["segment"]): SavedLine(
                row["computed"].encode(), row["last_seq"]
            )
            for row in lines
        },
        parts={row["segment"]: SavedPart(row["body"].encode(), row["last_seq"]) for row in parts},
        checkpoints=tuple(
            SavedCheckpoint(
                row["position"],
                row["code_sha"],
                row["state"].encode(),
                row["state_hash"],
                None if row["lines"] is None else lines_there(row["lines"]),
            )
            for row in checkpoints
        ),
    )


def lines_there(text: str) -> dict[LineId, bytes]:
    """The lines that a checkpoint holds."""
    return {(subject, role, segment): values for (segment, role, subject), values in read_lines(text).items()}


async def _resolve(session: Session, ref: Ref) -> UUID | None:
    if isinstance(ref, UUID):
        return ref
    if "\0" in ref:
        return None
    if (match := parse_id(ref)) is not None:
        return match
    found: UUID | None = await session.fetchval(_MATCHES["match_of_code"], *parse_ref(ref))
    return found


async def _read_rows(session: Session, match: UUID) -> list[SavedRow]:
    rows: list[SavedRow] = []
    while True:
        after = rows[-1].row.seq if rows else 0
        page = await session.fetch(_SQL["saved_rows"], match, after, ROWS_AT_ONCE)
        rows.extend(_saved_row(row) for row in page)
        if len(page) < ROWS_AT_ONCE:
            return rows


def _saved_row(row: Any) -> SavedRow:
    raw = row["payload"].encode()
    resolved = None if row["resolved"] is None else _decode(row["resolved"])
    return SavedRow(
        Row(row["seq"], row["event_type"], _decode(raw), tuple(row["override"]), resolved),
        row["epoch"],
        raw,
        row["state_hash"],
        row["actor"],
    )


async def all_matches(database: Database, sport: str | None = None) -> list[UUID]:
    """Every match, or those of one sport, the newest first."""
    return [row["id"] for row in await database.fetch(_SQL["all_matches"], sport)]


async def live_matches(database: Database, sport: str | None = None) -> list[UUID]:
    """The matches that are being played, or those of one sport."""
    return [row["id"] for row in await database.fetch(_SQL["live_matches"], sport)]


async def newest_item(database: Database) -> int:
    """The id of the newest row of all logs."""
    newest: int = await database.fetchval(_SQL["newest_item"])
    return newest


async def due_after(database: Database, item: int) -> dict[UUID, int]:
    """Matches that are over, or were moved, and got a row after this one → the seq they are due at."""
    return {row["id"]: row["seq"] for row in await database.fetch(_SQL["due_after"], item)}
