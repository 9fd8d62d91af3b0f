"""The client's end of a WebSocket, and what its errors mean for who waits on it."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx
import trio
import trio_websocket
import wsproto.utilities

from config.errors import TokenRefused, Unexpected
from gateway.protocol import CLOSE_BAD_FRAMES, CLOSE_UNAUTHENTICATED, SOCKET_PATH, SUBPROTOCOL_JSON
from runtime.groups import sole_error

CONNECT_LIMIT_S = 10.0
CLOSE_LIMIT_S = 1.0
FRAME_LIMIT_BYTES = 16 * 1024 * 1024
"""The largest frame taken from a server: a document."""
FORBIDDEN_STATUS = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


class Lost(Exception):
    """The connection went away, or never came; another one may do."""


class Connection:
    """One WebSocket of texts. Made by `connect`; every method raises `Lost` when it is gone."""

    def __init__(self, url: str, socket: trio_websocket.WebSocketConnection, scope: trio.CancelScope) -> None:
        self._url = url
        self._socket = socket
        self._scope = scope
        self._gone = trio.Event()
        self._closing = False

    async def send(self, text: str) -> None:
        """Sends one frame."""
        with losing(self._url):
            await self._socket.send_message(text)

    async def receive(self) -> bytes:
        """The next frame."""
        with losing(self._url):
            message = await self._socket.get_message()
        return message.encode() if isinstance(message, str) else message

    async def close(self) -> None:
        """Says goodbye, without waiting long for the answer, and lets go of the socket."""
        self._closing = True
        with trio.move_on_after(CLOSE_LIMIT_S, shield=True):
            await self._socket.aclose()
        self._scope.cancel()
        with trio.CancelScope(shield=True):
            await self._gone.wait()


async def connect(nursery: trio.Nursery, url: str, headers: Mapping[str, str]) -> Connection:
    """Opens the socket of the server at `url` (http:// or https://); it lives in a task of the nursery.

    Raises:
        Lost: no connection now.
        TokenRefused, Unexpected: no connection ever, without a change.
    """
    with losing(url), trio.fail_after(CONNECT_LIMIT_S):
        connection: Connection = await nursery.start(_hold, url, headers)
    return connection


async def _hold(url: str, headers: Mapping[str, str], *, task_status: trio.TaskStatus[Connection]) -> None:
    """Opens the socket and keeps it until it is closed; whatever happens, the stream is given back."""
    address = httpx.URL(url)
    port = address.port or (443 if address.scheme == "https" else 80)
    connection: Connection | None = None
    try:
        with sole_error():
            async with await _stream(address, port) as stream, trio.open_nursery() as inner:
                socket = await trio_websocket.wrap_client_stream(
                    inner,
                    stream,
                    f"{address.host}:{port}",
                    SOCKET_PATH,
                    subprotocols=[SUBPROTOCOL_JSON],
                    extra_headers=[(name.encode(), value.encode()) for name, value in headers.items()],
                    max_message_size=FRAME_LIMIT_BYTES,
                )
                connection = Connection(url, socket, inner.cancel_scope)
                task_status.started(connection)
    except wsproto.utilities.LocalProtocolError:
        # trio-websocket answers a ping also where the goodbye is out, and fails on it.
        if connection is None or not connection._closing:
            raise
    finally:
        if connection is not None:
            connection._gone.set()


async def _stream(address: httpx.URL, port: int) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    if address.scheme == "https":
        return await trio.open_ssl_over_tcp_stream(
            address.host, port, ssl_context=ssl.create_default_context(), https_compatible=True
        )
    return await trio.open_tcp_stream(address.host, port)


@contextmanager
def losing(url: str) -> Iterator[None]:
    """Turns what a connection throws into `Lost`, or into what no new connection would mend."""
    try:
        yield
    except trio_websocket.ConnectionClosed as closed:
        code = closed.reason.code if closed.reason else None
        reason = closed.reason.reason if closed.reason else None
        if code == CLOSE_UNAUTHENTICATED:
            raise no_token(url, reason) from closed
        if code is not None and code >= CLOSE_BAD_FRAMES:
            raise Unexpected(f"{url} closed the socket for good: {reason or code}") from closed
        raise Lost(reason or f"the connection closed with {code}") from closed
    except trio_websocket.ConnectionRejected as rejected:
        if rejected.status_code in FORBIDDEN_STATUS:
            raise no_token(url) from rejected
        if rejected.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            raise Lost("the server takes no more sockets now") from rejected
        raise Unexpected(
            f"{url} has no WebSocket at {SOCKET_PATH} (it answered {rejected.status_code}); check the address"
        ) from rejected
    except (OSError, trio_websocket.HandshakeError, trio.BrokenResourceError) as error:
        raise Lost(str(error) or "the connection broke") from error
    except trio.TooSlowError as error:
        raise Lost("no connection in time") from error


def refused_token(url: str, status: int, sentence: str) -> TokenRefused:
    """The error for an answer of FORBIDDEN_STATUS: a token that is known, and not enough, says so itself."""
    return (
        no_token(url, sentence) if status == httpx.codes.UNAUTHORIZED else TokenRefused(f"{url}: {sentence}")
    )


def no_token(url: str, reason: str | None = None) -> TokenRefused:
    """The error for a token that a server does not take."""
    return TokenRefused(
        f"{url} does not take this token{f' ({reason})' if reason else ''}; "
        "make one with `scorebox token create --role operator` and give it with --token or SCOREBOX_TOKEN"
    )
