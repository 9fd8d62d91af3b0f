"""Fan-out: one event, encoded once, to everybody who watches the match (design 11).

`publish` only appends; a task that runs while there is something to deliver writes to the sockets without
waiting for any of them. Scorers get every event at once, viewers the changed parts coalesced to 50 ms.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import structlog
import trio

from gateway.codec import Codec, wire
from gateway.protocol import ChangedFrame, DocumentFrame, EventFrame, LogEvent, Position
from gateway.sink import AUDIENCES, Audience, Sink

TAIL_UPDATES = 64
"""Updates kept for resuming without a document."""
COALESCE_S = 0.05
"""Viewers get at most one frame in this time."""
SOCKETS_PER_TURN = 500
"""After so many sockets others get a turn."""
UNDELIVERED_LIMIT_UPDATES = 256
"""A topic further behind than this gives everybody the newest document instead."""

log = structlog.get_logger("scorebox.fanout")


@dataclass(frozen=True, slots=True)
class Update:
    """One committed event: `head` and the changed `parts` (by segment) are encoded JSON."""

    match: str
    epoch: int
    seq: int
    state_hash: str
    event: LogEvent
    head: bytes
    parts: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole document at a position: `head` and every part (by segment) are encoded JSON."""

    match: str
    epoch: int
    seq: int
    state_hash: str
    head: bytes
    parts: dict[str, bytes]


class FanOut:
    """Runs the deliveries of all topics. `run` must be running for anything to be delivered."""

    def __init__(self) -> None:
        self._nursery: trio.Nursery | None = None
        self._waiting: list[Topic] = []
        self.frames = 0
        """Frames offered to sockets since the start."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Deliver until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                waiting, self._waiting = self._waiting, []
                for topic in waiting:
                    nursery.start_soon(topic.deliver)
                task_status.started()
                await trio.sleep_forever()
            finally:
                self._nursery = None

    def start(self, topic: "Topic") -> None:
        """Have a topic deliver what it has."""
        if self._nursery is None:
            self._waiting.append(topic)
        else:
            self._nursery.start_soon(topic.deliver)


class Topic:
    """The watchers of one match. `document` gives the newest snapshot, at once."""

    def __init__(self, match: str, document: Callable[[], Snapshot], fan_out: FanOut) -> None:
        self.match = match
        self._document = document
        self._fan_out = fan_out
        self._groups: dict[tuple[Audience, Codec], dict[Sink, None]] = {}
        self._tail: deque[Update] = deque(maxlen=TAIL_UPDATES)
        self._known: Position | None = None
        self._undelivered: deque[tuple[Update, bool]] = deque()
        self._renewing = False
        self._delivering = False
        self._news = trio.Event()
        self._merged: Update | None = None
        self._viewers_due = 0.0
        self._documents: dict[Codec, tuple[bytes, Position]] = {}

    @property
    def watchers(self) -> int:
        """How many sockets watch."""
        return sum(len(group) for group in self._groups.values())

    def join(self, sink: Sink, audience: Audience, after: Position | None = None) -> None:
        """Add a watcher: it gets what came after `after` when the tail reaches back, else the document.

        One that left before it came is not added.
        """
        if sink.left:
            return
        sink.follow(self._newest)
        self._groups.setdefault((audience, sink.codec), {})[sink] = None
        missed = None if after is None else self._missed(after)
        if after is None or missed is None:
            sink.offer(*self._newest(sink.codec))
            return
        sink.resume(after)
        if audience == "scorer":
            for update in missed:
                sink.offer(event_frame(update, sink.codec), Position(update.epoch, update.seq))
        elif missed:
            merged = merge(missed)
            sink.offer(_changed(merged, sink.codec), Position(merged.epoch, merged.seq))

    def leave(self, sink: Sink) -> None:
        """Take a watcher away. Harmless for one that is not there."""
        sink.leave()
        for key, group in list(self._groups.items()):
            group.pop(sink, None)
            if not group:
                del self._groups[key]

    def publish(self, update: Update) -> None:
        """Hand over a committed event. Never waits: a task of the fan-out delivers, in order."""
        known = self._known
        raised = known is not None and update.epoch > known.epoch
        if raised:
            self._tail.clear()
        self._documents.clear()
        if known is not None and update.seq > known.seq + 1:
            self.renew()
        self._tail.append(update)
        self._known = Position(update.epoch, update.seq)
        if self._groups:
            self._undelivered.append((update, raised))
            if len(self._undelivered) > UNDELIVERED_LIMIT_UPDATES:
                self.renew()
            self._wake()

    def renew(self) -> None:
        """Give everybody the document: the match was read again, or changed in a way no update tells."""
        self._tail.clear()
        self._documents.clear()
        self._undelivered.clear()
        self._merged = None
        self._renewing = True
        self._wake()

    async def deliver(self) -> None:
        """Deliver until nothing is left. Started by the fan-out, one at a time."""
        try:
            while self._undelivered or self._renewing or self._merged is not None:
                await self._deliver_next()
        except Exception:
            # One topic's fault stays its own; with the next event everybody is given the document.
            log.exception("fan-out failed", match=self.match)
            self.renew()
        finally:
            self._delivering = False

    async def _deliver_next(self) -> None:
        if self._renewing:
            self._renewing = False
            await self._renewed()
        elif self._undelivered:
            update, raised = self._undelivered.popleft()
            await self._scorers(update)
            if raised:
                self._merged = None
                await self._renewed()
            else:
                self._merged = update if self._merged is None else merge((self._merged, update))
        elif trio.current_time() < self._viewers_due:
            self._news = trio.Event()
            with trio.move_on_at(self._viewers_due):
                await self._news.wait()
        else:
            merged, self._merged = self._merged, None
            assert merged is not None, "deliver runs while something is left"
            self._viewers_due = trio.current_time() + COALESCE_S
            await self._viewers(merged)

    async def _scorers(self, update: Update) -> None:
        position = Position(update.epoch, update.seq)
        for codec, sinks in self._of("scorer"):
            await self._offer(sinks, event_frame(update, codec), position)

    async def _viewers(self, merged: Update) -> None:
        position = Position(merged.epoch, merged.seq)
        for codec, sinks in self._of("viewer"):
            await self._offer(sinks, _changed(merged, codec), position)

    async def _renewed(self) -> None:
        for audience in AUDIENCES:
            for codec, sinks in self._of(audience):
                frame, position = self._newest(codec)
                await self._offer(sinks, frame, position, again=True)

    async def _offer(
        self, sinks: tuple[Sink, ...], frame: bytes, position: Position, *, again: bool = False
    ) -> None:
        """One frame to many sockets, in turns of SOCKETS_PER_TURN."""
        seq = position.seq
        for start in range(0, len(sinks), SOCKETS_PER_TURN):
            if start:
                await trio.lowlevel.checkpoint()
            for sink in sinks[start : start + SOCKETS_PER_TURN]:
                if sink.upto < seq or (again and not sink.left):
                    sink.offer(frame, position)
        self._fan_out.frames += len(sinks)

    def _of(self, audience: Audience) -> list[tuple[Codec, tuple[Sink, ...]]]:
        return [(codec, tuple(group)) for (of, codec), group in self._groups.items() if of == audience]

    def _missed(self, after: Position) -> list[Update] | None:
        """The updates after a position, or None when the document is needed."""
        if self._tail:
            newest = self._tail[-1]
            reaches = self._tail[0].seq - 1 <= after.seq <= newest.seq and after.epoch == newest.epoch
            return [update for update in self._tail if update.seq > after.seq] if reaches else None
        _, newest_position = self._newest(Codec.JSON)
        return [] if newest_position == after else None

    def _newest(self, codec: Codec) -> tuple[bytes, Position]:
        """The newest document as a frame; made once for everybody who joins between two events."""
        if codec not in self._documents:
            snapshot = self._document()
            self._known = Position(snapshot.epoch, snapshot.seq)
            self._documents[codec] = (_document(snapshot, codec), self._known)
        return self._documents[codec]

    def _wake(self) -> None:
        self._news.set()
        if not self._delivering and self._groups:
            self._delivering = True
            self._fan_out.start(self)


def merge(updates: Iterable[Update]) -> Update:
    """Several updates of one epoch as one: the newest head and the newest of every part."""
    parts: dict[str, bytes] = {}
    newest: Update | None = None
    for newest in updates:
        parts.update(newest.parts)
    assert newest is not None, "there is something to merge"
    return replace(newest, parts=parts)


def _document_fields(head: bytes, parts: dict[str, bytes], codec: Codec) -> tuple[Any, dict[str, Any]]:
    """Head and parts to be put into a frame: JSON goes in as it is, msgpack is decoded once."""
    if codec is Codec.JSON:
        return msgspec.Raw(head), {segment: msgspec.Raw(part) for segment, part in parts.items()}
    return msgspec.json.decode(head), {segment: msgspec.json.decode(part) for segment, part in parts.items()}


def document_frame(snapshot: Snapshot, codec: Codec) -> DocumentFrame:
    """The whole document as readers get it, on a socket and over HTTP."""
    head, parts = _document_fields(snapshot.head, snapshot.parts, codec)
    return DocumentFrame(
        snapshot.match, snapshot.epoch, snapshot.seq, snapshot.state_hash, {"head": head, "parts": parts}
    )


def _document(snapshot: Snapshot, codec: Codec) -> bytes:
    return wire(document_frame(snapshot, codec), codec)


def event_frame(update: Update, codec: Codec) -> bytes:
    """A scorer's frame, ready to be written."""
    head, parts = _document_fields(update.head, update.parts, codec)
    event = update.event
    if codec is Codec.MSGPACK and isinstance(event.input, msgspec.Raw):
        event = msgspec.structs.replace(event, input=msgspec.json.decode(event.input))
    frame = EventFrame(update.match, update.epoch, update.seq, update.state_hash, event, head, parts)
    return wire(frame, codec)


def _changed(update: Update, codec: Codec) -> bytes:
    head, parts = _document_fields(update.head, update.parts, codec)
    return wire(ChangedFrame(update.match, update.epoch, update.seq, update.state_hash, head, parts), codec)
