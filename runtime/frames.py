"""The frames between the server and a worker: sans-I/O, no sockets anywhere.

A frame is a 4-byte big-endian length and that many bytes of msgpack (design, section 4). The length is
looked at before anything is allocated for it. After an error a decoder stays broken: nobody knows
where the next frame starts, so the stream has to be thrown away.

Workers import this module: it stands on msgpack and the standard library alone.
"""

from typing import Any, NoReturn

import msgpack

from runtime.errors import FrameError, FrameMalformed, FrameTooLong

FRAME_LIMIT_BYTES = 1024 * 1024
"""The largest body of a frame, either way."""
HEADER_BYTES = 4

# One packer for the process: a new one for every frame would allocate its 256 KB buffer each time.
_pack = msgpack.Packer(use_bin_type=True, autoreset=True).pack


def encode(message: Any, limit: int = FRAME_LIMIT_BYTES) -> bytes:
    """The frame of a message of plain data (None, bool, int, float, str, bytes, list, dict).

    Raises:
        FrameTooLong: the body has more than `limit` bytes.
        FrameMalformed: the message holds something that is not plain data.
    """
    try:
        body: bytes = _pack(message)
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameMalformed(f"a message is not plain data: {error}") from error
    if len(body) > limit:
        raise FrameTooLong(f"a message has {len(body)} bytes, a frame takes {limit}")
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def _no_extension(code: int, data: bytes) -> NoReturn:
    raise ValueError(f"extension type {code} with {len(data)} bytes is not plain data")


def _decode_body(body: Any) -> Any:
    try:
        return msgpack.unpackb(body, raw=False, ext_hook=_no_extension)
    except Exception as error:
        # msgpack raises a handful of unrelated classes for bad bytes; all mean the same here.
        raise FrameMalformed(f"a frame's body of {len(body)} bytes is no msgpack: {error}") from error


class FrameDecoder:
    """Turns bytes, in pieces of any size, into messages."""

    def __init__(self, limit: int = FRAME_LIMIT_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._broken: FrameError | None = None

    @property
    def pending_bytes(self) -> int:
        """Bytes of a frame that is not complete yet."""
        return len(self._buffer)

    def receive(self, data: bytes) -> list[Any]:
        """The messages that these bytes complete, oldest first.

        Raises:
            FrameTooLong: a header announces more than the limit.
            FrameMalformed: a body is not msgpack.
        """
        if self._broken is not None:
            raise self._broken
        try:
            if not self._buffer and len(data) >= HEADER_BYTES:
                length = int.from_bytes(data[:HEADER_BYTES], "big")
                if length == len(data) - HEADER_BYTES and length <= self._limit:
                    # The common case: one read, one whole frame, nothing to copy.
                    return [_decode_body(memoryview(data)[HEADER_BYTES:])]
            return self._receive_pieces(data)
        except FrameError as error:
            self._broken = error
            self._buffer.clear()
            raise

    def _receive_pieces(self, data: bytes) -> list[Any]:
        buffer = self._buffer
        buffer += data
        messages = []
        start = 0
        while len(buffer) - start >= HEADER_BYTES:
            length = int.from_bytes(buffer[start : start + HEADER_BYTES], "big")
            if length > self._limit:
                raise FrameTooLong(f"a frame announces {length} bytes, {self._limit} are allowed")
            end = start + HEADER_BYTES + length
            if len(buffer) < end:
                break
            messages.append(_decode_body(bytes(buffer[start + HEADER_BYTES : end])))
            start = end
        del buffer[:start]
        return messages
