"""A client's bytes, made by hand: so that a benchmark measures the server and not its client."""

import socket
import struct

CONNECT_TIMEOUT_S = 20.0
RECEIVE_BYTES = 16 * 1024
MASK = b"\x11\x22\x33\x44"


def _handshake(token: str) -> bytes:
    """The head of an upgrade."""
    lines = (
        "GET /v1/socket HTTP/1.1",
        "Host: 127.0.0.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"Authorization: Bearer {token}",
    )
    return "\r\n".join([*lines, "", ""]).encode()


def connect(port: int, token: str) -> socket.socket:
    """An open WebSocket on loopback."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=CONNECT_TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(_handshake(token))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += connection.recv(RECEIVE_BYTES)
    return connection


def masked_text(payload: bytes) -> bytes:
    """A text frame as a client sends it, up to 64 KiB."""
    size = len(payload)
    head = bytes((0x81, 0x80 | size)) if size < 126 else struct.pack("!BBH", 0x81, 0x80 | 126, size)
    return head + MASK + bytes(byte ^ MASK[place % 4] for place, byte in enumerate(payload))
