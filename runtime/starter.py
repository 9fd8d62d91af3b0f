"""Where a crew gets its workers from: what it needs of a worker, and of whoever starts one."""

from typing import Any, Protocol

import trio

from runtime.output import BoundedOutput
from runtime.process import WorkerProcess
from runtime.spawner import Spawner, SpawnOrder


class Worker(Protocol):
    """One started worker, as a crew sees it: `WorkerProcess` says what each of these is."""

    name: str
    pid: int
    output: BoundedOutput
    ended: trio.Event
    calls: int
    cpu_us: int
    slow_calls: int
    answered_at: float | None

    @property
    def alive(self) -> bool:
        """False from the moment it is killed or found dead."""
        ...

    @property
    def exit_status(self) -> int | None:
        """How it ended; None before it is reaped."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    async def keep(self) -> None:
        """Wait for its end; a cancellation ends it."""
        ...

    async def hello(self, code_sha: str, deadline_s: float) -> dict[str, Any]:
        """Who it is, once it has loaded the sport."""
        ...

    async def call(self, op: str, payload: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        """One request and its reply."""
        ...

    def expire(self, now: float) -> None:
        """End the call whose deadline has passed."""
        ...


class Starter(Protocol):
    """Starts workers."""

    async def start(self, order: SpawnOrder, label: str) -> Worker:
        """A new worker, whose name begins with `label`. Raises as `Spawner.spawn`."""
        ...

    def close(self) -> None:
        """Start no more."""
        ...


class ProcessStarter:
    """Workers that are processes of their own."""

    def __init__(self) -> None:
        self._spawner = Spawner()

    async def start(self, order: SpawnOrder, label: str) -> Worker:
        """As `Starter.start`."""
        child = await self._spawner.spawn(order)
        return WorkerProcess(child, f"{label} (pid {child.popen.pid})")

    def close(self) -> None:
        """Ends the spawner's thread."""
        self._spawner.close()
