"""A client that can break every rule: frames made and read byte by byte."""

import struct
from dataclasses import dataclass, field

import trio

from tests.gateway.standin import DEADLINE_S

MASK = b"\x0a\x0b\x0c\x0d"
HANDSHAKE = (
    b"GET /v1/socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def frame(opcode: int, payload: bytes, *, first: int = 0x80, masked: bool = True) -> bytes:
    """One frame; `first` holds the final and the reserved bits."""
    size = len(payload)
    bit = 0x80 if masked else 0
    if size < 126:
        head = bytes((first | opcode, bit | size))
    elif size < 1 << 16:
        head = struct.pack("!BBH", first | opcode, bit | 126, size)
    else:
        head = struct.pack("!BBQ", first | opcode, bit | 127, size)
    if not masked:
        return head + payload
    return head + MASK + bytes(byte ^ MASK[place % 4] for place, byte in enumerate(payload))


@dataclass
class RawSocket:
    """A bare TCP stream after (or before) the handshake."""

    stream: trio.SocketStream
    buffer: bytes = b""
    frames: list[tuple[int, bytes]] = field(default_factory=list)

    async def open(self, *, token: str | None = None, pipelined: bytes = b"") -> str:
        """Shake hands; `pipelined` goes out in the same segment. The status line of the answer."""
        authorization = b"" if token is None else f"Authorization: Bearer {token}\r\n".encode()
        await self.stream.send_all(HANDSHAKE + authorization + b"\r\n" + pipelined)
        return (await self.head()).split("\r\n")[0]

    async def head(self) -> str:
        """The head of an HTTP answer."""
        while b"\r\n\r\n" not in self.buffer:
            assert await self.fill(), f"the server left after {self.buffer!r}"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head.decode()

    async def fill(self) -> bool:
        with trio.fail_after(DEADLINE_S):
            data = await self.stream.receive_some(64 * 1024)
        self.buffer += data
        return bool(data)

    async def send(self, data: bytes) -> None:
        await self.stream.send_all(data)

    async def receive(self) -> tuple[int, bytes] | None:
        """Opcode and payload of the next frame, or None at the end of the stream."""
        while True:
            whole = self._whole()
            if whole is not None:
                return whole
            if not await self.fill():
                assert self.buffer == b"", "the stream ended inside a frame"
                return None

    async def receive_close(self) -> tuple[int, str]:
        """Code and reason of the close frame; other frames are kept in `frames`."""
        while (found := await self.receive()) is not None:
            opcode, payload = found
            if opcode == CLOSE:
                return struct.unpack("!H", payload[:2])[0], payload[2:].decode()
            self.frames.append(found)
        raise AssertionError("the stream ended without a close frame")

    def _whole(self) -> tuple[int, bytes] | None:
        if len(self.buffer) < 2:
            return None
        assert self.buffer[0] & 0xF0 == 0x80, "a server's frames are whole and use no extension"
        assert not self.buffer[1] & 0x80, "a server's frames are not masked"
        size, start = self.buffer[1], 2
        if size == 126:
            size, start = int.from_bytes(self.buffer[2:4], "big"), 4
        elif size == 127:
            size, start = int.from_bytes(self.buffer[2:10], "big"), 10
        if len(self.buffer) < start + size:
            return None
        opcode, payload = self.buffer[0] & 0x0F, self.buffer[start : start + size]
        self.buffer = self.buffer[start + size :]
        return opcode, payload
