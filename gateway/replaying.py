"""Replaying events in a worker: what corrections and looks at the past go through.

It runs `check` as well as `step`, in calls of at most 250 events, so that live commands of other matches go
between. Every call is independent: state in, state out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gateway.corrections import Emitted
from gateway.effective import Entry, Row
from gateway.errors import CorrectionRefused
from gateway.records import HistoryRow
from gateway.segments import LineValues
from runtime.pool import Pools
from scorebox_contract import canonical

REPLAY_EVENTS = 250
"""Events in one call."""
REPLAY_BYTES = 512 * 1024
"""Inputs in one call, but for a single larger one: a frame to a worker takes a megabyte."""
REPLAY_CALL_S = 2.0
"""Wall time of one such call."""

Item = tuple[str, bytes, list[str]]
"""Code, canonical input, override: as a worker takes an event."""
Refused = Callable[[Entry, dict[str, Any]], bool]
"""An event that was refused, and the refusal. True to go on without it, False to stop there; may raise."""
Heard = Callable[[Sequence[Entry], Mapping[str, Any]], None]
"""The events of one call, and the worker's reply: of all of them, or of those before a refused one."""


_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class Milestone:
    """A replay after so many events that stand: what the calls of a replay go through on their way."""

    position: int
    state: bytes
    state_hash: bytes
    lines: LineValues
    """Of what was replayed so far."""


@dataclass(slots=True)
class Replayed:
    """How far a replay is, and what came of it so far."""

    state: bytes
    lines: LineValues
    done: int
    """Events that were played or passed over."""
    state_hash: bytes = b""
    summary: bytes = b""
    joined: list[tuple[str, str, str]] = field(default_factory=list)
    emitted: Emitted = field(default_factory=dict)
    passed_over: int = 0
    """Of the events that are done, those that were refused."""
    milestones: list[Milestone] = field(default_factory=list)


def read_rows(logged: Sequence[HistoryRow]) -> list[Row]:
    """What the effective log needs of a whole log: its rows but for the opening."""
    return [Row(row.seq, row.code, _decode(row.input), row.override, row.resolved) for row in logged[1:]]


async def opened(pools: Pools, code_sha: str, opening: bytes) -> Replayed:
    """A match before its first event.

    Raises:
        CorrectionRefused: the code does not take the opening; code that a match was opened in does.
        RuntimeFault: the workers could not do it.
    """
    reply = await pools.call(code_sha, "initial_state", {"opening": opening}, deadline_s=REPLAY_CALL_S)
    if (refusal := reply["refusal"]) is not None:
        raise CorrectionRefused("opening_refused", f"the opening is refused: {refusal['sentence']}", "")
    return Replayed(reply["state"], {}, 0)


async def replay(
    pools: Pools,
    code_sha: str,
    events: Sequence[Entry],
    found: Replayed,
    refused: Refused,
    *,
    heard: Heard | None = None,
) -> None:
    """Play `events` from `found.done` on; what comes of it is put into `found`.

    `heard` hears of each call, whose reply then has what a worker's `replay` has beside its `play`.

    Raises:
        RuntimeFault: the workers could not do it.
    """
    op = "play" if heard is None else "replay"
    while True:
        items = _call(events, found.done)
        reply = await pools.call(
            code_sha, op, {"state": found.state, "events": items}, deadline_s=REPLAY_CALL_S
        )
        found.state, found.state_hash = reply["state"], reply["state_hash"]
        found.summary = reply["summary"]
        for subject, role, segment, values in reply["lines"]:
            found.lines[segment, role, subject] = values
        found.joined += reply["joined"]
        played = events[found.done : found.done + len(items)]
        for entry, words in zip(played, reply["emits_by_event"], strict=False):
            found.emitted[entry.name] = tuple(words)
        if heard is not None:
            heard(played, reply)
        refusal = reply["refusal"]
        if refusal is None:
            found.done += len(items)
            position = found.done - found.passed_over
            found.milestones.append(Milestone(position, found.state, found.state_hash, dict(found.lines)))
        elif refused(played[refusal["index"]], refusal):
            found.done += refusal["index"] + 1
            found.passed_over += 1
        else:
            return
        if found.done >= len(events):
            return


def _call(events: Sequence[Entry], start: int) -> list[Item]:
    """The events of the next call: no more of them, and no more bytes, than a call takes."""
    items: list[Item] = []
    size = 0
    for entry in events[start : start + REPLAY_EVENTS]:
        body = canonical(entry.input)
        size += len(body)
        if items and size > REPLAY_BYTES:
            break
        items.append((entry.code, body, list(entry.override)))
    return items
