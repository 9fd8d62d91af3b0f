"""One watcher of one match, as the fan-out sees it."""

from collections import deque
from collections.abc import Callable
from typing import Literal

from gateway.channel import Channel
from gateway.codec import Codec
from gateway.protocol import Position

Audience = Literal["scorer", "viewer"]
AUDIENCES: tuple[Audience, ...] = ("scorer", "viewer")

COALESCE_AT_BYTES = 64 * 1024
"""A watcher that is this far behind gets the newest document instead of what it missed."""

_LEFT = 2**63
"""Past every seq: nothing is offered to a watcher that left."""

Newest = Callable[[Codec], tuple[bytes, Position]]
"""The newest document as a frame, and its position."""


class Sink:
    """Frames of one match for one socket. Offer in order; what the socket cannot take waits here, bounded."""

    def __init__(self, channel: Channel, codec: Codec) -> None:
        self.codec = codec
        self.upto = -1
        """The newest seq that was offered."""
        self.taken: Position | None = None
        """Where a client can resume from: the newest position that is with the kernel."""
        self.left = False
        self._channel = channel
        self._waiting: deque[tuple[bytes, Position]] = deque()
        self._waiting_bytes = 0
        self._wants_document = False
        self._lined_up = False
        self._newest: Newest | None = None
        self._pulled: Position | None = None

    @property
    def behind(self) -> bool:
        """True while something waits for the socket."""
        return self._lined_up

    def follow(self, newest: Newest) -> None:
        """Joins a topic, which makes the newest document on demand."""
        self._newest = newest

    def resume(self, after: Position) -> None:
        """The client has everything up to here."""
        self.taken = after
        self.upto = after.seq

    def leave(self) -> None:
        """Nothing more of this match is sent."""
        self.left = True
        self.upto = _LEFT
        self._waiting.clear()
        self._wants_document = False

    def offer(self, frame: bytes, position: Position) -> None:
        """Write a frame, or keep it until the socket takes it. Never waits."""
        self.upto = position.seq
        if not self._lined_up and self._channel.push(frame):
            self.taken = position
        elif not self.left:
            self._keep(frame, position)

    def pull(self) -> bytes | None:
        """The next frame owed, or None."""
        if self._wants_document and self._newest is not None:
            self._wants_document = False
            frame, self._pulled = self._newest(self.codec)
            self.upto = max(self.upto, self._pulled.seq)
            return frame
        if self._waiting:
            frame, self._pulled = self._waiting.popleft()
            self._waiting_bytes -= len(frame)
            return frame
        self._lined_up = False
        return None

    def written(self) -> None:
        """The frame pulled last is with the kernel."""
        self.taken = self._pulled

    def _keep(self, frame: bytes, position: Position) -> None:
        if self._wants_document:
            # The document is made when the socket gets to it, so it is the newest then.
            pass
        elif self._waiting_bytes + len(frame) > COALESCE_AT_BYTES and self._waiting:
            self._waiting.clear()
            self._waiting_bytes = 0
            self._wants_document = True
        else:
            self._waiting.append((frame, position))
            self._waiting_bytes += len(frame)
        if not self._lined_up:
            self._lined_up = True
            self._channel.line_up(self)
        self._channel.owe(len(frame))
