"""Many scorers, each with a match of his own, sending ball after ball: a process of its own.

    python -m bench.scorers PORT TOKEN < plan

Every line of standard input is a plan, JSON {"matches": [[match, saw, K], …], "balls": N}: score N
commands of each match, after the K scored already. Each plan is answered with a line
{"seconds", "accepted", "latencies_us"}; the end of the input ends the process.
"""

import json
import selectors
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from itertools import islice

from bench.play import Tap, taps
from bench.wire import connect, masked_text

RECEIVE_BYTES = 256 * 1024
SEED = 7
PING, PONG = 9, 10
SHORT_HEAD_BYTES = 4
"""Every answer is longer; a ping with an empty payload waits for the answer behind it."""


class Scorer:
    """One tablet: sends a command, waits for its answer, sends the next."""

    def __init__(self, connection: socket.socket, match: str, saw: int, todo: Iterator[Tap]) -> None:
        self.connection = connection
        self.match = match
        self.saw = saw
        self.todo = todo
        self.sent_at = 0.0
        self.tried_again = 0
        self._last = b""
        self._received = b""

    def send(self) -> bool:
        """The next command; False when there is none."""
        tap = next(self.todo, None)
        if tap is None:
            return False
        code, given = tap
        frame = {"op": "command", "id": str(uuid.uuid4()), "match": self.match, "code": code, "input": given}
        self.sent_at = time.perf_counter()
        self._last = masked_text(json.dumps(frame | {"saw": self.saw, "device": "bench"}).encode())
        self.connection.sendall(self._last)
        return True

    def receive(self) -> bool:
        """Take what came; True once the answer is whole."""
        self._received += self.connection.recv(RECEIVE_BYTES)
        while (frame := self._frame()) is not None:
            opcode, payload = frame
            if opcode == PING:
                self.connection.sendall(bytes((0x80 | PONG, 0x80 | len(payload), 0, 0, 0, 0)) + payload)
                continue
            answer = json.loads(payload)
            if answer.get("outcome") == "try_again":
                self.tried_again += 1
                self.connection.sendall(self._last)
                continue
            if answer.get("outcome") != "accepted":
                raise SystemExit(f"not accepted: {answer}")
            self.saw = answer["seq"]
            return True
        return False

    def _frame(self) -> tuple[int, bytes] | None:
        """The first whole frame of what was received."""
        if len(self._received) < SHORT_HEAD_BYTES:
            return None
        size, start = self._received[1] & 127, 2
        if size == 126:
            size, start = int.from_bytes(self._received[2:4]), 4
        if len(self._received) < start + size:
            return None
        opcode, payload = self._received[0] & 15, self._received[start : start + size]
        self._received = self._received[start + size :]
        return opcode, payload


def score(scorers: list[Scorer]) -> dict[str, object]:
    """Let every scorer send all he has."""
    selector = selectors.DefaultSelector()
    latencies: list[int] = []
    started = time.perf_counter()
    for scorer in scorers:
        selector.register(scorer.connection, selectors.EVENT_READ, scorer)
        scorer.send()
    waiting = len(scorers)
    while waiting:
        for key, _ in selector.select():
            scorer = key.data
            if scorer.receive():
                latencies.append(round((time.perf_counter() - scorer.sent_at) * 1e6))
                if not scorer.send():
                    waiting -= 1
    return {
        "seconds": time.perf_counter() - started,
        "accepted": len(latencies),
        "tried_again": sum(scorer.tried_again for scorer in scorers),
        "latencies_us": latencies,
    }


def main(port: int, token: str) -> None:
    """Answer plans until the input ends."""
    connections: list[socket.socket] = []
    for line in sys.stdin:
        plan = json.loads(line)
        while len(connections) < len(plan["matches"]):
            connections.append(connect(port, token))
        scorers = [
            Scorer(connection, match, saw, islice(taps(SEED), done, done + plan["balls"]))
            for connection, (match, saw, done) in zip(connections, plan["matches"], strict=False)
        ]
        print(json.dumps(score(scorers)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
