"""The port while the server starts: a database may take minutes to recover, and whoever asks is told so.

`/health/live` says yes, so that nobody ends a server that only waits; `/health/ready` says what is waited
for; everything else is told to try again. Then the listening sockets go to the edge: nobody is refused a
connection in between.
"""

import json
import socket
import ssl
from contextlib import suppress

import trio

from gateway.heads import HEAD_LIMIT_BYTES, TurnAway, end_of_head

HEAD_DEADLINE_S = 5.0
ANSWER_DEADLINE_S = 2.0
HAND_OVER_S = 0.5
"""How long those who are being answered are waited for when the server is up."""
GUESTS_LIMIT = 256
"""Connections at once; others wait in the kernel's queue, and are served by the edge."""
ACCEPT_PAUSE_S = 0.1
"""Nothing could be accepted: wait a little rather than spin."""
RETRY_AFTER = (("retry-after", "1"),)


class WaitingRoom:
    """Answers on listening sockets until they are handed over. `waits_for` is what the start is at."""

    def __init__(self, listeners: list[socket.socket], tls: ssl.SSLContext | None) -> None:
        self._listeners = listeners
        self._tls = tls
        self._accepting = trio.CancelScope()
        self._serving = trio.CancelScope()
        self._guests = trio.CapacityLimiter(GUESTS_LIMIT)
        self._empty = trio.Event()
        self.waits_for = "the database"

    async def run(self) -> None:
        """Answer until handed over."""
        with self._serving:
            async with trio.open_nursery() as nursery:
                with self._accepting:
                    async with trio.open_nursery() as doors:
                        for listener in self._listeners:
                            doors.start_soon(self._accept, listener, nursery)
        self._empty.set()

    async def hand_over(self) -> list[socket.socket]:
        """Accept nobody from here on; the listening sockets are the caller's. `run` is at its end."""
        self._accepting.cancel()
        with trio.move_on_after(HAND_OVER_S):
            await self._empty.wait()
        self._serving.cancel()
        await self._empty.wait()
        return self._listeners

    async def _accept(self, listener: socket.socket, nursery: trio.Nursery) -> None:
        while True:
            async with self._guests:
                pass
            await trio.lowlevel.wait_readable(listener)
            try:
                raw, _ = listener.accept()
            except OSError:
                await trio.sleep(ACCEPT_PAUSE_S)
                continue
            nursery.start_soon(self._serve, raw)

    async def _serve(self, raw: socket.socket) -> None:
        plain = trio.SocketStream(trio.socket.from_stdlib_socket(raw))
        stream: trio.abc.Stream = plain
        if self._tls is not None:
            stream = trio.SSLStream(plain, self._tls, server_side=True, https_compatible=True)
        try:
            async with self._guests:
                with trio.move_on_after(HEAD_DEADLINE_S), suppress(trio.BrokenResourceError):
                    head = await _head(stream)
                    if head:
                        with trio.move_on_after(ANSWER_DEADLINE_S):
                            await stream.send_all(self.answer(head))
                            plain.socket.shutdown(trio.socket.SHUT_WR)
                            while await plain.receive_some():
                                pass
        except OSError:
            pass  # It left.
        finally:
            plain.socket.close()

    def answer(self, head: bytes) -> bytes:
        """The answer to a request's head."""
        path = head.split(b"\n", 1)[0].split(b" ")[1:2]
        asked = path[0].split(b"?")[0] if path else b""
        if asked == b"/health/live":
            return _response("200 OK", {"live": True, "loop_lag_ms": 0.0})
        if asked == b"/health/ready":
            body = {"ready": False, "missing": [f"starting: {self.waits_for} is waited for"]}
            return _response("503 Service Unavailable", body)
        sentence = f"the server is starting ({self.waits_for} is waited for); try again"
        return TurnAway(503, "starting", sentence, RETRY_AFTER).response()


async def _head(stream: trio.abc.ReceiveStream) -> bytes:
    """The head of a request; empty where none came, or too much."""
    received = bytearray()
    while end_of_head(received) is None:
        data = await stream.receive_some(HEAD_LIMIT_BYTES)
        if not data or len(received) + len(data) > HEAD_LIMIT_BYTES:
            return b""
        received += data
    return bytes(received)


def _response(status: str, body: dict[str, object]) -> bytes:
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
    return f"{head}\r\nretry-after: 1\r\nconnection: close\r\n\r\n".encode() + text
