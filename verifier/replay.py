"""Replays a match from nothing: its effective log through a version's code, in calls of at most 250 events.

Every call is independent, state in and state out, so that other calls go between.
"""

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

import trio

from gateway.effective import Entry
from runtime.errors import CodeMissing, CodeTampered, PoolBusy, RuleFailed, SpawnFailed, WorkerLost
from runtime.pool import LIVE_HASH_SEED, Pools, open_pools
from runtime.staffing import PoolLimits
from runtime.versions import VersionStore
from runtime.worker.limits import REPLAY_EVENTS_MOST
from scorebox_contract import canonical
from verifier.errors import NotReplayed
from verifier.saved import LineId

VERIFIER_HASH_SEED = LIVE_HASH_SEED + 1
"""PYTHONHASHSEED of the verifier's workers: code that leans on hash order gives another answer there."""
VERIFIER_NICE = 10
"""Live commands go first: a worker of theirs gets nine times as much of a processor that both want."""
VERIFIER_LIMITS = PoolLimits(warm=1, most=1, nice=VERIFIER_NICE)
REPLAY_DEADLINE_S = 5.0
"""One call of up to 250 events."""
CALL_BYTES_MOST = 512 * 1024
"""Inputs in one call: a frame takes a megabyte."""
TRIES = 3
"""How often a call whose worker was lost is made."""
TRY_AGAIN_S = 0.1

RULES_FAILED = "rule_failed"


Item = tuple[str, bytes, list[str]]
"""Code, canonical input, override: as `replay` takes an event."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a replay ended before its time: the code refused the event, or failed on it."""

    index: int
    code: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Opened:
    """The match before its first event."""

    state: bytes
    state_hash: bytes
    lines: list[tuple[str, str, str, bytes]]
    summary: bytes


@dataclass(frozen=True, slots=True)
class Stretch:
    """What one call gave, event by event up to `stop`."""

    hashes: list[bytes]
    line_hashes: list[bytes]
    emits: list[list[str]]
    warnings: list[list[dict[str, Any]]]
    lines: list[tuple[str, str, str, bytes, int]]
    """The newest values of every line, and the index of the event that wrote them."""
    summary: bytes
    stop: Stop | None


@dataclass(slots=True)
class ReplayedLine:
    """A line as the replay has it, and how many events stood once it was written."""

    values: bytes
    position: int


@dataclass(slots=True)
class Replayed:
    """A whole match, replayed. `hashes[n]` is the state's after n events."""

    hashes: list[bytes]
    state: bytes
    summary: bytes
    lines: dict[LineId, ReplayedLine] = field(default_factory=dict)
    touched: dict[str, int] = field(default_factory=dict)
    """Segment → how many events stood when a line of it was last written."""
    lines_at: dict[int, dict[LineId, bytes]] = field(default_factory=dict)
    """How many events stand → all lines there, of the places that were asked for."""
    stop: Stop | None = None
    """With `index` counted over the whole match."""


def verifier_pools(versions: VersionStore) -> Pools:
    """The verifier's own workers: one per version, under another hash seed than the live ones."""
    return Pools(versions, hash_seed=VERIFIER_HASH_SEED, limits=VERIFIER_LIMITS)


def open_verifier_pools(versions: VersionStore) -> AbstractAsyncContextManager[Pools]:
    """As `verifier_pools`, running for as long as the block does."""
    return open_pools(versions, hash_seed=VERIFIER_HASH_SEED, limits=VERIFIER_LIMITS)


def items(events: Sequence[Entry]) -> list[Item]:
    """The events as a worker takes them."""
    return [(event.code, canonical(event.input), list(event.override)) for event in events]


def stretches(events: Sequence[Item], ends: Collection[int] = ()) -> Iterator[Sequence[Item]]:
    """The events in calls: at most 250 of them, no more bytes than a frame, and cut at `ends`."""
    start, size = 0, 0
    for index, (_, data, _) in enumerate(events):
        full = index - start == REPLAY_EVENTS_MOST or size + len(data) > CALL_BYTES_MOST
        if index > start and (full or index in ends):
            yield events[start:index]
            start, size = index, 0
        size += len(data)
    if start < len(events):
        yield events[start:]


class Replay:
    """One match going through one version's code."""

    def __init__(self, pools: Pools, code_sha: str) -> None:
        self._pools = pools
        self._code_sha = code_sha
        self.state = b""

    async def open(self, opening: bytes) -> Opened | Stop:
        """The first state.

        Raises:
            NotReplayed: the code is missing, or no worker could do it.
        """
        try:
            reply = await self._call("initial_state", {"opening": opening})
        except RuleFailed as error:
            return Stop(0, RULES_FAILED, str(error))
        if reply["refusal"] is not None:
            return Stop(0, reply["refusal"]["code"], reply["refusal"]["sentence"])
        self.state = reply["state"]
        return Opened(reply["state"], reply["state_hash"], reply["lines"], reply["summary"])

    async def play(self, events: Sequence[Item]) -> Stretch:
        """The next events.

        Raises:
            NotReplayed: the code is missing, or no worker could do it.
        """
        try:
            return self._taken(await self._call("replay", {"state": self.state, "events": events}))
        except RuleFailed as error:
            if len(events) == 1:
                return await self._failed(error)
        return await self._one_by_one(events)

    async def _one_by_one(self, events: Sequence[Item]) -> Stretch:
        """As `play`: which of the events makes the code fail is found by trying each."""
        whole = Stretch([], [], [], [], [], b"", None)
        lines: dict[LineId, tuple[str, str, str, bytes, int]] = {}
        for index, event in enumerate(events):
            one = await self.play([event])
            stop = None if one.stop is None else dataclasses.replace(one.stop, index=index)
            for subject, role, segment, values, _ in one.lines:
                lines[subject, role, segment] = (subject, role, segment, values, index)
            whole = Stretch(
                whole.hashes + one.hashes,
                whole.line_hashes + one.line_hashes,
                whole.emits + one.emits,
                whole.warnings + one.warnings,
                list(lines.values()),
                one.summary,
                stop,
            )
            if stop is not None:
                break
        return whole

    async def _failed(self, error: RuleFailed) -> Stretch:
        reply = await self._call("replay", {"state": self.state, "events": []})
        return Stretch([], [], [], [], [], reply["summary"], Stop(0, RULES_FAILED, str(error)))

    def _taken(self, reply: dict[str, Any]) -> Stretch:
        self.state = reply["state"]
        refusal = reply["refusal"]
        return Stretch(
            reply["hashes"],
            reply["line_hashes"],
            reply["emits_by_event"],
            reply["warnings_by_event"],
            [(*line, index) for line, index in zip(reply["lines"], reply["line_events"], strict=True)],
            reply["summary"],
            None if refusal is None else Stop(refusal["index"], refusal["code"], refusal["sentence"]),
        )

    async def _call(self, op: str, payload: dict[str, Any]) -> dict[str, Any]:
        for tries in range(1, TRIES + 1):
            try:
                return await self._pools.call(self._code_sha, op, payload, deadline_s=REPLAY_DEADLINE_S)
            except (WorkerLost, PoolBusy) as error:
                if tries == TRIES:
                    raise NotReplayed(f"no worker could replay it: {error}") from error
            except (CodeMissing, CodeTampered, SpawnFailed) as error:
                raise NotReplayed(str(error)) from error
            await trio.sleep(TRY_AGAIN_S)
        raise AssertionError("the last try returns or raises")


async def replay(
    pools: Pools, code_sha: str, opening: bytes, events: Sequence[Entry], places: Collection[int] = ()
) -> Replayed:
    """A whole match from nothing, up to its last event or the first one the code does not take.

    `places` are how many events stand where the lines are to be kept as they were.

    Raises:
        NotReplayed: the code is missing, or no worker could do it.
    """
    going = Replay(pools, code_sha)
    opened = await going.open(opening)
    if isinstance(opened, Stop):
        return Replayed([], b"", b"", stop=opened)
    replayed = Replayed([opened.state_hash], opened.state, opened.summary)
    for subject, role, segment, values in opened.lines:
        replayed.lines[subject, role, segment] = ReplayedLine(values, 0)
        replayed.touched[segment] = 0
    for stretch in stretches(items(events), places):
        done = len(replayed.hashes) - 1
        played = await going.play(stretch)
        replayed.hashes += played.hashes
        for subject, role, segment, values, index in played.lines:
            position = done + index + 1
            replayed.lines[subject, role, segment] = ReplayedLine(values, position)
            replayed.touched[segment] = max(replayed.touched.get(segment, 0), position)
        if (done + len(played.hashes)) in places:
            there = {id: line.values for id, line in replayed.lines.items()}
            replayed.lines_at[done + len(played.hashes)] = there
        replayed.state, replayed.summary = going.state, played.summary
        if played.stop is not None:
            replayed.stop = dataclasses.replace(played.stop, index=done + played.stop.index)
            break
    return replayed
