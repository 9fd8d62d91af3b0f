"""What must hold of a match and of all that was answered about it. Pure, over plain data."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

import msgspec

from gateway.effective import Entry, Name
from gateway.effective import Row as EffectiveRow
from gateway.protocol import Accepted, Conflict, Refused
from runtime.worker.ops import Operations
from scorebox_contract import canonical, state_hash
from tests.simulation.model import QUIET, Impossible, Played, played
from tests.simulation.refusals import check_refusal
from tests.simulation.scorer import Sent
from tests.simulation.tables import Match, Row, lines
from verifier.compare import compare
from verifier.replay import Replayed, ReplayedLine
from verifier.saved import Saved, SavedCheckpoint, SavedLine, SavedPart, SavedRow, lines_there

REPLAY_EVENTS = 250


def check_match(match: Match, operations: Operations) -> list[str]:
    """That the log is whole, and that all else is what the log comes to."""
    found = [*_numbers(match), *_epochs(match)]
    try:
        events = [event for event in played(match.log) if event.stands]
    except Impossible as error:
        return [*found, f"match {match.code}: {error}"]
    replies = _replayed(match, events, operations)
    found += [
        f"match {match.code}: {finding.sentence}" for finding in _compared(match, events, replies, operations)
    ]
    found += _told(match, events, replies)
    return found


def _numbers(match: Match) -> Iterator[str]:
    """A seq without a gap, one row and one note per seq, one row per id."""
    seqs = [row["seq"] for row in match.log]
    if seqs != list(range(1, len(seqs) + 1)) or match.last_seq != len(seqs):
        yield f"match {match.code}: the log has the seqs {seqs}, the match says {match.last_seq}"
    if match.notes != seqs:
        yield f"match {match.code}: the outbox has {match.notes}, the log {seqs}"
    ids = [row["idempotency_key"] for row in match.log[1:]]
    if len(set(ids)) != len(ids):
        yield f"match {match.code}: an id is in the log twice"


def _epochs(match: Match) -> Iterator[str]:
    """The epoch rises with every row that changes the past, and with no other."""
    epoch = 1
    for row in match.log[1:]:
        code = row["event_type"]
        epoch += code.startswith("match.") and code not in QUIET
        if (
            row["epoch"] != epoch - (code.startswith("match.") and code not in QUIET)
            and row["epoch"] != epoch
        ):
            yield f"match {match.code}: row {row['seq']} ({code}) has epoch {row['epoch']}, not {epoch}"


def _replayed(match: Match, events: Sequence[Played], operations: Operations) -> dict[str, Any]:
    """The events from nothing, through the sport's own code."""
    opening = match.log[0]["payload"].encode()
    opened = operations.answer({"op": "initial_state", "id": 1, "opening": opening})
    items = [(event.code, canonical(event.input), list(event.override)) for event in events]
    assert len(items) <= REPLAY_EVENTS, "a history is short"
    reply = operations.answer({"op": "replay", "id": 1, "state": opened["state"], "events": items})
    return {**reply, "opened": opened}


def _lines_after(
    events: Sequence[Played], operations: Operations, whole: dict[str, Any]
) -> dict[tuple[str, str, str], bytes]:
    """Every line after these events."""
    state = whole["opened"]["state"]
    items = [(event.code, canonical(event.input), list(event.override)) for event in events]
    reply = operations.answer({"op": "play", "id": 1, "state": state, "events": items})
    return {(subject, role, segment): values for subject, role, segment, values in reply["lines"]}


def _compared(
    match: Match, events: Sequence[Played], reply: dict[str, Any], operations: Operations
) -> list[Any]:
    """The verifier's own comparison, of the model's events."""
    if not reply["ok"] or reply["refusal"] is not None:
        finding = msgspec.defstruct("Finding", [("sentence", str)])
        return [finding(f"an event that stands is not taken by the rules: {reply}")]
    replayed = Replayed(
        [state_hash(reply["opened"]["state"]), *reply["hashes"]],
        reply["state"],
        reply["summary"],
    )
    for (subject, role, segment, values), index in zip(reply["lines"], reply["line_events"], strict=True):
        replayed.lines[subject, role, segment] = ReplayedLine(values, index + 1)
        replayed.touched[segment] = max(replayed.touched.get(segment, 0), index + 1)
    places = {position for position, each in match.checkpoints.items() if each.lines is not None}
    replayed.lines_at = {
        place: _lines_after(events[:place], operations, reply) for place in places if place <= len(events)
    }
    entries = [Entry(Name(*event.name), event.code, event.input, event.override) for event in events]
    return compare(saved(match), entries, replayed)


def saved(match: Match) -> Saved:
    """A match as the verifier reads it."""
    return Saved(
        match=match.id,
        code=match.code,
        name=match.name,
        sport=match.sport,
        version=match.version,
        code_sha=match.code_sha,
        first_day=match.first_day,
        results_official=match.official,
        fixture_seq=match.last_seq,
        last_seq=match.last_seq,
        epoch=match.epoch,
        position=match.position,
        state=match.state.encode(),
        state_hash=match.state_hash,
        rows=tuple(_saved_row(row) for row in match.log),
        names={each["key"]: each["name"] for each in match.competitors},
        lines={
            (row["key"] or str(row["subject_id"]), row["role"], row["segment"]): SavedLine(
                row["computed"].encode(), row["last_seq"]
            )
            for row in lines(match)
        },
        parts={name: SavedPart(body.encode(), seq) for name, (body, seq) in match.parts.items()},
        checkpoints=tuple(
            SavedCheckpoint(
                position,
                each.code_sha,
                each.state.encode(),
                each.state_hash,
                None if each.lines is None else lines_there(each.lines),
            )
            for position, each in match.checkpoints.items()
            if each.epoch == match.epoch
        ),
    )


def _saved_row(row: Row) -> SavedRow:
    resolved = None if row["resolved"] is None else json.loads(row["resolved"])
    return SavedRow(
        EffectiveRow(
            row["seq"], row["event_type"], json.loads(row["payload"]), tuple(row["override"]), resolved
        ),
        row["epoch"],
        row["payload"].encode(),
        row["state_hash"],
        row["actor"],
    )


def _told(match: Match, events: Sequence[Played], reply: dict[str, Any]) -> Iterator[str]:
    """What feeds were told, retractions taken in, is what the events that stand emit."""
    if not reply["ok"] or reply["refusal"] is not None:
        return
    heard: dict[str, set[str]] = {}
    for row in match.log[1:]:
        if not row["event_type"].startswith("match."):
            heard[str(row["seq"])] = set(row["emits"])
            continue
        for word in row["emits"]:
            verb, _, rest = word.partition(":")
            name, _, emitted = rest.partition(":")
            if verb == "retract":
                heard[name].discard(emitted)
            elif verb == "issue":
                heard.setdefault(name, set()).add(emitted)
    heard = {name: words for name, words in heard.items() if words}
    wanted = {
        (f"{seq}/{place}" if place else str(seq)): set(words)
        for (seq, place), words in zip((event.name for event in events), reply["emits_by_event"], strict=True)
        if words
    }
    if heard != wanted:
        parts = {name for name in heard.keys() | wanted.keys() if heard.get(name) != wanted.get(name)}
        yield f"match {match.code}: feeds were told otherwise than stands of the events {sorted(parts)}"


def check_answers(match: Match, sent: Iterable[Sent], operations: Operations) -> list[str]:
    """That every answer is true, that nothing accepted is lost and nothing is in the log that nobody sent."""
    commands = list(sent)
    found: list[str] = []
    by_id: dict[UUID, list[Sent]] = {}
    for command in commands:
        by_id.setdefault(UUID(command.frame.id), []).append(command)
        row = match.ids.get(UUID(command.frame.id))
        who = f"match {match.code}: {command.frame.code} {command.frame.id[:8]} of {command.scorer}"
        found += [f"{who} {fault}" for fault in _answers(match, command, row)]
        for answer in command.answers:
            if isinstance(answer, Refused):
                found += [
                    f"{who} {fault}" for fault in check_refusal(match, command.frame, answer, operations)
                ]
    for row in match.log[1:]:
        senders = [each for each in by_id.get(row["idempotency_key"], ()) if _same(each, row)]
        if not senders:
            found.append(f"match {match.code}: nobody sent row {row['seq']}")
        else:
            found += [f"match {match.code}: {fault}" for fault in _fresh(match, row, senders[0])]
    found += [f"match {match.code}: {fault}" for fault in _order(match, commands)]
    return found


def _same(command: Sent, row: Row) -> bool:
    content = command.frame.code, canonical(command.frame.input)
    return content == (row["event_type"], row["payload"].encode())


def _answers(match: Match, command: Sent, row: Row | None) -> Iterator[str]:
    """The answers to one command."""
    mine = row is not None and _same(command, row)
    if not command.answers and command.heard:
        yield "was never answered"
    for heard in command.heard:
        if heard.known and mine and isinstance(heard.answer, Conflict | Refused):
            yield f"was in the log as {row['seq'] if row else 0}, and was answered {_said(heard.answer)}"
    accepted = [answer for answer in command.answers if isinstance(answer, Accepted)]
    if sum(not answer.duplicate for answer in accepted) > 1:
        yield "was accepted twice as if for the first time"
    if mine and not accepted and len(command.answers) == len(command.heard):
        yield f"is in the log as {row['seq'] if row else 0}, and was answered {_said(command.answers[0])}"
    for answer in command.answers:
        match answer:
            case Accepted() if row is None:
                yield f"was accepted as {answer.seq}, and is not in the log"
            case Accepted() if not mine:
                yield f"was accepted as {answer.seq}, where the log has other content"
            case Accepted():
                if row is not None and _shown(answer) != (
                    row["seq"],
                    row["epoch"],
                    row["state_hash"].hex(),
                    row["emits"],
                ):
                    yield f"was accepted as {answer}, the log has it as {row['seq']}"
            case Refused(code="id_reused") if row is None or mine:
                yield "was refused as a used id, which it is not"
            case Refused(code="not_saved" | "unknown_match"):
                yield f"was refused with {answer.code}: {answer.sentence}"
            case Conflict():
                yield from _conflict(match, command, answer)
            case _:
                continue


def _shown(answer: Accepted) -> tuple[int, int, str, list[str]]:
    return answer.seq, answer.epoch, answer.state_hash, answer.emits


def _said(answer: Any) -> str:
    return f"{type(answer).__name__.lower()} {getattr(answer, 'code', '')}"


def _conflict(match: Match, command: Sent, answer: Conflict) -> Iterator[str]:
    """Something was missed, and what was is the log after `saw`, whole."""
    saw = command.frame.saw
    missed = [row["event_type"] for row in match.log[saw : answer.last_seq]]
    if saw <= answer.last_seq and all(code in QUIET for code in missed):
        yield f"saw {saw} and was told of a conflict at {answer.last_seq}, but nothing came between"
    if answer.resync:
        return
    seqs = [event.seq for event in answer.missed]
    if seqs != list(range(saw + 1, answer.last_seq + 1)):
        yield f"saw {saw} and was told it missed {seqs} up to {answer.last_seq}"
        return
    for event in answer.missed:
        row = match.log[event.seq - 1]
        if (event.code, event.id) != (row["event_type"], str(row["idempotency_key"])):
            yield f"was told that row {event.seq} is {event.code} {event.id}"


def _fresh(match: Match, row: Row, command: Sent) -> Iterator[str]:
    """A row rests on a `saw` that no event came after."""
    if row["event_type"] in QUIET:
        return
    before = [other["seq"] for other in match.log[: row["seq"] - 1] if other["event_type"] not in QUIET]
    if not before[-1] <= command.frame.saw < row["seq"]:
        yield f"row {row['seq']} was accepted with saw {command.frame.saw} after event {before[-1]}"


def _order(match: Match, commands: Sequence[Sent]) -> Iterator[str]:
    """What a scorer sent one after another stands in that order."""
    last: dict[str, tuple[int, int]] = {}
    for command in sorted(commands, key=lambda each: each.order):
        row = match.ids.get(UUID(command.frame.id))
        if row is None or command.order < 0 or not command.in_time or not _same(command, row):
            continue
        order, seq = last.get(command.scorer, (-1, 0))
        if row["seq"] < seq:
            yield f"{command.scorer} sent {order} before {command.order}; they stand as {seq}, {row['seq']}"
        last[command.scorer] = (command.order, row["seq"])
