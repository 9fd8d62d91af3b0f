"""Far more taps than a server can take: a process of its own.

    python -m bench.flood < plan

The plan is one JSON line {"port", "scorers": [[match, saw, token], …], "rude": [[match, saw, token], …],
"seconds", "every"}. A scorer always has a next tap: he waits for his answer, waits as long as he is told, and
sends the same id again. A rude one never waits: he writes as fast as his socket takes, answers no ping, and
comes again when he is thrown out. Every `every` seconds a line {"at", "answers": {outcome or reason: count},
"p50_ms", "p99_ms", "worst_ms", "silent_s"} tells of the scorers' answers since the last (`silent_s`: the
longest that anyone waits for an answer just now), and "rude" how many answers the rude ones had in all.
"""

import heapq
import json
import selectors
import sys
import time
import uuid
from collections import Counter
from statistics import quantiles
from typing import Any

from bench.wire import connect, masked_text, texts

RECEIVE_BYTES = 64 * 1024
WRITES_AT_ONCE = 8
"""Of a rude one, so that the scorers of this process have their turn."""
FULL_CIRCLE = {"code": "cricket.interval", "input": {"kind": "drinks"}}
"""Always legal once an innings has begun, any number of times."""


class Tapper:
    """A scorer with a queue that never ends."""

    def __init__(self, port: int, match: str, saw: int, token: str) -> None:
        self.connection = connect(port, token)
        self.match, self.saw = match, saw
        self.sent_at: float | None = None
        self._begun = False
        self._id = ""
        self._received = bytearray()

    def tap(self, *, again: bool = False) -> None:
        """The next command, or the last one again."""
        if not again:
            self._id = str(uuid.uuid4())
        tap = FULL_CIRCLE if self._begun else {"code": "cricket.innings", "input": {"batting": "A"}}
        frame = {"op": "command", "id": self._id, "match": self.match, "saw": self.saw, **tap}
        self.sent_at = time.perf_counter()
        self.connection.sendall(masked_text(json.dumps(frame).encode()))

    def answers(self) -> list[dict[str, Any]]:
        """What came."""
        self._received += self.connection.recv(RECEIVE_BYTES)
        return [json.loads(payload) for payload in texts(self._received, self.connection)]

    def heard(self, answer: dict[str, Any]) -> float:
        """Takes an answer; the seconds until the next tap."""
        self.sent_at = None
        if answer["outcome"] == "accepted":
            self.saw, self._begun = answer["seq"], True
            return 0.0
        if answer["outcome"] == "try_again":
            return float(answer["after_ms"]) / 1e3
        raise SystemExit(f"neither accepted nor to be tried again: {answer}")


class Rude:
    """One who writes without end, and reads what comes only so as not to be closed."""

    def __init__(self, port: int, match: str, saw: int, token: str) -> None:
        self._door = port, token
        self._match, self._saw = match, saw
        self.answered = 0
        self.enter()

    def enter(self) -> None:
        """A new connection."""
        self.connection = connect(*self._door)
        self.connection.setblocking(False)
        self._left = memoryview(b"")
        self._received = bytearray()

    def write(self) -> None:
        """As much as goes, up to a good deal."""
        try:
            for _ in range(WRITES_AT_ONCE):
                if not self._left:
                    frame = {"op": "command", "id": str(uuid.uuid4()), "match": self._match, "saw": self._saw}
                    self._left = memoryview(masked_text(json.dumps(frame | FULL_CIRCLE).encode()))
                self._left = self._left[self.connection.send(self._left) :]
        except BlockingIOError:
            pass

    def read(self) -> None:
        """Everything there is."""
        try:
            while data := self.connection.recv(RECEIVE_BYTES):
                self._received += data
                self.answered += len(texts(self._received))
            raise ConnectionResetError
        except BlockingIOError:
            pass


class Flood:
    """All of them, for so many seconds."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._selector = selectors.DefaultSelector()
        self._due: list[tuple[float, int, Tapper, bool]] = []
        self._tappers = [Tapper(plan["port"], *one) for one in plan["scorers"]]
        self._rude = [Rude(plan["port"], *one) for one in plan["rude"]]
        for tapper in self._tappers:
            self._selector.register(tapper.connection, selectors.EVENT_READ, tapper)
        for rude in self._rude:
            self._selector.register(rude.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, rude)
        self._latencies: list[float] = []
        self._answers: Counter[str] = Counter()

    def run(self, seconds: float, every: float) -> None:
        """Flood, and tell."""
        started = told = time.perf_counter()
        for number, tapper in enumerate(self._tappers):
            heapq.heappush(self._due, (started, number, tapper, False))
        number = len(self._tappers)
        while (now := time.perf_counter()) < started + seconds:
            while self._due and self._due[0][0] <= now:
                _, _, tapper, again = heapq.heappop(self._due)
                tapper.tap(again=again)
            wait = max(0.0, min(self._due[0][0] - now if self._due else every, every / 4))
            for key, events in self._selector.select(wait):
                if isinstance(key.data, Rude):
                    self._suffer(key.data, events)
                    continue
                for answer in key.data.answers():
                    number += 1
                    self._latencies.append(time.perf_counter() - key.data.sent_at)
                    again = answer["outcome"] != "accepted"
                    self._answers[answer.get("reason", answer["outcome"])] += 1
                    due = time.perf_counter() + key.data.heard(answer)
                    heapq.heappush(self._due, (due, number, key.data, again))
            if now - told >= every:
                told = now
                self._tell(now - started)

    def _suffer(self, rude: Rude, events: int) -> None:
        try:
            rude.read()
            if events & selectors.EVENT_WRITE:
                rude.write()
        except ConnectionError:
            self._selector.unregister(rude.connection)
            rude.connection.close()
            rude.enter()
            self._selector.register(rude.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, rude)

    def _tell(self, at: float) -> None:
        now = time.perf_counter()
        waiting = [now - tapper.sent_at for tapper in self._tappers if tapper.sent_at is not None]
        spent = sorted(self._latencies) or [0.0]
        cuts = quantiles(spent, n=100) if len(spent) > 1 else spent * 99
        line = {
            "at": at,
            "answers": dict(self._answers),
            "p50_ms": cuts[49] * 1e3,
            "p99_ms": cuts[98] * 1e3,
            "worst_ms": spent[-1] * 1e3,
            "silent_s": max(waiting, default=0.0),
            "rude": sum(rude.answered for rude in self._rude),
        }
        print(json.dumps(line), flush=True)
        self._latencies.clear()
        self._answers.clear()


def main() -> None:
    """Carry out the plan."""
    plan = json.loads(sys.stdin.readline())
    Flood(plan).run(plan["seconds"], plan["every"])
    print(json.dumps({"over": True}), flush=True)


if __name__ == "__main__":
    main()
