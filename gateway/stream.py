"""The byte stream under one connection: replays the head already read, and never mixes frames.

Several parties write to a socket: the library (pongs, close), the answers, and the fan-out, which must not
wait. Each hands over whole frames; a frame that was written in part stands first in line, whoever
writes next.
"""

import math
import socket
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum

import trio

from gateway.framing import CLOSE_FIRST_BYTE, Control, FrameSplitter, Message, Violation
from gateway.heads import with_sentence
from gateway.protocol import FRAME_LIMIT_BYTES

RECEIVE_BYTES = 64 * 1024
SEND_STALL_S = 20.0
"""A peer that takes no byte for this long is given up (a shielded writer would wait for ever)."""
SEND_BUFFER_BYTES = 64 * 1024
"""What the kernel may hold for one socket (it doubles the figure): small, to notice a stopped reader soon."""
LAST_BUFFER_BYTES = 208 * 1024
"""The buffer is widened to this for the close frame, so that it goes out behind what is held."""
LINGER_S = 2.0
"""How long a peer may take to read the last frame before the connection is dropped."""


class Taken(IntEnum):
    """What became of a frame that was to be written without waiting."""

    NOT = 0
    """Nothing was written."""
    PARTLY = 1
    """The frame counts as written; its rest stands first in line and `flush` brings it out."""
    WHOLE = 2


class EdgeStream(trio.abc.HalfCloseableStream):
    """A connection after its head was read. `raw` is the plain TCP socket, None under TLS."""

    def __init__(
        self,
        transport: trio.SocketStream | trio.SSLStream[trio.SocketStream],
        raw: socket.socket | None,
        received: bytes,
    ) -> None:
        self._transport = transport
        self._raw = raw
        self._replay = received
        self._turn = trio.Lock()
        self._rest: memoryview | bytes = b""
        self._shut = False
        self._free = raw is not None
        if raw is not None:
            with suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

    @property
    def socket(self) -> trio.socket.SocketType:
        """The socket, for addresses (hypercorn reads them here)."""
        transport = self._transport
        return (transport.transport_stream if isinstance(transport, trio.SSLStream) else transport).socket

    @property
    def plain(self) -> bool:
        """True when frames can be written without waiting."""
        return self._raw is not None

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The bytes read with the head first, then the network's."""
        if self._replay:
            await trio.lowlevel.checkpoint()
            size = max_bytes or len(self._replay)
            data, self._replay = self._replay[:size], self._replay[size:]
            return data
        return bytes(await self._transport.receive_some(max_bytes or RECEIVE_BYTES))

    def send_now(self, frame: bytes) -> Taken:
        """Write a whole frame without waiting, when nobody else is writing and the kernel has room."""
        if not self._free:
            return Taken.NOT
        assert self._raw is not None
        try:
            sent = self._raw.send(frame)
        except BlockingIOError:
            return Taken.NOT
        except OSError:
            # The reader of the connection hears of it too and ends it.
            self._shut = True
            self._free = False
            return Taken.NOT
        if sent == len(frame):
            return Taken.WHOLE
        self._rest = memoryview(frame)[sent:]
        self._free = False
        return Taken.PARTLY

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write all of it, in turn.

        When cancelled in the middle, the rest stays first in line, so that the stream stays whole.

        Raises:
            trio.BrokenResourceError: the peer is gone, or took nothing for SEND_STALL_S.
            trio.ClosedResourceError: closed, or the last word was said.
        """
        async with self._turn:
            self._free = False
            try:
                await self._push()
                if self._shut:
                    raise trio.ClosedResourceError("the last frame of this connection was sent")
                if self._raw is None:
                    await self._push_through(data)
                else:
                    self._rest = bytes(data)
                    await self._push()
            finally:
                self._free = self._raw is not None and not self._shut and not self._rest

    async def flush(self) -> None:
        """Bring out the rest of a frame that was written in part. Raises like `send_all`."""
        async with self._turn:
            try:
                await self._push()
            finally:
                self._free = self._raw is not None and not self._shut and not self._rest

    def last_word(self, frame: bytes) -> bool:
        """Write a close frame behind what is under way, without waiting; nothing can follow it.

        True when the kernel has all of it: a peer that reads on will find it, however late.
        """
        self._shut = True
        self._free = False
        if self._raw is None:
            return False
        data = bytes(self._rest) + frame
        self._rest = b""
        try:
            self._raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LAST_BUFFER_BYTES)
            if hasattr(socket, "TCP_NOTSENT_LOWAT"):
                # trio sets it low, and the kernel then refuses what is over it.
                self._raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, LAST_BUFFER_BYTES)
            return self._raw.send(data) == len(data)
        except OSError:
            return False

    async def say_goodbye(self, frame: bytes) -> None:
        """Close politely after `last_word`. Under TLS the frame goes out here, where it may wait."""
        if self._raw is None:
            with trio.move_on_after(LINGER_S), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                async with self._turn:
                    await self._transport.send_all(frame)
        await self.linger()

    async def linger(self) -> None:
        """Close so that the peer can still read what was sent: shut the sending side, read on for a moment.

        Closing at once with unread input would make the kernel throw away what the peer has not read.
        """
        with trio.move_on_after(LINGER_S), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            if self._raw is not None:
                with suppress(OSError):
                    self._raw.shutdown(socket.SHUT_WR)
            while await self._transport.receive_some(RECEIVE_BYTES):
                pass
        await self.aclose()

    def abort(self) -> None:
        """Drop the connection at once; whoever waits on it hears ClosedResourceError."""
        self._shut = True
        self._free = False
        self.socket.close()

    async def wait_send_all_might_not_block(self) -> None:
        """Part of the Stream interface."""
        await self._transport.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        """Say that nothing more is sent (not under TLS)."""
        if isinstance(self._transport, trio.SSLStream):
            await trio.lowlevel.checkpoint()
        else:
            await self._transport.send_eof()

    async def aclose(self) -> None:
        """Close. Under TLS the goodbye has a deadline."""
        self._shut = True
        self._free = False
        with trio.move_on_after(LINGER_S):
            await self._transport.aclose()
        self.socket.close()

    async def _push(self) -> None:
        """Write the rest; the deadline moves with every byte taken."""
        with trio.CancelScope() as scope:
            while self._rest:
                assert self._raw is not None
                scope.deadline = trio.current_time() + SEND_STALL_S
                try:
                    sent = self._raw.send(self._rest)
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(self._raw)
                except OSError as error:
                    self._rest = b""
                    raise trio.BrokenResourceError(f"the connection is gone: {error}") from error
                else:
                    self._rest = memoryview(self._rest)[sent:]
        if scope.cancelled_caught:
            raise trio.BrokenResourceError(f"the peer took nothing for {SEND_STALL_S} s")

    async def _push_through(self, data: bytes | bytearray | memoryview) -> None:
        """Under TLS: a frame cut short cannot be gone on with, so the connection ends with it."""
        whole = False
        try:
            with trio.move_on_after(SEND_STALL_S):
                await self._transport.send_all(data)
                whole = True
        finally:
            if not whole:
                self._shut = True
        if not whole:
            raise trio.BrokenResourceError(f"the peer took nothing for {SEND_STALL_S} s")


class HttpStream(EdgeStream):
    """The stream under HTTP: ends a connection that asks for nothing.

    It is told of requests, and reads the end of the stream when the next one is late. `unread` tells whether
    the newest request was answered before it was whole: then the rest of it is read and thrown away for a
    moment, for closing at once would make the kernel throw away what the peer has not read of the answer.
    """

    def __init__(
        self,
        transport: trio.SocketStream | trio.SSLStream[trio.SocketStream],
        raw: socket.socket | None,
        received: bytes,
        keep_alive_s: float,
    ) -> None:
        super().__init__(transport, raw, received)
        self._keep_alive_s = keep_alive_s
        self._requests = 0
        self._begun = True
        """Bytes of a request came and are not answered yet. The first one's head is how we got here."""
        self.ending = False
        """True once no further request is taken."""
        self.unread: Callable[[], bool] = bool
        self._throwing_away = False
        self._ended = trio.Event()
        self._wait = trio.CancelScope(deadline=trio.current_time() + keep_alive_s)

    def begin(self) -> None:
        """A request is being answered."""
        self._requests += 1
        self._wait.deadline = math.inf

    def done(self) -> None:
        """A request was answered; the next one must be whole in time."""
        self._requests -= 1
        if self._requests == 0:
            self._begun = False
            self._wait.deadline = trio.current_time() + self._keep_alive_s
            if self.ending:
                self._wait.cancel()

    def finish(self) -> None:
        """Take no further request. One that has begun to come is still taken, and answered."""
        self.ending = True
        if not self._begun:
            self._wait.cancel()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The network's bytes; none at the end, and none when the next request is late."""
        if self._replay:
            return await super().receive_some(max_bytes)
        received = b""
        with self._wait:
            received = await super().receive_some(max_bytes)
            while received and self._throwing_away:
                received = await super().receive_some(max_bytes)
        if not received:
            self._ended.set()
        self._begun = self._begun or bool(received)
        self._wait = trio.CancelScope(deadline=self._wait.deadline)
        return received

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """As every stream's; an error that hypercorn answers by itself gets a sentence."""
        await super().send_all(with_sentence(bytes(data)))

    async def aclose(self) -> None:
        """Close, once the peer had a moment to read what was sent."""
        if self.unread():
            self._throwing_away = True
            with trio.move_on_after(LINGER_S):
                await self._ended.wait()
        await super().aclose()


class WebSocketStream(EdgeStream):
    """The stream under a WebSocket: data messages go to `deliver`, control frames to the library."""

    def __init__(
        self,
        transport: trio.SocketStream | trio.SSLStream[trio.SocketStream],
        raw: socket.socket | None,
        head: bytes,
        after_head: bytes,
    ) -> None:
        super().__init__(transport, raw, head)
        self._splitter = FrameSplitter(FRAME_LIMIT_BYTES)
        self._splitter.feed(after_head)
        self._opened = trio.Event()
        self._room = trio.Event()
        self._room.set()
        self._deliver: Callable[[Message], None] | None = None
        self._violated: Callable[[Violation], None] | None = None

    @property
    def held(self) -> bool:
        """True while nothing is read because the socket's owner has enough to do."""
        return not self._room.is_set()

    def open(self, deliver: Callable[[Message], None], violated: Callable[[Violation], None]) -> None:
        """The handshake is done: frames may be read."""
        self._deliver = deliver
        self._violated = violated
        self._opened.set()

    def hold(self) -> None:
        """Read nothing more until `release`."""
        if self._room.is_set():
            self._room = trio.Event()

    def release(self) -> None:
        """Read on."""
        self._room.set()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write a whole frame of the library's. After its close frame nothing may follow."""
        await super().send_all(data)
        if data[0] == CLOSE_FIRST_BYTE:
            self._shut = True
            self._free = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The head, then only control frames; data messages are delivered on the way."""
        if self._replay:
            return await super().receive_some(max_bytes)
        await self._opened.wait()
        assert self._deliver is not None
        assert self._violated is not None
        while True:
            if not self._room.is_set():
                await self._room.wait()
            item = self._splitter.take()
            if item is None:
                data = await self._transport.receive_some(RECEIVE_BYTES)
                if not data:
                    return b""
                self._splitter.feed(bytes(data))
            elif isinstance(item, Message):
                self._deliver(item)
            elif isinstance(item, Control):
                return item.data
            else:
                self._violated(item)
                await trio.sleep_forever()
