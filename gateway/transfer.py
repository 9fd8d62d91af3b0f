"""A match as a file: its whole log up to a row, and what it rests on. Pure.

JSON lines (docs/export.md): a header, a line for every row of the log, and an end with the number of rows
and the sha256 of all bytes before it. Nothing derived travels: state, lines and document follow from the log
and the code, and are worked out where it is read, to the very hashes that its rows carry.
"""

import hashlib
from collections.abc import Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import Annotated, Any
from uuid import UUID

import msgspec
from msgspec import Meta

from gateway.effective import CORRECTIONS, ENGINE_PREFIX, OPEN, OPENING_SEQ
from gateway.errors import TransferUnfit

FORMAT = "scorebox-match"
VERSION = 1
NULL = msgspec.Raw(b"null")
LIMIT_BYTES = 64 * 1024 * 1024
"""Of a file: fifty times a five-day Test."""

Word = Annotated[str, Meta(min_length=1)]
Counted = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]


class OutsideId(msgspec.Struct, frozen=True):
    """An id that a source knows something under."""

    source: str
    id: str


class Competitor(msgspec.Struct, frozen=True):
    """Who takes part: `key` and `name` are the match's own, the rest is the party behind them."""

    key: str
    name: str
    party: UUID
    type: str
    code: str
    party_name: str
    side: str | None = None
    external: list[OutsideId] = []


class Header(msgspec.Struct, frozen=True):
    """The first line."""

    format: str
    version: int
    match: UUID
    code: Word
    name: Word
    sport: Word
    sport_name: Word
    sport_version: Word
    code_sha: str
    """The code that scored the row `at`; with another there is no playing it."""
    first_day: date
    at: Counted
    """The newest row in the file."""
    newest: Counted
    """The newest row of the match when it was exported."""
    epoch: Counted
    state_hash: Sha256
    exported_at: datetime
    competitors: list[Competitor]
    competition: str | None = None
    external: list[OutsideId] = []


class LineBefore(msgspec.Struct, frozen=True):
    """A line that a row wrote over, under its subject's key; null where there was none."""

    subject: str
    role: str
    segment: str
    values: msgspec.Raw = NULL


class TransferRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of the log."""

    seq: Counted
    epoch: Counted
    code: Word
    input: msgspec.Raw
    account: str
    received_at: datetime
    state_hash: Sha256
    id: UUID | None = None
    override: list[str] = []
    device: str | None = None
    provider: str | None = None
    sent_at: datetime | None = None
    emits: list[str] = []
    warnings: msgspec.Raw = msgspec.Raw(b"[]")
    lines_before: list[LineBefore] = []
    resolved: msgspec.Raw = NULL

    @property
    def is_event(self) -> bool:
        """True of an event of the sport's."""
        return not self.code.startswith(ENGINE_PREFIX)


class End(msgspec.Struct, frozen=True):
    """The last line."""

    rows: int
    sha256: str


_encode = msgspec.json.Encoder().encode
_header = msgspec.json.Decoder(Header)
_row = msgspec.json.Decoder(TransferRow)
_end = msgspec.json.Decoder(End)
_any = msgspec.json.Decoder()
_object = msgspec.json.Decoder(dict[str, Any])
_objects = msgspec.json.Decoder(list[dict[str, Any]])

UNREADABLE = (msgspec.MsgspecError, RecursionError)
"""What a decoder raises: the second one for JSON nested deeper than any match is."""


def encode(header: Header, rows: Sequence[TransferRow]) -> bytes:
    """The file."""
    body = b"".join(_encode(line) + b"\n" for line in (header, *rows))
    return body + _encode(End(len(rows), hashlib.sha256(body).hexdigest())) + b"\n"


def decode(data: bytes) -> tuple[Header, list[TransferRow]]:
    """What a file holds, checked as far as it can be without the sport's code.

    Raises:
        TransferUnfit: it is none, or was cut or changed, or its rows are no log.
    """
    body, newline, last = data.rstrip(b"\n").rpartition(b"\n")
    lines = body.split(b"\n")
    _check_format(lines[0])
    try:
        end = _end.decode(last)
    except UNREADABLE:
        raise TransferUnfit("the file was cut: its last line is missing; export it again") from None
    if end.sha256 != hashlib.sha256(body + newline).hexdigest() or end.rows != len(lines) - 1:
        raise TransferUnfit("the file was changed since it was exported: export it again")
    number = 1
    try:
        header = _header.decode(lines[0])
        rows = []
        for number, line in enumerate(lines[1:], 2):  # noqa: B007
            rows.append(_row.decode(line))
            _object.decode(rows[-1].input)
            _objects.decode(rows[-1].warnings)
    except UNREADABLE as error:
        raise TransferUnfit(f"line {number} cannot be read: {error}") from error
    _check_log(header, rows)
    return header, rows


def _check_format(line: bytes) -> None:
    try:
        first: Any = _any.decode(line)
        name, version = first["format"], first["version"]
    except (*UNREADABLE, KeyError, TypeError):
        raise TransferUnfit("this is no exported match: export one with `scorebox match export`") from None
    if name != FORMAT:
        raise TransferUnfit(f"this is a {name!r}, not a {FORMAT!r}")
    if version != VERSION:
        raise TransferUnfit(
            f"the file is of version {version}, this server reads {VERSION}: use a newer server"
        )


def _check_log(header: Header, rows: Sequence[TransferRow]) -> None:
    if len(rows) != header.at or any(row.seq != seq for seq, row in enumerate(rows, OPENING_SEQ)):
        raise TransferUnfit(f"the rows are not 1 to {header.at}, each once and in order")
    if rows[0].code != OPEN or any(row.code == OPEN for row in rows[1:]):
        raise TransferUnfit(f"the first row, and no other, is {OPEN}")
    for row, following in pairwise(rows):
        if following.epoch < row.epoch:
            raise TransferUnfit(f"row {following.seq} is of an earlier epoch than the row before it")
    ids = [row.id for row in rows if row.id is not None]
    if len(set(ids)) != len(ids):
        raise TransferUnfit("two rows have the same id")
    keys = {each.key for each in header.competitors}
    if len(keys) != len(header.competitors):
        raise TransferUnfit("two competitors have the same key")
    if len({each.party for each in header.competitors}) != len(keys):
        raise TransferUnfit("two competitors are the same party")
    for row in rows:
        for line in row.lines_before:
            if line.subject not in keys:
                raise TransferUnfit(f"row {row.seq} speaks of {line.subject!r}, who is not in the match")
    if (rows[-1].epoch, rows[-1].state_hash) != (header.epoch, header.state_hash):
        raise TransferUnfit("the header's epoch and state hash are not those of the last row")


def first_difference(rows: Sequence[TransferRow], hashes: Sequence[bytes]) -> int | None:
    """The seq of the first row whose state hash is not the replay's, None where all are.

    `hashes` are the states' after so many events that stand. The rows of the path in force are compared: the
    newest that changed the past, and all after it. Rows before it are of paths that are no more.
    """
    start = 0
    for index, row in enumerate(rows):
        if (index and row.epoch != rows[index - 1].epoch) or row.code in CORRECTIONS:
            start = index
    path = rows[start:]
    position = len(hashes) - 1 - sum(row.is_event for row in path)
    for row in path:
        position += row.is_event
        if position < 0 or row.state_hash != hashes[position].hex():
            return row.seq
    return None
