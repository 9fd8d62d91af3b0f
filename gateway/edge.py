"""The edge: the one public port. Reads each connection's first head and hands the connection on.

A WebSocket upgrade goes to trio-websocket over a stream of ours, everything else to hypercorn's server of
one connection (internal API, so its version is pinned): no second hop, and the client's address is kept.
hypercorn shields its writes without a deadline; the stream gives up a peer that takes nothing, and
the hard end of a drain closes the stream under it.
"""

import random
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from quart_trio import QuartTrio
from trio_websocket import ConnectionClosed, wrap_server_stream
from wsproto.utilities import ProtocolError

from gateway.addresses import Addresses, AddressLimits
from gateway.auth import Authenticator, Identity, bearer
from gateway.codec import choose
from gateway.counters import Counters
from gateway.errors import TokenUnchecked
from gateway.exchange import Exchange, NoTimer
from gateway.framing import close_frame
from gateway.heads import (
    BUSY,
    CROWDED,
    FULL,
    HEAD_LIMIT_BYTES,
    HEAD_TOO_LARGE,
    HEAD_TOO_LATE,
    TurnAway,
    Upgrade,
    end_of_head,
    judge,
    without_upgrade,
)
from gateway.lag import LoopLag
from gateway.listening import listen, stop_listening, tls_context
from gateway.protocol import CLOSE_GOING_AWAY, CLOSE_TRY_LATER, FRAME_LIMIT_BYTES
from gateway.service import Service
from gateway.sockets import ClientSocket, Closing, Heartbeat
from gateway.stream import EdgeStream, HttpStream, WebSocketStream

HEAD_DEADLINE_S = 10.0
KEEP_ALIVE_S = 15.0
"""An HTTP connection without a request is closed after this."""
ACCEPT_PAUSE_S = 0.1
"""Nothing could be accepted: wait a little rather than spin."""
HANDSHAKE_DEADLINE_S = 10.0
WATCHING_PATHS = ("/health", "/metrics", "/status")
TURN_AWAY_S = 2.0
REQUESTS_LIMIT = 512
"""HTTP requests under way at once; those that watch the server itself are not counted."""
JITTER_S = (0.5, 5.0)
"""Clients come back spread over this time after a drain."""

log = structlog.get_logger("scorebox.edge")


@dataclass(frozen=True, slots=True)
class EdgeSettings:
    """Where the edge listens and how much it takes."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 takes a free one."""
    certificate: Path | None = None
    key: Path | None = None
    connections_limit: int = 10_000
    sockets_limit: int = 8_000
    requests_limit: int = REQUESTS_LIMIT
    addresses: AddressLimits = field(default_factory=AddressLimits)
    head_deadline_s: float = HEAD_DEADLINE_S
    keep_alive_s: float = KEEP_ALIVE_S
    heartbeat: Heartbeat = field(default_factory=Heartbeat)


class Edge:
    """Accepts connections until drained. Give `application` the counters and the lag of this edge."""

    def __init__(
        self,
        settings: EdgeSettings,
        *,
        service: Service,
        authenticator: Authenticator,
        application: QuartTrio,
        counters: Counters,
        lag: LoopLag,
    ) -> None:
        self._settings = settings
        self._service = service
        self._authenticator = authenticator
        self._application = application
        self._counters = counters
        self._lag = lag
        self._tls = tls_context(settings.certificate, settings.key)
        self._hypercorn = _hypercorn_config()
        self._context = WorkerContext(None)
        self._listeners: list[socket.socket] = []
        self._streams: set[EdgeStream] = set()
        self._http_streams: set[HttpStream] = set()
        self._heads: set[trio.CancelScope] = set()
        self._sockets: set[ClientSocket] = set()
        self._gone = trio.Event()
        self._gone.set()
        self._connections = 0
        self._requests = 0
        self._addresses = Addresses(settings.addresses)
        self.draining = False
        self.addresses: list[tuple[str, int]] = []
        """Host and port of every listener, once `run` has started."""

    async def run(
        self,
        listeners: list[socket.socket] | None = None,
        *,
        task_status: trio.TaskStatus[list[tuple[str, int]]] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve until cancelled, on sockets that listen already or on its own. Starts with the addresses.

        Raises:
            OSError: it cannot listen there.
        """
        self._listeners = (
            await listen(self._settings.host, self._settings.port) if listeners is None else listeners
        )
        self.addresses = [listener.getsockname()[:2] for listener in self._listeners]
        await self._application.startup()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._lag.run)
                for listener in self._listeners:
                    nursery.start_soon(self._accept, listener, nursery)
                task_status.started(self.addresses)
        finally:
            stop_listening(self._listeners)

    async def drain(self, deadline_s: float) -> None:
        """Stop accepting, finish what is under way, close sockets with 1001 and a time to come back.

        What is left after `deadline_s` is dropped; nothing can hold that up.
        """
        self.draining = True
        stop_listening(self._listeners)
        for head in tuple(self._heads):
            head.cancel()
        for stream in tuple(self._http_streams):
            stream.finish()
        with trio.move_on_after(deadline_s):
            async with trio.open_nursery() as nursery:
                for client in tuple(self._sockets):
                    jitter = random.uniform(*JITTER_S)  # noqa: S311
                    nursery.start_soon(client.drain, CLOSE_GOING_AWAY, f"retry {jitter:.1f}s")
                await self._gone.wait()
        for left in (*self._streams, *self._http_streams):
            left.abort()

    def statistics(self) -> dict[str, Any]:
        """Connections and sockets, for the status page."""
        return {
            "connections": self._connections,
            "sockets": len(self._sockets),
            "requests": self._requests,
            "addresses": self._addresses.count,
            "draining": self.draining,
            "loop_lag_ms": round(self._lag.worst_s * 1000, 1),
        }

    async def _accept(self, listener: socket.socket, nursery: trio.Nursery) -> None:
        """Take connections as they come."""
        with suppress(trio.ClosedResourceError):
            while not self.draining:
                await trio.lowlevel.wait_readable(listener)
                try:
                    raw, (host, *_) = listener.accept()
                except (BlockingIOError, ConnectionAbortedError, InterruptedError):
                    continue
                except OSError as error:
                    # No descriptors left, or the network's own trouble: both pass (accept(2)).
                    log.error("a connection could not be accepted", error=str(error))
                    await trio.sleep(ACCEPT_PAUSE_S)
                    continue
                if (address := self._addresses.enter(host)) is None:
                    # Not even an answer is waited for: this may be an attack.
                    self._counters.turned_away.labels(CROWDED.code).inc()
                    with suppress(OSError):
                        raw.send(CROWDED.response())
                    raw.close()
                    continue
                nursery.start_soon(self._serve, raw, address)

    async def _serve(self, raw: socket.socket, address: str) -> None:
        """One connection from its first byte to its last. What goes wrong in it ends it alone."""
        self._connections += 1
        self._counters.connections.inc()
        self._gone = trio.Event() if self._gone.is_set() else self._gone
        transport = trio.SocketStream(trio.socket.from_stdlib_socket(raw))
        try:
            if self._connections > self._settings.connections_limit:
                await self._turn_away(EdgeStream(transport, raw, b""), FULL)
            else:
                await self._first_head(transport, raw)
        except (trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            pass
        except Exception:
            log.exception("a connection failed")
        finally:
            transport.socket.close()
            self._addresses.leave(address)
            self._connections -= 1
            self._counters.connections.dec()
            if self._connections == 0:
                self._gone.set()

    async def _first_head(self, plain: trio.SocketStream, raw: socket.socket) -> None:
        transport: trio.SocketStream | trio.SSLStream[trio.SocketStream] = plain
        if self._tls is not None:
            transport = trio.SSLStream(plain, self._tls, server_side=True, https_compatible=True)
        received = await self._read_head(transport)
        end = end_of_head(received)
        if self.draining or (end is None and not received):
            return  # A connection opened ahead of need says nothing; it hears nothing.
        sending = raw if self._tls is None else None
        if end is None or end > HEAD_LIMIT_BYTES:
            late = end is None and len(received) <= HEAD_LIMIT_BYTES
            await self._turn_away(
                EdgeStream(transport, sending, b""), HEAD_TOO_LATE if late else HEAD_TOO_LARGE
            )
            return
        verdict = judge(bytes(received[:end]))
        if isinstance(verdict, TurnAway):
            await self._turn_away(EdgeStream(transport, sending, b""), verdict)
        elif isinstance(verdict, Upgrade):
            await self._upgrade(transport, sending, verdict, bytes(received[:end]), bytes(received[end:]))
        else:
            head = without_upgrade(bytes(received[:end]))
            rest = bytes(received[end:])
            await self._http(HttpStream(transport, sending, head + rest, self._settings.keep_alive_s))

    async def _read_head(self, transport: trio.abc.ReceiveStream) -> bytearray:
        """What came until the head was whole, too long, or too late."""
        received = bytearray()
        scope = trio.move_on_after(self._settings.head_deadline_s)
        self._heads.add(scope)
        try:
            with scope:
                while end_of_head(received) is None and len(received) <= HEAD_LIMIT_BYTES:
                    data = await transport.receive_some(HEAD_LIMIT_BYTES)
                    if not data:
                        received.clear()
                        break
                    received += data
        finally:
            self._heads.discard(scope)
        return received

    async def _turn_away(self, stream: EdgeStream, answer: TurnAway) -> None:
        self._counters.turned_away.labels(answer.code).inc()
        with trio.move_on_after(TURN_AWAY_S):
            await stream.send_all(answer.response())
            await stream.linger()
        stream.abort()

    async def _http(self, stream: HttpStream) -> None:
        async def application(scope: Any, receive: Any, send: Any) -> None:
            stream.begin()
            exchange = Exchange(scope, receive, send, last=lambda: stream.ending)
            stream.unread = lambda: not exchange.whole
            counted = not scope["path"].startswith(WATCHING_PATHS)
            self._requests += counted
            try:
                if counted and self._requests > self._settings.requests_limit:
                    await exchange.refuse(BUSY)
                else:
                    await self._application(scope, exchange.receive, exchange.send)
            finally:
                self._requests -= counted
                stream.done()

        self._http_streams.add(stream)
        try:
            # It needs of a stream what ours has; `socket` it reads for the addresses.
            server = TCPServer(ASGIWrapper(application), self._hypercorn, self._context, {}, stream)  # type: ignore[arg-type]
            server.idle_task = NoTimer()  # type: ignore[assignment]
            await server
        finally:
            self._http_streams.discard(stream)
            stream.abort()

    async def _upgrade(
        self,
        transport: trio.SocketStream | trio.SSLStream[trio.SocketStream],
        raw: socket.socket | None,
        asked: Upgrade,
        head: bytes,
        after_head: bytes,
    ) -> None:
        identity = await self._identify(asked.authorization)
        codec = choose(asked.protocols)
        stream = WebSocketStream(transport, raw, head, after_head)
        if isinstance(identity, TurnAway):
            await self._turn_away(stream, identity)
            return
        if codec is None:
            sentence = "none of the sub-protocols asked for is known: scorebox.json, scorebox.msgpack"
            await self._turn_away(stream, TurnAway(400, "unknown_subprotocol", sentence))
            return
        closing: Closing | None = None
        self._streams.add(stream)
        try:
            async with trio.open_nursery() as nursery:
                with trio.fail_after(HANDSHAKE_DEADLINE_S):
                    request = await wrap_server_stream(nursery, stream, max_message_size=FRAME_LIMIT_BYTES)
                    connection = await request.accept(subprotocol=codec if asked.protocols else None)
                if self.draining or len(self._sockets) >= self._settings.sockets_limit:
                    closing = Closing(CLOSE_TRY_LATER, "no room for another socket; try again later")
                    stream.last_word(close_frame(closing.code, closing.reason))
                else:
                    client = ClientSocket(
                        connection,
                        stream,
                        nursery=nursery,
                        service=self._service,
                        authenticator=self._authenticator,
                        counters=self._counters,
                        codec=codec,
                        token=None if identity is None else bearer(asked.authorization),
                        heartbeat=self._settings.heartbeat,
                    )
                    closing = await self._run_socket(client)
                nursery.cancel_scope.cancel()
        except* (
            trio.TooSlowError,
            trio.BrokenResourceError,
            trio.ClosedResourceError,
            ConnectionClosed,
            ProtocolError,
        ):
            # The client left in the middle, or went on talking after the close.
            pass
        finally:
            self._streams.discard(stream)
        if closing is not None:
            await stream.say_goodbye(close_frame(closing.code, closing.reason))
        stream.abort()

    async def _run_socket(self, client: ClientSocket) -> Closing | None:
        self._sockets.add(client)
        self._counters.sockets.inc()
        try:
            await client.run()
        finally:
            self._sockets.discard(client)
            self._counters.sockets.dec()
        return client.closing

    async def _identify(self, header: str | None) -> Identity | TurnAway | None:
        """Who comes with a header; nobody without one (a browser sends its token in a frame)."""
        if header is None:
            return None
        token = bearer(header)
        try:
            identity = None if token is None else await self._authenticator.identify(token)
        except TokenUnchecked as error:
            return TurnAway(503, "try_again", str(error), (("retry-after", "1"),))
        if identity is None:
            sentence = "this token is not known; ask for a new one"
            return TurnAway(401, "unauthenticated", sentence, (("www-authenticate", "Bearer"),))
        return identity


def _hypercorn_config() -> Config:
    config = Config()
    config.accesslog = None
    config.include_server_header = False
    config.h11_max_incomplete_size = HEAD_LIMIT_BYTES
    return config
