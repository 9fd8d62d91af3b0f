"""The whole edge over real sockets, in a thread that lives as long as the fuzzing: bytes in, no fault logged.

A connection that the server neither answers to the end nor closes is a fault too.
"""

import socket
import threading
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import structlog
import trio

from tests.fuzz.targets import Target
from tests.gateway.rawsocket import HANDSHAKE, frame
from tests.gateway.standin import serving

END_LIMIT_S = 20.0
"""A server that has not closed by then after the client's last byte hangs."""
METHODS = (b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"PATCH")
FAULTS = ("error", "critical")


class Edge:
    """A server in a thread of its own."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self._port = 0
        self._token = b""
        self._ready = threading.Event()
        # In place, as structlog's own testing does: a logger may have kept the list.
        self._processors = structlog.get_config()["processors"]
        self._before = list(self._processors)
        self._processors[:] = [self._note]
        threading.Thread(target=trio.run, args=(self._serve,), daemon=True).start()
        self._ready.wait()

    def end(self) -> None:
        """Let the log be what it was; the server goes on until the process ends."""
        self._processors[:] = self._before

    async def _serve(self) -> None:
        async with serving() as server:
            self._port, self._token = server.port, server.tokens["operator"].encode()
            self._ready.set()
            await trio.sleep_forever()

    def _note(self, _: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        if method in (*FAULTS, "exception"):
            self.faults.append(repr(event))
        raise structlog.DropEvent

    def bytes_in(self, data: bytes) -> None:
        """A whole connection: everything is sent, then the client's side ends."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=END_LIMIT_S) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
        faults, self.faults = self.faults, []
        assert not faults, faults

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self.bytes_in(data)

    def http(self, data: bytes) -> None:
        """The first line is the request line's start, the rest the body; the head around them is right."""
        line, _, body = data.partition(b"\n")
        method, _, target = line.partition(b" ")
        if method not in METHODS:
            method = METHODS[len(method) % len(METHODS)]
        head = b"%s /%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\n" % (
            method,
            bytes(byte for byte in target.lstrip(b"/") if 0x20 < byte < 0x7F),
            self._token,
        )
        self.bytes_in(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def socket(self, data: bytes) -> None:
        """A known scorer's frames: a byte of opcode and flags, a byte of length, the payload, and again."""
        sent = HANDSHAKE + b"Authorization: Bearer " + self._token + b"\r\n\r\n"
        while len(data) >= 2:
            kind, size = data[0], data[1]
            sent += frame(kind & 15, data[2 : 2 + size], first=0x80 ^ (kind & 0x70), masked=kind < 0x80)
            data = data[2 + size :]
        self.bytes_in(sent)


def edge_targets() -> dict[str, Callable[[], Target]]:
    """Name → what makes the target: a server is started for it."""
    return {
        "raw": lambda: Edge().raw,
        "http": lambda: Edge().http,
        "socket": lambda: Edge().socket,
    }
