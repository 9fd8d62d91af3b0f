"""What goes wrong in a history, and when: drawn from its seed.

A history draws which kinds of fault it has and how often each (a swarm: one history has three kinds often,
another twelve seldom), then asks at every call. `calm` ends all faults, so that the history can come to rest.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import asyncpg

DATABASE_KINDS = (
    "database slow",
    "database stalls",
    "connection lost before the call",
    "connection lost after COMMIT",
    "statement times out",
    "disk full",
    "database fails inside",
    "read lost",
)
WORKER_KINDS = (
    "worker slow",
    "worker hangs asleep",
    "worker hangs computing",
    "worker dies with the request unread",
    "worker dies in the call",
    "worker dies after the reply",
    "worker out of memory",
    "worker answers garbage",
    "worker answers half a frame",
    "worker answers twice",
    "rules try what is forbidden",
    "worker cannot start",
    "worker says no hello",
    "worker dies idle",
)
CLIENT_KINDS = (
    "sent twice",
    "sent twice at once",
    "resent after accepted",
    "answer not waited for",
    "id used again for another",
    "stale saw",
    "saw from the future",
    "reordered",
)
WATCHER_KINDS = ("watcher lags", "watcher stops reading", "watcher leaves", "watcher resumes")
NODE_KINDS = (
    "node killed",
    "node drained",
    "database crashes",
    "connections cut",
    "workers killed",
    "actor fails",
)
KINDS = DATABASE_KINDS + WORKER_KINDS + CLIENT_KINDS + WATCHER_KINDS + NODE_KINDS

RATES = (0.01, 0.03, 0.1, 0.2)
"""How often an enabled kind strikes, when it is asked for."""
LATENCIES_S = (0.0005, 0.002, 0.01, 0.04)
SLOW_S = (0.1, 0.4, 1.5)
STALL_S = (5.5, 7.0, 13.0)
"""Longer than a commit may take."""


class Weather:
    """The faults of one history."""

    def __init__(self, random: Random) -> None:
        self.random = random
        share = random.choice((0.0, 0.1, 0.2, 0.4))
        self.rates = {kind: random.choice(RATES) for kind in KINDS if random.random() < share}
        self.latency = random.choice((0.0, 0.2, 0.5))
        """Part of the calls that take time at all."""
        self.counts: Counter[str] = Counter()
        self._calm = False

    def calm(self) -> None:
        """No more faults from here on."""
        self._calm = True

    def strikes(self, kind: str) -> bool:
        """Whether this fault happens now."""
        rate = self.rates.get(kind)
        if rate is None or self._calm or self.random.random() >= rate:
            return False
        self.counts[kind] += 1
        return True

    def latency_s(self) -> float:
        """How long something takes that goes well."""
        if not self.latency or self.random.random() >= self.latency:
            return 0.0
        return self.random.choice(LATENCIES_S)

    def pick(self, choices: Sequence[float]) -> float:
        return self.random.choice(choices)


@dataclass(slots=True)
class Fate:
    """What becomes of one statement. Seconds."""

    before_s: float = 0.0
    working_s: float = 0.0
    answer_s: float = 0.0
    lost_before: bool = False
    lost_after: bool = False
    error: Exception | None = None

    @property
    def plain(self) -> bool:
        """Whether it takes no time and comes to no harm in the server."""
        return not self.before_s and not self.working_s and self.error is None


class DatabaseFaults:
    """What becomes of statements."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather

    def of_commit(self) -> Fate:
        weather = self._weather
        fate = Fate(weather.latency_s(), weather.latency_s(), weather.latency_s())
        if weather.strikes("database slow"):
            fate.working_s = weather.pick(SLOW_S)
        if weather.strikes("database stalls"):
            # The client gives up, and the server goes on with it.
            fate.before_s, fate.working_s, fate.answer_s = weather.random.sample((*STALL_S, 0.0, 0.0), 3)
        if weather.strikes("connection lost before the call"):
            fate.lost_before = True
        if weather.strikes("connection lost after COMMIT"):
            fate.lost_after = True
        if weather.strikes("statement times out"):
            fate.error = asyncpg.QueryCanceledError("canceling statement due to statement timeout")
        if weather.strikes("disk full"):
            fate.error = asyncpg.DiskFullError("could not extend file: No space left on device")
        if weather.strikes("database fails inside"):
            fate.error = asyncpg.InternalServerError("unexpected zero page")
        return fate

    def of_read(self) -> Fate:
        weather = self._weather
        fate = Fate(weather.latency_s())
        if weather.strikes("database slow"):
            fate.working_s = weather.pick(SLOW_S)
        if weather.strikes("read lost"):
            fate.lost_before, fate.lost_after = weather.random.choice(((True, False), (False, True)))
        return fate

    def fence_terminates(self) -> bool:
        """Whether a terminated backend had not committed yet, or gets to its end first."""
        return self._weather.random.random() < 0.5
