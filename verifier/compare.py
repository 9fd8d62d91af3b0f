"""What is saved against what the replay gives: every difference, in sentences, the first event first. Pure.

An event is named by its seq in the log, as a scorer sees it; seq 1 is the opening.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gateway.card import write_lines
from gateway.document import compose_head, status_of
from gateway.effective import CORRECTIONS, ENGINE_PREFIX, OPENING_SEQ, Entry, shown
from gateway.marks import QUIET, Marks, marks_of
from gateway.quiet import QuietRow
from gateway.rows import HEAD
from gateway.ruling import is_official
from scorebox_contract import decode, state_hash
from verifier.replay import Replayed
from verifier.saved import LineId, Saved, SavedRow

SHOWN_CHARACTERS = 120
"""Of a value in a sentence."""

_encode = msgspec.json.Encoder().encode


class Finding(msgspec.Struct, frozen=True):
    """One difference. `seq` is the first event where what is saved and the log part."""

    what: str
    """log, row, state, summary, position, standing, line, part, head or checkpoint."""
    seq: int
    sentence: str


def compare(saved: Saved, events: Sequence[Entry], replayed: Replayed) -> list[Finding]:
    """All differences of a match, the first event first. `events` are those that stand, in their order."""
    found = [*_rows(saved, events, replayed), *_log(saved)]
    if (stop := replayed.stop) is not None:
        seq = events[stop.index].name.seq if events and replayed.hashes else OPENING_SEQ
        name = shown(events[stop.index].name) if events and replayed.hashes else "1"
        found.append(
            Finding("log", seq, f"event {name} is not taken by the match's own code: {stop.sentence}")
        )
        # What comes after it cannot be told.
        return sorted(found, key=_first)
    newest = _seq_at(events, len(events))
    found += _state(saved, replayed, newest)
    found += _checkpoints(saved, events, replayed)
    found += _lines(saved, events, replayed)
    found += _standing(saved, newest)
    found += _document(saved, events, replayed, newest)
    return sorted(found, key=_first)


def _first(finding: Finding) -> int:
    return finding.seq


def _seq_at(events: Sequence[Entry], position: int) -> int:
    """The seq of the event after which so many stand."""
    return events[position - 1].name.seq if position else OPENING_SEQ


def _log(saved: Saved) -> Iterator[Finding]:
    """That the counters say what the log says."""
    newest = saved.rows[-1].row.seq
    if saved.last_seq != newest or saved.fixture_seq != newest:
        yield Finding(
            "position",
            min(saved.last_seq, saved.fixture_seq, newest),
            f"the log ends at {newest}; the saved state says {saved.last_seq}, the match {saved.fixture_seq}",
        )
    for number, row in enumerate(saved.rows, OPENING_SEQ):
        if row.row.seq != number:
            yield Finding("log", number, f"the log has no row {number}; the next one is {row.row.seq}")
            return


def _rows(saved: Saved, events: Sequence[Entry], replayed: Replayed) -> Iterator[Finding]:
    """The hash each row of the path in force carries: rows before it are of older paths."""
    path = _path(saved)
    # Before the path's first row so many stood; every event after it stands, at the end.
    position = len(events) - sum(_is_event(row) for row in path)
    for row in path:
        position += _is_event(row)
        if row.state_hash is None or position >= len(replayed.hashes):
            continue
        if row.state_hash != replayed.hashes[position]:
            yield Finding(
                "row",
                row.row.seq,
                f"from event {row.row.seq} ({row.row.code}) on the log carries another state's hash "
                f"({_hash(row.state_hash)}) than the replay's ({_hash(replayed.hashes[position])})",
            )
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


def _state(saved: Saved, replayed: Replayed, newest: int) -> Iterator[Finding]:
    if saved.state != replayed.state:
        yield Finding(
            "state",
            newest,
            f"the saved state after event {newest} is not the log's: {_parting(saved.state, replayed.state)}",
        )
    if saved.state_hash != replayed.hashes[-1]:
        yield Finding(
            "state",
            newest,
            f"the saved state's hash {_hash(saved.state_hash)} is not the log's {_hash(replayed.hashes[-1])}",
        )
    if saved.summary != replayed.summary:
        yield Finding(
            "summary",
            newest,
            "the saved summary is not the log's: "
            + _parting(_encode(saved.summary), _encode(replayed.summary)),
        )
    events = len(replayed.hashes) - 1
    if saved.position != events:
        yield Finding(
            "position", newest, f"the saved state says {saved.position} events stand, the log {events}"
        )


def _standing(saved: Saved, newest: int) -> Iterator[Finding]:
    """That the match says it is official where the log does."""
    ruling = _marks(saved).ruling
    if saved.results_official != is_official(ruling):
        stored, logged = (
            "official" if said else "not official" for said in (saved.results_official, is_official(ruling))
        )
        yield Finding(
            "standing",
            newest if ruling is None else ruling.since_seq,
            f"the match is stored as {stored}; by its log it is {logged}",
        )


def _checkpoints(saved: Saved, events: Sequence[Entry], replayed: Replayed) -> Iterator[Finding]:
    """The checkpoints that a correction could start from: those of this epoch and of the match's code."""
    for checkpoint in saved.checkpoints:
        if checkpoint.code_sha != saved.code_sha:
            continue
        at = checkpoint.position
        if at > len(events):
            yield Finding(
                "checkpoint",
                _seq_at(events, len(events)),
                f"there is a checkpoint of {at} events, but only {len(events)} stand",
            )
        elif state_hash(checkpoint.state) != replayed.hashes[at] or (
            checkpoint.state_hash != replayed.hashes[at]
        ):
            seq = _seq_at(events, at)
            yield Finding(
                "checkpoint", seq, f"the checkpoint after event {seq} ({at} events) is not the log's state"
            )


def _lines(saved: Saved, events: Sequence[Entry], replayed: Replayed) -> Iterator[Finding]:
    for id, line in replayed.lines.items():
        stored = saved.lines.get(id)
        seq = _seq_at(events, line.position)
        if stored is None:
            yield Finding("line", seq, f"{_line(id)} is missing, which event {seq} wrote")
        elif stored.values != line.values:
            yield Finding(
                "line",
                seq,
                f"{_line(id)} is not what event {seq} wrote: {_parting(stored.values, line.values)}",
            )
    for id, stored in saved.lines.items():
        if id not in replayed.lines:
            seq = min(max(stored.seq, OPENING_SEQ), saved.rows[-1].row.seq)
            yield Finding(
                "line", seq, f"{_line(id)} is stored as written at {seq}, but no event that stands wrote it"
            )


def _document(saved: Saved, events: Sequence[Entry], replayed: Replayed, newest: int) -> Iterator[Finding]:
    """The stored document, part by part. A part without lines shows nothing: it is as good as none."""
    wanted = write_lines(
        {},
        ((subject, role, segment, line.values) for (subject, role, segment), line in replayed.lines.items()),
    )
    for name, segment in wanted.items():
        seq = _seq_at(events, replayed.touched[name])
        stored = saved.parts.get(name)
        if stored is None:
            yield Finding("part", seq, f"the document lacks its part {name!r}, which event {seq} wrote")
        elif decode(stored.body) != decode(segment.part):
            yield Finding(
                "part",
                seq,
                f"the document's part {name!r} is not what event {seq} wrote: "
                + _parting(stored.body, segment.part),
            )
    for name, stored in saved.parts.items():
        if name != HEAD and name not in wanted and decode(stored.body).get("lines") != []:
            yield Finding(
                "part",
                min(max(stored.seq, OPENING_SEQ), saved.rows[-1].row.seq),
                f"the document has a part {name!r} that no event that stands wrote",
            )
    head = _head(saved, replayed)
    stored = saved.parts.get(HEAD)
    if stored is None:
        yield Finding("head", newest, "the document lacks its head")
    elif decode(stored.body) != decode(head):
        yield Finding(
            "head",
            newest,
            f"the document's head after event {newest} is not the log's: {_parting(stored.body, head)}",
        )


def _head(saved: Saved, replayed: Replayed) -> bytes:
    opening = decode(saved.opening)
    return compose_head(
        match=str(saved.match),
        code=saved.code,
        name=saved.name,
        sport=saved.sport,
        status=status_of(replayed.summary, events=len(replayed.hashes) - 1),
        sides=[{"key": side["key"], "name": side["name"]} for side in opening["sides"]],
        names=msgspec.Raw(_encode(saved.names)),
        summary=replayed.summary,
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
