"""Many tablets, each sending its next command when the last is answered: a process of its own.

    python -m bench.tablets PORT TOKEN TABLETS COMMANDS MATCH

Prints "ready" once connected, starts at the first line of standard input, and prints the seconds it took.
"""

import json
import selectors
import sys
import time
from uuid import UUID

from bench.wire import connect, masked_text

RECEIVE_BYTES = 16 * 1024


def main(port: int, token: str, tablets: int, commands: int, match: str) -> None:
    selector = selectors.DefaultSelector()
    for _ in range(tablets):
        selector.register(connect(port, token), selectors.EVENT_READ)
    frames = [masked_text(_command(number, match)) for number in range(commands)]
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()
    started = time.perf_counter()
    answered = 0
    for key in list(selector.get_map().values()):
        key.fileobj.sendall(frames.pop())  # type: ignore[union-attr]
    while answered < commands:
        for key, _ in selector.select():
            answer = key.fileobj.recv(RECEIVE_BYTES)  # type: ignore[union-attr]
            assert b'"outcome":"accepted"' in answer, answer
            answered += 1
            if frames:
                key.fileobj.sendall(frames.pop())  # type: ignore[union-attr]
    print(time.perf_counter() - started, flush=True)


def _command(number: int, match: str) -> bytes:
    return (
        f'{{"op":"command","id":"{UUID(int=number)}","match":"{match}","code":"cricket.delivery",'
        f'"input":{{"striker":"A1","non_striker":"A2","bowler":"B9","bat":4}},"saw":{number},'
        '"sent_at":"2026-06-01T12:00:03.120Z","device":"tablet-7"}'
    ).encode()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
