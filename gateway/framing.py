"""WebSocket frames as bytes (RFC 6455): splitting what a client sends, building what it gets. No I/O.

The library on the stream (trio-websocket) does the handshake, pings, pongs and closing. Data frames are
split here instead, because a command then costs a tenth of the time: the splitter takes whole data
messages out of the stream and leaves every control frame to the library.
"""

import struct
from dataclasses import dataclass

from gateway.protocol import CLOSE_TOO_BIG

TEXT = 0x1
BINARY = 0x2
CLOSE = 0x8
CLOSE_FIRST_BYTE = 0x88
PROTOCOL_ERROR = 1002
NOT_UTF8 = 1007
CLOSE_REASON_LIMIT_BYTES = 123

_FINAL = 0x80
_RESERVED = 0x70
_MASKED = 0x80
_LENGTH_16 = 126
_LENGTH_64 = 127
_CONTROL_LIMIT_BYTES = 125
_CONTROLS = frozenset((CLOSE, 0x9, 0xA))


@dataclass(frozen=True, slots=True)
class Message:
    """One whole data message. Text is valid UTF-8, still as bytes."""

    binary: bool
    payload: bytes


@dataclass(frozen=True, slots=True)
class Control:
    """One whole control frame exactly as it came, for the library."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Violation:
    """The client broke the protocol: close with this code. Nothing after it is read."""

    code: int
    reason: str


class FrameSplitter:
    """Splits a client's bytes into data messages and control frames, in the order they came.

    Feed bytes, then take items until None. Never holds more than `limit_bytes` of one message.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._buffer = bytearray()
        self._fragments: bytearray | None = None
        self._fragments_binary = False

    def feed(self, data: bytes) -> None:
        """Take bytes as they came from the network."""
        self._buffer += data

    def take(self) -> Message | Control | Violation | None:
        """The next whole item, or None when more bytes are needed."""
        while True:
            buffer = self._buffer
            if len(buffer) < 2:
                return None
            first, second = buffer[0], buffer[1]
            opcode = first & 0x0F
            if (violation := self._unfit(first, second)) is not None:
                return violation
            length = second & 0x7F
            start = 6
            if length == _LENGTH_16:
                if len(buffer) < 4:
                    return None
                length = buffer[2] << 8 | buffer[3]
                start = 8
            elif length == _LENGTH_64:
                if len(buffer) < 10:
                    return None
                length = int.from_bytes(buffer[2:10], "big")
                start = 14
            held = len(self._fragments) if self._fragments is not None and opcode not in _CONTROLS else 0
            if length + held > self._limit:
                return Violation(CLOSE_TOO_BIG, f"a frame may have {self._limit} bytes")
            end = start + length
            if len(buffer) < end:
                return None
            if opcode in _CONTROLS:
                control = Control(bytes(buffer[:end]))
                del buffer[:end]
                return control
            payload = _unmask(bytes(buffer[start:end]), bytes(buffer[start - 4 : start]))
            del buffer[:end]
            if (item := self._data(first, opcode, payload)) is not None:
                return item

    def _unfit(self, first: int, second: int) -> Violation | None:
        opcode = first & 0x0F
        if first & _RESERVED:
            return Violation(PROTOCOL_ERROR, "a reserved bit is set and no extension was agreed")
        if not second & _MASKED:
            return Violation(PROTOCOL_ERROR, "a client's frames must be masked")
        if opcode in _CONTROLS:
            if not first & _FINAL or second & 0x7F > _CONTROL_LIMIT_BYTES:
                return Violation(PROTOCOL_ERROR, "a control frame is whole and has at most 125 bytes")
        elif opcode in (TEXT, BINARY):
            if self._fragments is not None:
                return Violation(PROTOCOL_ERROR, "a message began inside another one")
        elif opcode != 0:
            return Violation(PROTOCOL_ERROR, f"there is no opcode {opcode}")
        elif self._fragments is None:
            return Violation(PROTOCOL_ERROR, "a continuation without a beginning")
        return None

    def _data(self, first: int, opcode: int, payload: bytes) -> Message | Violation | None:
        """A message made whole by this frame, or None while fragments are missing."""
        if not first & _FINAL:
            if self._fragments is None:
                self._fragments = bytearray()
                self._fragments_binary = opcode == BINARY
            self._fragments += payload
            return None
        binary = opcode == BINARY
        if self._fragments is not None:
            payload = bytes(self._fragments) + payload
            binary = self._fragments_binary
            self._fragments = None
        if not binary and not payload.isascii():
            try:
                payload.decode()
            except UnicodeDecodeError:
                return Violation(NOT_UTF8, "a text frame is not UTF-8")
        return Message(binary, payload)


def _unmask(payload: bytes, key: bytes) -> bytes:
    """XOR with the repeated key, as one big integer: a microsecond for a command."""
    size = len(payload)
    mask = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(mask, "little")).to_bytes(size, "little")


def data_frame(payload: bytes, *, binary: bool) -> bytes:
    """A whole unmasked data frame, as a server sends it."""
    return _frame(BINARY if binary else TEXT, payload)


def close_frame(code: int, reason: str) -> bytes:
    """A close frame; the reason is cut to the 123 bytes that fit, at a character's edge."""
    text = reason.encode()[:CLOSE_REASON_LIMIT_BYTES].decode(errors="ignore").encode()
    return _frame(CLOSE, struct.pack("!H", code) + text)


def _frame(opcode: int, payload: bytes) -> bytes:
    size = len(payload)
    if size < _LENGTH_16:
        return bytes((_FINAL | opcode, size)) + payload
    if size < 1 << 16:
        return struct.pack("!BBH", _FINAL | opcode, _LENGTH_16, size) + payload
    return struct.pack("!BBQ", _FINAL | opcode, _LENGTH_64, size) + payload
