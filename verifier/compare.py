"""What is saved against what the replay gives: every difference, in sentences, the first event first. Pure.

An event is named by its seq in the log, as a scorer sees it; seq 1 is the opening. The first event is the one
that was played first: an inserted one has a later seq than what comes after it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gateway.document import compose_head
from gateway.effective import CORRECTIONS, ENGINE_PREFIX, OPENING_SEQ, Entry, shown
from gateway.errors import SportMisbehaved
from gateway.marks import QUIET, Marks, marks_of
from gateway.quiet import QuietRow
from gateway.rows import HEAD
from gateway.ruling import is_official
from gateway.segments import write_lines
from gateway.summary import read_summary
from scorebox_contract import decode, state_hash
from verifier.replay import Replayed
from verifier.saved import LineId, Saved, SavedRow

SHOWN_CHARACTERS = 120
"""Of a value in a sentence."""

_encode = msgspec.json.Encoder().encode


class Finding(msgspec.Struct, frozen=True):
    """One difference. `seq` is the first event where what is saved and the log part."""

    what: str
    """log, row, state, position, standing, line, part, head or checkpoint."""
    seq: int
    sentence: str


class _Events:
    """The events that stand, in the order they were played, named by how many stand once one is played."""

    def __init__(self, events: Sequence[Entry]) -> None:
        self._events = events

    def __len__(self) -> int:
        return len(self._events)

    def seq(self, position: int) -> int:
        """The seq of the event after which so many stand."""
        return self._events[position - 1].name.seq if position else OPENING_SEQ

    def name(self, position: int) -> str:
        """That event as it is shown: "140", or "140/1"."""
        return shown(self._events[position - 1].name) if position else str(OPENING_SEQ)

    def position(self, seq: int) -> int:
        """Where what was written at a seq stands: at its event, else after all that were in the log then."""
        for position, event in enumerate(self._events, 1):
            if event.name.seq == seq:
                return position
        return sum(event.name.seq < seq for event in self._events)


_Found = Iterator[tuple[int, Finding]]
"""Differences, each with how many events stood where it begins."""


def compare(saved: Saved, events: Sequence[Entry], replayed: Replayed) -> list[Finding]:
    """All differences of a match, the first event first. `events` are those that stand, in their order."""
    played = _Events(events)
    found = [*_rows(saved, played, replayed), *_log(saved, played)]
    if (stop := replayed.stop) is not None:
        at = stop.index + 1 if events and replayed.hashes else 0
        sentence = f"event {played.name(at)} is not taken by the match's own code: {stop.sentence}"
        # What comes after it cannot be told.
        return _in_order([*found, (at, Finding("log", played.seq(at), sentence))])
    found += _state(saved, played, replayed)
    found += _checkpoints(saved, played, replayed)
    found += _lines(saved, played, replayed)
    found += _standing(saved, played)
    found += _document(saved, played, replayed)
    return _in_order(found)


def _in_order(found: list[tuple[int, Finding]]) -> list[Finding]:
    return [finding for _, finding in sorted(found, key=lambda each: each[0])]


def _log(saved: Saved, events: _Events) -> _Found:
    """That the counters say what the log says."""
    newest = saved.rows[-1].row.seq
    if saved.last_seq != newest or saved.fixture_seq != newest:
        seq = min(saved.last_seq, saved.fixture_seq, newest)
        sentence = (
            f"the log ends at {newest}; the saved state says {saved.last_seq}, the match {saved.fixture_seq}"
        )
        yield events.position(seq), Finding("position", seq, sentence)
    for number, row in enumerate(saved.rows, OPENING_SEQ):
        if row.row.seq != number:
            sentence = f"the log has no row {number}; the next one is {row.row.seq}"
            yield events.position(number), Finding("log", number, sentence)
            return


def _rows(saved: Saved, events: _Events, replayed: Replayed) -> _Found:
    """The hash each row of the path in force carries: rows before it are of older paths."""
    path = _path(saved)
    # Before the path's first row so many stood; every event after it stands, at the end.
    position = len(events) - sum(_is_event(row) for row in path)
    for row in path:
        position += _is_event(row)
        if row.state_hash is None or position >= len(replayed.hashes):
            continue
        if row.state_hash != replayed.hashes[position]:
            sentence = (
                f"from event {row.row.seq} ({row.row.code}) on the log carries another state's hash "
                f"({_hash(row.state_hash)}) than the replay's ({_hash(replayed.hashes[position])})"
            )
            yield position, Finding("row", row.row.seq, sentence)
            return


def _is_event(row: SavedRow) -> bool:
    return not row.row.code.startswith(ENGINE_PREFIX)


def _path(saved: Saved) -> list[SavedRow]:
    """The rows of the path in force: the newest that changed the past, or the opening, and all after it."""
    start = 0
    for index, row in enumerate(saved.rows):
        raised = index > 0 and row.epoch != saved.rows[index - 1].epoch
        if raised or row.row.code in CORRECTIONS:
            start = index
    return list(saved.rows[start:])


def _state(saved: Saved, events: _Events, replayed: Replayed) -> _Found:
    at, newest = len(events), events.seq(len(events))
    if saved.state != replayed.state:
        sentence = f"the saved state after event {events.name(at)} is not the log's: " + _parting(
            saved.state, replayed.state
        )
        yield at, Finding("state", newest, sentence)
    if saved.state_hash != replayed.hashes[-1]:
        sentence = (
            f"the saved state's hash {_hash(saved.state_hash)} is not the log's {_hash(replayed.hashes[-1])}"
        )
        yield at, Finding("state", newest, sentence)
    if saved.position != at:
        sentence = f"the saved state says {saved.position} events stand, the log {at}"
        yield at, Finding("position", newest, sentence)


def _standing(saved: Saved, events: _Events) -> _Found:
    """That the match says it is official where the log does."""
    ruling = _marks(saved).ruling
    if saved.results_official != is_official(ruling):
        stored, logged = (
            "official" if said else "not official" for said in (saved.results_official, is_official(ruling))
        )
        at = len(events) if ruling is None else events.position(ruling.since_seq)
        seq = events.seq(at) if ruling is None else ruling.since_seq
        sentence = f"the match is stored as {stored}; by its log it is {logged}"
        yield at, Finding("standing", seq, sentence)


def _checkpoints(saved: Saved, events: _Events, replayed: Replayed) -> _Found:
    """The checkpoints that a correction could start from: those of this epoch and of the match's code."""
    for checkpoint in saved.checkpoints:
        if checkpoint.code_sha != saved.code_sha:
            continue
        at = min(checkpoint.position, len(events))
        if checkpoint.position > at:
            sentence = f"there is a checkpoint of {checkpoint.position} events, but only {at} stand"
        elif state_hash(checkpoint.state) != replayed.hashes[at] or (
            checkpoint.state_hash != replayed.hashes[at]
        ):
            sentence = f"the checkpoint after event {events.name(at)} ({at} events) is not the log's state"
        elif checkpoint.lines is not None and checkpoint.lines != replayed.lines_at.get(at):
            sentence = (
                f"the checkpoint after event {events.name(at)} ({at} events) has other lines than the log"
            )
        else:
            continue
        yield at, Finding("checkpoint", events.seq(at), sentence)


def _lines(saved: Saved, events: _Events, replayed: Replayed) -> _Found:
    for id, line in replayed.lines.items():
        stored, name = saved.lines.get(id), events.name(line.position)
        if stored is None:
            sentence = f"{_line(id)} is missing, which event {name} wrote"
        elif stored.values != line.values:
            sentence = f"{_line(id)} is not what event {name} wrote: {_parting(stored.values, line.values)}"
        else:
            continue
        yield line.position, Finding("line", events.seq(line.position), sentence)
    for id, stored in saved.lines.items():
        if id not in replayed.lines:
            seq = _in_log(saved, stored.seq)
            sentence = f"{_line(id)} is stored as written at {seq}, but no event that stands wrote it"
            yield events.position(seq), Finding("line", seq, sentence)


def _in_log(saved: Saved, seq: int) -> int:
    """A seq that stands in a table, which may be none of the log's."""
    return min(max(seq, OPENING_SEQ), saved.rows[-1].row.seq)


def _document(saved: Saved, events: _Events, replayed: Replayed) -> _Found:
    """The stored document, part by part. A part without lines shows nothing: it is as good as none."""
    wanted = write_lines(
        {},
        ((subject, role, segment, line.values) for (subject, role, segment), line in replayed.lines.items()),
    )
    for name, segment in wanted.items():
        at = replayed.touched[name]
        stored, event = saved.parts.get(name), events.name(at)
        if stored is None:
            sentence = f"the document lacks its part {name!r}, which event {event} wrote"
        elif decode(stored.body) != decode(segment.part):
            parting = _parting(stored.body, segment.part)
            sentence = f"the document's part {name!r} is not what event {event} wrote: {parting}"
        else:
            continue
        yield at, Finding("part", events.seq(at), sentence)
    for name, stored in saved.parts.items():
        if name != HEAD and name not in wanted and decode(stored.body).get("lines") != []:
            seq = _in_log(saved, stored.seq)
            sentence = f"the document has a part {name!r} that no event that stands wrote"
            yield events.position(seq), Finding("part", seq, sentence)
    at, stored = len(events), saved.parts.get(HEAD)
    try:
        head = _head(saved, replayed)
    except SportMisbehaved as error:
        sentence = f"after event {events.name(at)} the match's own code gives no score: {error}"
        yield at, Finding("head", events.seq(at), sentence)
        return
    if stored is None:
        yield at, Finding("head", events.seq(at), "the document lacks its head")
    elif decode(stored.body) != decode(head):
        parting = _parting(stored.body, head)
        sentence = f"the document's head after event {events.name(at)} is not the log's: {parting}"
        yield at, Finding("head", events.seq(at), sentence)


def _head(saved: Saved, replayed: Replayed) -> bytes:
    opening = decode(saved.opening)
    summary = read_summary(replayed.summary)
    return compose_head(
        match=str(saved.match),
        code=saved.code,
        name=saved.name,
        sport=saved.sport,
        status=summary.status(events=len(replayed.hashes) - 1),
        sides=opening["sides"],
        names=msgspec.Raw(_encode(saved.names)),
        summary=summary,
        marks=_marks(saved),
    )


def _marks(saved: Saved) -> Marks:
    """What stands on the match by its log."""
    return marks_of(
        QuietRow(row.row.seq, row.account, row.row.code, row.row.input)
        for row in saved.rows
        if row.row.code in QUIET
    )


def _line(id: LineId) -> str:
    subject, role, segment = id
    return f"the line of {subject} ({', '.join(part for part in (role, segment) if part)})"


def _hash(value: bytes) -> str:
    return value.hex()[:12]


def _parting(stored: bytes, wanted: bytes) -> str:
    """Where two JSON values first part: "score.runs is 14, the log says 12"."""
    try:
        left = decode(stored)
    except msgspec.DecodeError:
        return "it is not JSON"
    path, left, right = _walk(left, decode(wanted))
    if path == "" and left == right:
        return "it is written otherwise, with the same content"
    return f"{path or 'the whole'} is {_shown(left)}, the log says {_shown(right)}"


_MISSING = object()


def _walk(left: Any, right: Any, path: str = "") -> tuple[str, Any, Any]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*right, *(key for key in left if key not in right)]:
            one, other = left.get(key, _MISSING), right.get(key, _MISSING)
            if one is _MISSING or other is _MISSING or one != other:
                return _walk(one, other, f"{path}.{key}" if path else str(key))
    if isinstance(left, list) and isinstance(right, list):
        for index in range(max(len(left), len(right))):
            one = left[index] if index < len(left) else _MISSING
            other = right[index] if index < len(right) else _MISSING
            if one is _MISSING or other is _MISSING or one != other:
                return _walk(one, other, f"{path}[{index}]")
    return path, left, right


def _shown(value: Any) -> str:
    if value is _MISSING:
        return "missing"
    text = _encode(value).decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
