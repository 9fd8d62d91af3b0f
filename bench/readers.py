"""Many sockets that watch one match and only count what they get: a process of its own.

    python -m bench.readers PORT TOKEN SOCKETS MATCH

Prints "ready" once every socket has had its first frame, then reads until standard input ends and prints
the bytes read since.
"""

import json
import os
import selectors
import socket
import sys

from bench.wire import connect, masked_text

RECEIVE_BYTES = 64 * 1024


def main(port: int, token: str, count: int, match: str) -> None:
    watch = masked_text(b'{"op":"watch","match":"%b","audience":"scorer"}' % match.encode())
    sockets = []
    for _ in range(count):
        connection = connect(port, token)
        connection.sendall(watch)
        sockets.append(connection)
    for connection in sockets:
        received = b""
        while b'"op":"document"' not in received:
            received += connection.recv(RECEIVE_BYTES)
        connection.setblocking(False)
    print(json.dumps("ready"), flush=True)
    print(count_bytes(sockets), flush=True)


def count_bytes(sockets: list[socket.socket]) -> int:
    """Bytes read from all sockets until standard input ends."""
    selector = selectors.DefaultSelector()
    for connection in sockets:
        selector.register(connection, selectors.EVENT_READ)
    standard_input = sys.stdin.fileno()
    selector.register(standard_input, selectors.EVENT_READ)
    total = 0
    buffer = bytearray(RECEIVE_BYTES)
    ending = False
    while True:
        ready = selector.select(timeout=0.2 if ending else None)
        if ending and not ready:
            return total
        for key, _ in ready:
            if key.fd == standard_input:
                ending = not os.read(standard_input, 1)
                if ending:
                    selector.unregister(standard_input)
            else:
                total += key.fileobj.recv_into(buffer)  # type: ignore[union-attr]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
