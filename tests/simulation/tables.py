"""The database's tables as the simulation keeps them, and what `migrations/` does to them, in Python.

Only matches, and only what the road, corrections, fan-out and followers of other nodes read and write.
`test_standins.py` holds the same calls against this and a real PostgreSQL.
"""

import json
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import trio

from gateway.records import OpenMatch
from gateway.rows import HEAD

Row = dict[str, Any]

ITEM_FIELDS = (
    "match",
    "id",
    "expect_seq",
    "code_sha",
    "code",
    "input",
    "override",
    "account",
    "device",
    "provider",
    "sent_at",
    "received_at",
    "state",
    "state_hash",
    "emits",
    "warnings",
    "status",
    "result",
    "lines_before",
    "lines",
    "parts",
    "ranks",
    "joined",
    "resolved",
    "quiet",
    "official",
)
"""SQL's type `commit_item`, attribute by attribute."""
QUIET_CODES = ("match.flag", "match.official", "match.reopen")


@dataclass(frozen=True, slots=True)
class Document:
    """The stored document right after a row."""

    epoch: int
    seq: int
    state: str
    state_hash: str
    head: str
    parts: dict[str, str]


@dataclass(slots=True)
class Checkpoint:
    """A row of `scoring_checkpoint`."""

    epoch: int
    seq: int
    code_sha: str
    state: str
    state_hash: bytes
    lines: str | None = None


@dataclass(slots=True)
class Match:
    """One match over all its tables."""

    id: UUID
    code: str
    name: str
    sport: str
    version: str
    code_sha: str
    first_day: Any
    state: str
    state_hash: bytes
    status: str
    last_seq: int = 1
    events_seq: int = 1
    epoch: int = 1
    position: int = 0
    official: bool = False
    log: list[Row] = field(default_factory=list)
    ids: dict[UUID, Row] = field(default_factory=dict)
    competitors: list[Row] = field(default_factory=list)
    lines: dict[tuple[UUID, str, str], tuple[str, int]] = field(default_factory=dict)
    """(participant, role, segment) → values, and the seq that wrote them."""
    parts: dict[str, tuple[str, int]] = field(default_factory=dict)
    checkpoints: dict[int, Checkpoint] = field(default_factory=dict)
    """By position."""
    notes: list[int] = field(default_factory=list)
    """Seqs of the outbox notes."""
    history: dict[int, Document] = field(default_factory=dict)
    """For the checkers: the document after every row."""
    lock: object | None = None
    """Who holds the row."""
    unlocked: trio.Event = field(default_factory=trio.Event)

    def snapshot(self) -> "Match":
        """As a transaction that began now sees it, for as long as it runs."""
        frozen = copy(self)
        frozen.log = list(self.log)
        frozen.ids = dict(self.ids)
        frozen.competitors = list(self.competitors)
        frozen.lines = dict(self.lines)
        frozen.parts = dict(self.parts)
        frozen.checkpoints = dict(self.checkpoints)
        return frozen

    def release(self, holder: object) -> None:
        """Let go of the row."""
        if self.lock is holder:
            self.lock = None
            self.unlocked.set()
            self.unlocked = trio.Event()

    def remember(self) -> None:
        """Keep the document as it stands now."""
        parts = {segment: body for segment, (body, _) in self.parts.items()}
        head = parts.pop(HEAD)
        self.history[self.last_seq] = Document(
            self.epoch, self.last_seq, self.state, self.state_hash.hex(), head, parts
        )


def open_match(opening: OpenMatch) -> Match:
    """The tables of a match that was opened: what `gateway/sql/opening.sql` writes."""
    match = Match(
        opening.match,
        opening.code,
        opening.name,
        opening.sport,
        opening.version,
        opening.code_sha,
        opening.first_day,
        opening.state,
        opening.state_hash,
        "SCHEDULED",
    )
    for place, each in enumerate(opening.competitors):
        match.competitors.append(
            {
                "key": each.key,
                "name": each.name,
                "participant_id": UUID(int=(opening.match.int + place + 1) % 2**128),
                "side": each.side,
            }
        )
    match.parts = {name: (body, 1) for name, body in ({HEAD: opening.head} | opening.parts).items()}
    match.log.append(
        {
            "seq": 1,
            "epoch": 1,
            "idempotency_key": None,
            "event_type": "match.open",
            "payload": opening.opening,
            "override": [],
            "actor": opening.source.account,
            "device": None,
            "source_code": None,
            "sent_at": None,
            "received_at": opening.received_at,
            "state_hash": opening.state_hash,
            "emits": [],
            "warnings": "[]",
            "lines_before": "[]",
            "resolved": None,
        }
    )
    match.notes.append(1)
    match.remember()
    return match


def look(match: Match, item: Row) -> Row | None:
    """Why an item cannot be saved, as `commit_batch` says it, or None."""
    if match.last_seq == item["expect_seq"] and match.code_sha == item["code_sha"]:
        if item["id"] in match.ids:
            return known(match, item)
        return None
    if match.last_seq != item["expect_seq"]:
        return known(match, item) or said("stale", match.last_seq, match.epoch)
    return said("code", match.last_seq, match.epoch, match.code_sha)


def known(match: Match, item: Row) -> Row | None:
    """The outcome for an id that is in the log."""
    row = match.ids.get(item["id"])
    return None if row is None else said("known", row["seq"], row["epoch"])


def busy(match: Match, item: Row) -> Row:
    """The outcome for an item whose match somebody else holds."""
    return known(match, item) or said("busy")


def said(kind: str, seq: int | None = None, epoch: int | None = None, detail: str | None = None) -> Row:
    return {"kind": kind, "seq": seq, "epoch": epoch, "detail": detail}


def save(match: Match, item: Row, checkpoint_every: int) -> Row:
    """What `commit_item` writes."""
    seq = match.last_seq + 1
    position = match.position + (0 if item["quiet"] else 1)
    row: Row = {
        "seq": seq,
        "epoch": match.epoch,
        "idempotency_key": item["id"],
        "event_type": item["code"],
        "payload": item["input"],
        "override": list(item["override"]),
        "actor": item["account"],
        "device": item["device"],
        "source_code": item["provider"],
        "sent_at": item["sent_at"],
        "received_at": item["received_at"],
        "state_hash": item["state_hash"],
        "emits": list(item["emits"]),
        "warnings": item["warnings"],
        "lines_before": item["lines_before"],
        "resolved": item["resolved"],
    }
    match.log.append(row)
    match.ids[item["id"]] = row
    match.notes.append(seq)
    match.last_seq, match.position = seq, position
    match.status, match.official = item["status"], bool(item["official"])
    match.state, match.state_hash = item["state"], item["state_hash"]
    if not item["quiet"]:
        match.events_seq = seq
        if position % checkpoint_every == 0:
            match.checkpoints[position] = Checkpoint(
                match.epoch, seq, item["code_sha"], item["state"], item["state_hash"]
            )
    for _, participant, key, name, side in item["joined"]:
        known = [each for each in match.competitors if each["key"] == key and each["side"] is not None]
        entry = {"key": key, "name": name, "participant_id": participant, "side": side}
        if known:
            # Somebody who joined before, and was taken back.
            entry["participant_id"] = known[0]["participant_id"]
            match.competitors.remove(known[0])
        match.competitors.append(entry)
    for participant, role, segment, values in item["lines"]:
        match.lines[participant, role, segment] = (values, seq)
    for segment, body in item["parts"]:
        match.parts[segment] = (body, seq)
    match.remember()
    return said("committed", seq, match.epoch)


def save_correction(match: Match, item: Row, extra: Sequence[Any], checkpoint_every: int) -> Row:
    """What `commit_correction` writes: `extra` are its arguments after the item."""
    changed_from, new_position, gone_lines, gone_parts, rewritten = extra[:5]
    stand = match.position - 1 if new_position is None else new_position
    same = stand if changed_from is None else changed_from
    epoch = match.epoch + 1
    match.checkpoints = {
        position: replace(each, epoch=epoch)
        for position, each in match.checkpoints.items()
        if position <= same and position != stand
    }
    seq, code_sha = match.last_seq + 1, item["code_sha"]
    for position, state, state_hash, text in rewritten:
        if same < position < stand:
            match.checkpoints[position] = Checkpoint(epoch, seq, code_sha, state, state_hash, text)
    match.epoch, match.position = epoch, stand - 1
    for participant, role, segment, _ in gone_lines:
        match.lines.pop((participant, role, segment), None)
    written = {segment for segment, _ in item["parts"]}
    for segment in list(match.parts):
        if (segment not in written) if gone_parts is None else (segment in gone_parts):
            del match.parts[segment]
    saved = save(match, item, checkpoint_every)
    if new_position:
        end = Checkpoint(epoch, seq, code_sha, item["state"], item["state_hash"])
        match.checkpoints.setdefault(stand, end)
    return saved


def head(match: Match) -> Row:
    """The row of `match_head`."""
    quiet = [
        [row["seq"], row["actor"], row["event_type"], json.loads(row["payload"])]
        for row in match.log
        if row["event_type"] in QUIET_CODES
    ]
    return {
        "id": match.id,
        "code": match.code,
        "name": match.name,
        "sport": match.sport,
        "version": match.version,
        "code_sha": match.code_sha,
        "status": match.status,
        "first_day": match.first_day,
        "last_seq": match.last_seq,
        "fixture_seq": match.last_seq,
        "events_seq": match.events_seq,
        "epoch": match.epoch,
        "position": match.position,
        "results_official": match.official,
        "snapshot": match.state,
        "state_hash": match.state_hash,
        "head": match.parts[HEAD][0] if HEAD in match.parts else None,
        "opening": match.log[0]["payload"],
        "quiet_rows": json.dumps(quiet) if quiet else None,
    }


def lines(match: Match) -> list[Row]:
    """The rows of `match_lines` and `saved_lines`."""
    keys = {each["participant_id"]: each["key"] for each in match.competitors}
    found = [
        {
            "key": keys.get(participant),
            "subject_id": participant,
            "role": role,
            "segment": segment,
            "computed": values,
            "last_seq": seq,
        }
        for (participant, role, segment), (values, seq) in match.lines.items()
    ]
    return sorted(found, key=lambda row: (row["segment"], row["role"], row["key"] or ""))
