"""A TCP proxy between the server and PostgreSQL that can delay, withhold, lose and refuse."""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from runtime.groups import sole_error

CHUNK_BYTES = 65536
COMMIT = b"commit_batch"
BIND = b"B"
"""First byte of asyncpg's Bind, Execute and Sync, which go out as one."""
BROKEN = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)


@dataclass(eq=False)
class _Link:
    """One connection of the server."""

    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    prepared: bool = False
    prey: bool = False
    """The next reply is the one to a commit that is to be lost or held back."""


class DatabaseProxy:
    """Passes everything on until told otherwise. What is armed happens to the next commit, once."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._links: set[_Link] = set()
        self.refusing = False
        self.delay_s = 0.0
        """Before every piece of data, either way."""
        self.lose_request: trio.Event | None = None
        """Drop the call and the connection: postgres never hears of it."""
        self.lose_reply: trio.Event | None = None
        """Pass the call on, wait for the answer, drop answer and connection."""
        self.hold_reply: tuple[trio.Event, float] | None = None
        """Pass the call on, keep the answer back for so many seconds."""

    @property
    def connections(self) -> int:
        """Open connections of the server."""
        return len(self._links)

    def cut(self) -> None:
        """Break every connection."""
        for link in self._links:
            link.scope.cancel()

    def heal(self) -> None:
        """Pass everything on again."""
        self.refusing, self.delay_s = False, 0.0
        self.lose_request = self.lose_reply = self.hold_reply = None

    async def serve(self, client: trio.SocketStream) -> None:
        """One connection, until either end leaves."""
        async with client:
            if self.refusing:
                return
            try:
                postgres = await trio.open_unix_socket(self._target)
            except OSError:
                return
            link = _Link()
            self._links.add(link)
            try:
                with link.scope:
                    async with postgres, trio.open_nursery() as nursery:
                        nursery.start_soon(self._up, client, postgres, link)
                        nursery.start_soon(self._down, client, postgres, link)
            finally:
                self._links.discard(link)

    async def _up(self, client: trio.SocketStream, postgres: trio.SocketStream, link: _Link) -> None:
        try:
            while data := await client.receive_some(CHUNK_BYTES):
                link.prepared = link.prepared or COMMIT in data
                if link.prepared and data.startswith(BIND):
                    if self.lose_request is not None:
                        self.lose_request.set()
                        self.lose_request = None
                        break
                    link.prey = self.lose_reply is not None or self.hold_reply is not None
                await trio.sleep(self.delay_s)
                await postgres.send_all(data)
        except BROKEN:
            pass
        link.scope.cancel()

    async def _down(self, client: trio.SocketStream, postgres: trio.SocketStream, link: _Link) -> None:
        try:
            while data := await postgres.receive_some(CHUNK_BYTES):
                if link.prey:
                    link.prey = False
                    if self.lose_reply is not None:
                        self.lose_reply.set()
                        self.lose_reply = None
                        break
                    if self.hold_reply is not None:
                        (hit, seconds), self.hold_reply = self.hold_reply, None
                        hit.set()
                        await trio.sleep(seconds)
                await trio.sleep(self.delay_s)
                await client.send_all(data)
        except BROKEN:
            pass
        link.scope.cancel()


@asynccontextmanager
async def database_proxy(target: str) -> AsyncIterator[tuple[DatabaseProxy, int]]:
    """A proxy to the Unix socket `target`, and the port on loopback where it listens."""
    proxy = DatabaseProxy(target)
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=64)
    port = listeners[0].socket.getsockname()[1]
    with sole_error():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, proxy.serve, listeners)
            try:
                yield proxy, port
            finally:
                nursery.cancel_scope.deadline = -math.inf
