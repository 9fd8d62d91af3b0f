"""A proxy on a Unix socket between asyncpg and PostgreSQL that can lose a request, or a reply."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import trio

CHUNK_BYTES = 65536
MARK = b"commit_batch"


class CuttingProxy:
    """Passes everything on until armed. Armed, the next commit call is its prey, once."""

    def __init__(self, server: str) -> None:
        self._server = server
        self.lose_request = False
        """Drop the call and the connection: the server never hears of it."""
        self.lose_reply = False
        """Pass the call on, wait for the answer, and drop answer and connection."""
        self.keep_reply = False
        """Pass the call on and never let the answer through; the connection stays open."""
        self.hit = trio.Event()

    async def serve(self, client: trio.SocketStream) -> None:
        try:
            server = await trio.open_unix_socket(self._server)
        except OSError:
            await client.aclose()
            return
        marked = [False]
        async with client, server, trio.open_nursery() as nursery:
            nursery.start_soon(self._up, client, server, marked, nursery.cancel_scope)
            nursery.start_soon(self._down, client, server, marked, nursery.cancel_scope)

    async def _up(
        self,
        client: trio.SocketStream,
        server: trio.SocketStream,
        marked: list[bool],
        scope: trio.CancelScope,
    ) -> None:
        prepared = False
        try:
            async for data in client:
                prepared = prepared or MARK in data
                # Bind and Execute: the call itself, not its preparation.
                if prepared and data[:1] == b"B":
                    if self.lose_request:
                        self.lose_request = False
                        self.hit.set()
                        break
                    if self.lose_reply or self.keep_reply:
                        marked[0] = True
                await server.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()

    async def _down(
        self,
        client: trio.SocketStream,
        server: trio.SocketStream,
        marked: list[bool],
        scope: trio.CancelScope,
    ) -> None:
        try:
            async for data in server:
                if marked[0] and self.lose_reply:
                    self.lose_reply = False
                    self.hit.set()
                    break
                if marked[0] and self.keep_reply:
                    self.keep_reply = False
                    self.hit.set()
                    await trio.sleep_forever()
                await client.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()


@asynccontextmanager
async def cutting_proxy(url: str, folder: Path) -> AsyncIterator[tuple[CuttingProxy, str]]:
    """The proxy and the URL that goes through it."""
    parts = urlsplit(url)
    host = parse_qs(parts.query)["host"][0]
    proxy = CuttingProxy(f"{host}/.s.PGSQL.5432")
    listening = trio.socket.socket(trio.socket.AF_UNIX)
    await listening.bind(str(folder / ".s.PGSQL.5432"))
    listening.listen(32)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, proxy.serve, [trio.SocketListener(listening)])
        yield proxy, f"postgresql://scorebox@{parts.path}?host={quote(str(folder), safe='')}&port=5432"
        nursery.cancel_scope.cancel()
