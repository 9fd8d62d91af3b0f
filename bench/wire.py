"""A client's bytes, made by hand: so that a benchmark measures the server and not its client."""

import socket
import struct

CONNECT_TIMEOUT_S = 20.0
RECEIVE_BYTES = 16 * 1024
TEXT, PING, PONG = 1, 9, 10
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
    return head + MASK + _masked(payload)


def texts(received: bytearray, connection: socket.socket | None = None) -> list[bytes]:
    """Takes the whole frames of a server off the front, each under 64 KiB: the payloads of its texts.

    Pings are answered where a connection is given.
    """
    found, at = [], 0
    while len(received) - at >= 2:
        size, start = received[at + 1] & 127, at + 2
        if size == 126:
            if len(received) < at + 4:
                break
            size, start = int.from_bytes(received[at + 2 : at + 4]), at + 4
        if len(received) < start + size:
            break
        opcode, payload = received[at] & 15, bytes(received[start : start + size])
        if opcode == TEXT:
            found.append(payload)
        elif opcode == PING and connection is not None:
            connection.sendall(bytes((0x80 | PONG, 0x80 | size)) + MASK + _masked(payload))
        at = start + size
    del received[:at]
    return found


def _masked(payload: bytes) -> bytes:
    size = len(payload)
    mask = (MASK * (size // 4 + 1))[:size]
    return (int.from_bytes(payload) ^ int.from_bytes(mask)).to_bytes(size)
