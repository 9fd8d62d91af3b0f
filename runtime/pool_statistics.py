"""What a pool and its workers are doing, as it is shown and waited for. Plain data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerStatistics:
    """One worker, for the status page and tests."""

    pid: int
    state: str
    """idle, live or background (in a call of that kind), dead (killed, being reaped)."""
    worn: bool
    """To be replaced: many calls, or much memory."""
    guard: str
    """The level its guard was found to hold (`runtime.worker.guard.level`)."""
    guard_lacks: str
    """Why it is not full; empty where it is."""
    calls: int
    cpu_us: int
    slow_calls: int
    rss_bytes: int
    last_answer_age_s: float | None
    printed_bytes: int


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """One pool, for the status page and tests."""

    sport: str
    version: str
    code_sha: str
    matches: int
    """Live matches that hold it."""
    starting: int
    waiting_live: int
    waiting_background: int
    calls: int
    rules_failed: int
    lost: dict[str, int]
    """Workers lost in a call, by reason; calls cancelled by their caller under "cancelled", code that tried
    what is forbidden under "forbidden"."""
    minimum_guard: str
    """A worker whose guard is weaker is not used."""
    trouble: str | None
    """Why the last worker could not be had, until one can."""
    spawn_failures: int
    resting: bool
    hello_ms: float | None
    """From order to hello, of the newest worker."""
    workers: tuple[WorkerStatistics, ...]
