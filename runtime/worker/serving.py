"""The loop of a worker: a request in, a reply out, with plain blocking reads and writes."""

import os
import traceback
from typing import NoReturn

from runtime.errors import FrameError, FrameMalformed, FrameTooLong
from runtime.frames import FrameDecoder, encode
from runtime.worker.limits import (
    EXIT_EOF,
    EXIT_MEMORY,
    EXIT_PROTOCOL,
    READ_BYTES,
    STACK_TEXT_LIMIT_CHARACTERS,
)
from runtime.worker.ops import Operations

STANDARD_ERROR = 2


def serve(operations: Operations, socket: int, stack: int) -> NoReturn:
    """Answers until the server hangs up, then ends the process.

    `socket` and `stack` are descriptors: of the protocol, and for the stack of a last error.
    """
    decoder = FrameDecoder()
    try:
        while data := os.read(socket, READ_BYTES):
            for request in decoder.receive(data):
                write(socket, reply_frame(operations, request))
        os._exit(EXIT_EOF)
    except (BrokenPipeError, ConnectionResetError):
        os._exit(EXIT_EOF)
    except FrameError as error:
        os.write(STANDARD_ERROR, f"{error}\n".encode())
        os._exit(EXIT_PROTOCOL)
    except MemoryError as error:
        try:
            text = "".join(traceback.format_exception(error))
            os.write(stack, text[-STACK_TEXT_LIMIT_CHARACTERS:].encode())
        finally:
            os._exit(EXIT_MEMORY)


def reply_frame(operations: Operations, request: object) -> bytes:
    """The frame of the reply; one that no frame can hold is a failure of the sport's code."""
    reply = operations.answer(request)
    try:
        return encode(reply)
    except (FrameTooLong, FrameMalformed) as error:
        return encode({"id": reply["id"], "ok": False, "error": operations.failed(error)})


def write(socket: int, frame: bytes) -> None:
    """Writes a whole frame."""
    sent = os.write(socket, frame)
    while sent < len(frame):
        sent += os.write(socket, memoryview(frame)[sent:])
