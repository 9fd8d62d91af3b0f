"""The client's end of a socket, against a server made of bytes."""

import base64
import hashlib

import trio

from config.connection import connect

ACCEPT_SUFFIX = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PING = b"\x89\x04late"
DEADLINE_S = 20.0


async def pings_on_goodbye(stream: trio.SocketStream) -> None:
    """Takes the upgrade; answers the client's goodbye with a ping that was on its way."""
    async with stream:
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some()
        lines = [line.partition(b": ") for line in head.split(b"\r\n")]
        key = next(value for name, _, value in lines if name.lower() == b"sec-websocket-key")
        accept = base64.b64encode(hashlib.sha1(key + ACCEPT_SUFFIX).digest())
        await stream.send_all(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept + b"\r\nSec-WebSocket-Protocol: scorebox.json\r\n\r\n"
        )
        assert await stream.receive_some()
        await stream.send_all(PING)
        await stream.receive_some()


async def test_a_ping_that_meets_the_goodbye_ends_nothing_else() -> None:
    with trio.fail_after(DEADLINE_S):
        async with trio.open_nursery() as nursery:
            listeners = await nursery.start(
                lambda task_status: trio.serve_tcp(
                    pings_on_goodbye, 0, host="127.0.0.1", task_status=task_status
                )
            )
            port = listeners[0].socket.getsockname()[1]
            connection = await connect(nursery, f"http://127.0.0.1:{port}", {})
            await connection.close()
            nursery.cancel_scope.cancel()
