"""Watchers: they hold the document as the protocol tells a client to, and check every frame."""

from collections.abc import Callable
from typing import Any

import msgspec
import trio

from gateway.channel import Channel
from gateway.codec import Codec
from gateway.fanout import Topic
from gateway.protocol import Position, Problem
from gateway.sink import Audience, Sink
from gateway.stream import Taken
from tests.simulation.node import Node, NodeDown
from tests.simulation.tables import Document
from tests.simulation.workers import Violations

SMALL, MIDDLE = 126, 127
"""Length marks of a WebSocket frame that a longer length follows."""


class Frame(msgspec.Struct, frozen=True):
    """Of any frame of a watched match, what a client needs."""

    op: str
    epoch: int
    seq: int
    state_hash: str
    head: Any = None
    parts: dict[str, Any] = {}
    document: dict[str, Any] = {}


_json = msgspec.json.Decoder(Frame)
_msgpack = msgspec.msgpack.Decoder(Frame)


def unwrapped(frame: bytes) -> bytes:
    """The payload of a whole WebSocket frame as a server sends it."""
    length = frame[1]
    return frame[10:] if length == MIDDLE else frame[4:] if length == SMALL else frame[2:]


class Pipe:
    """The client's end of a socket: takes frames at once, or lags."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        self.closed = False
        self._heard = heard
        self._open = trio.Event()
        self._open.set()
        self._partial: bytes | None = None

    def lag(self) -> None:
        """Take nothing until `catch_up`."""
        if self._open.is_set():
            self._open = trio.Event()

    def catch_up(self) -> None:
        self._open.set()

    def send_now(self, frame: bytes) -> Taken:
        if self.closed or self._partial is not None:
            return Taken.NOT
        if self._open.is_set():
            self._heard(frame)
            return Taken.WHOLE
        if len(frame) % 2:
            # The kernel had room for some of it.
            self._partial = frame
            return Taken.PARTLY
        return Taken.NOT

    async def flush(self) -> None:
        await trio.lowlevel.checkpoint()
        await self._open.wait()
        self._require_open()
        if self._partial is not None:
            self._heard(self._partial)
            self._partial = None

    async def send_all(self, data: bytes) -> None:
        await self.flush()
        self._heard(data)

    def close(self) -> None:
        self.closed = True
        self._open.set()

    def _require_open(self) -> None:
        if self.closed:
            raise trio.BrokenResourceError("the client is gone")


class Watcher:
    """One client that watches one match, over one socket after the other."""

    def __init__(
        self,
        name: str,
        match: str,
        audience: Audience,
        codec: Codec,
        history: dict[int, Document],
        violations: Violations,
        trace: Callable[..., None],
    ) -> None:
        self.name = name
        self.match = match
        self.position: Position | None = None
        self.head: Any = None
        self.parts: dict[str, Any] = {}
        self.overrun = False
        self.pipe: Pipe | None = None
        self._audience: Audience = audience
        self._codec = codec
        self._history = history
        self._violations = violations
        self._trace = trace
        self._topic: Topic | None = None
        self._sink: Sink | None = None
        self._node: Node | None = None
        self._fresh = False
        self._first = True

    @property
    def watching(self) -> bool:
        return self._node is not None and self._node.up and not self.overrun

    async def join(self, node: Node, nursery: trio.Nursery, *, resume: bool) -> bool:
        """Watch on a node, over a new socket."""
        self.leave()
        self.overrun = False
        self.pipe = Pipe(self._heard)
        sink = Sink(Channel(self.pipe, nursery, self._overran), self._codec)
        after = self.position if resume else None
        self._fresh, self._first = after is None, True
        try:
            found = await node.watch(self.match, sink, self._audience, after)
        except NodeDown:
            found = Problem("node_down", "", "")
        if isinstance(found, Problem):
            self._trace(self.name, "problem", found.code)
            self.pipe.close()
            return False
        self._topic, self._sink, self._node = found, sink, node
        return True

    def leave(self) -> None:
        """Close the socket."""
        if self.pipe is not None:
            self.pipe.close()
        if self._topic is not None and self._sink is not None:
            self._topic.leave(self._sink)
        self._topic = self._sink = self._node = None

    def _overran(self) -> None:
        self.overrun = True

    def _heard(self, data: bytes) -> None:
        decoder = _json if self._codec is Codec.JSON else _msgpack
        frame = decoder.decode(unwrapped(data))
        before = self.position
        self.position = Position(frame.epoch, frame.seq)
        self._trace(self.name, frame.op, frame.epoch, frame.seq)
        if frame.op == "document":
            if before is not None and not self._first and frame.seq < before.seq:
                self._broken(frame, f"after {before.seq}: back in time")
            self.head, self.parts = frame.document["head"], dict(frame.document["parts"])
        else:
            if before is None or self._fresh:
                self._broken(frame, "before any document")
            elif frame.epoch != before.epoch:
                self._broken(frame, f"without a document after epoch {before.epoch}")
            elif frame.op == "event" and frame.seq != before.seq + 1:
                self._broken(frame, f"after {before.seq}: a gap")
            elif frame.seq <= before.seq:
                self._broken(frame, f"after {before.seq}")
            self.head = frame.head
            self.parts.update(frame.parts)
        self._fresh = self._first = False
        self._compare(frame)

    def _compare(self, frame: Frame) -> None:
        true = self._history.get(frame.seq)
        if true is None:
            self._broken(frame, "of a row that is not in the log")
        elif (true.epoch, true.state_hash) != (frame.epoch, frame.state_hash):
            self._broken(frame, f"but the log has epoch {true.epoch} and another state there")
        elif not same_document(true, self.head, self.parts):
            self._broken(frame, "and with it another document than is stored at that seq")

    def _broken(self, frame: Frame, why: str) -> None:
        self._violations.append(
            f"watcher {self.name} ({self._audience}) got {frame.op} {frame.epoch}:{frame.seq} {why}"
        )


_decoded: dict[str, Any] = {}


def same_document(true: Document, head: Any, parts: dict[str, Any]) -> bool:
    """Whether a client's document is the stored one."""
    return (
        parts.keys() == true.parts.keys()
        and _decode(true.head) == head
        and all(_decode(body) == parts[name] for name, body in true.parts.items())
    )


def _decode(text: str) -> Any:
    if text not in _decoded:
        if len(_decoded) > 512:
            _decoded.clear()
        _decoded[text] = msgspec.json.decode(text)
    return _decoded[text]
