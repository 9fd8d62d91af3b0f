"""How many workers a pool has: decided over plain data, without processes or clocks."""

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """The limits of one pool. Settings of the server, read at its start."""

    warm: int = 2
    """Workers kept ready."""
    most: int = 4
    """Workers at the same time, starting ones included."""
    call_deadline_s: float = 0.25
    """Wall time of one call from the moment it is handed to a worker."""
    waiting_most: int = 1024
    """Calls that may wait for a worker; one more is refused at once."""
    waiting_s: float = 2.0
    """How long a call may wait for a worker."""
    grow_after_s: float = 0.02
    """A call that waits this long brings another worker, up to `most`."""
    suspect_after_s: float = 0.1
    """A worker in one call for this long is not warm: its replacement starts before it is killed."""
    surplus_idle_s: float = 60.0
    """A worker beyond `warm` ends after this long without a call."""
    idle_stop_s: float = 30 * 60.0
    """A pool stops this long after its last live match and its last call."""
    calls_most: int = 20_000
    """A worker is replaced after this many calls."""
    nice: int = 0
    """By how much its workers yield to other processes, as the kernel counts it: 0 to 19."""
    memory_mark_bytes: int = 128 * 1024 * 1024
    """A worker is replaced once it holds this much (resident)."""
    memory_look_calls: int = 200
    """Its memory is looked at every so many calls."""
    hello_deadline_s: float = 5.0
    """How long a new worker may take to load the sport and answer."""
    backoff_first_s: float = 0.1
    """The pause after a second failed spawn running (the first is tried again at once); then it doubles."""
    failures_most: int = 5
    """Failed spawns within `failures_window_s` after which the pool rests."""
    failures_window_s: float = 30.0
    rest_s: float = 60.0


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One worker that said hello. `since_s` is how long it has been idle or in its call."""

    key: int
    busy: bool
    since_s: float
    worn: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now: how many workers to start, which (idle) ones to stop."""

    start: int
    stop: tuple[int, ...] = ()


def plan(
    workers: list[WorkerView], starting: int, longest_wait_s: float, wanted: bool, limits: PoolLimits
) -> Plan:
    """The plan for a pool.

    `starting` counts workers that have not said hello; `longest_wait_s` is how long the first waiting call
    has waited (0 where none does); `wanted` is False where the pool should end.
    """
    idle = [worker for worker in workers if not worker.busy]
    if not wanted:
        return Plan(0, tuple(worker.key for worker in idle))
    good = [
        worker
        for worker in workers
        if not worker.worn and not (worker.busy and worker.since_s >= limits.suspect_after_s)
    ]
    start = max(0, limits.warm - len(good) - starting)
    if longest_wait_s >= limits.grow_after_s and starting == 0:
        start = max(start, 1)
    full = len(workers) + starting >= limits.most
    # A worn worker goes once another can take its place, or must make room for it.
    stop = [worker.key for worker in idle if worker.worn and (len(good) >= limits.warm or full)]
    surplus = [worker for worker in idle if not worker.worn and worker.since_s >= limits.surplus_idle_s]
    stop += [worker.key for worker in surplus[: max(0, len(good) - limits.warm)]]
    return Plan(min(start, max(0, limits.most - len(workers) - starting)), tuple(stop))


class Backoff:
    """When the next spawn may be tried: a pause that doubles, and a rest after too many failures.

    A failure is a worker that ends before its first call or between two: not one that a call killed.
    """

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._failures: deque[float] = deque(maxlen=limits.failures_most)
        self._pause = 0.0
        self.not_before = 0.0
        """Monotonic time, in seconds."""
        self.resting = False
        """True after too many failures, until a worker answers a call."""

    def failed(self, now: float) -> None:
        """A spawn failed at `now`."""
        self._failures.append(now)
        within = now - self._failures[0] <= self._limits.failures_window_s
        self.resting = len(self._failures) == self._limits.failures_most and within
        self.not_before = now + (self._limits.rest_s if self.resting else self._pause)
        self._pause = min(max(self._limits.backoff_first_s, self._pause * 2), self._limits.rest_s)

    def succeeded(self) -> None:
        """A worker answered a call."""
        self._failures.clear()
        self._pause = 0.0
        self.not_before = 0.0
        self.resting = False
