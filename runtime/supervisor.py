"""The supervisor: starts actors, restarts those that fail, and rests those that fail too often.

Restart intensity follows Erlang/OTP: up to five restarts in thirty seconds. Past it the child rests for a
minute while its siblings go on, an alert is raised, and readiness fails if the child is essential.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog
import trio

from runtime.alerts import AlertBoard

RESTARTS = 5
RESTART_WINDOW_S = 30.0
REST_S = 60.0

log = structlog.get_logger("scorebox.supervisor")


class Intensity:
    """Counts failures in a window of time. Pure: the clock is an argument."""

    def __init__(self, restarts: int = RESTARTS, window_s: float = RESTART_WINDOW_S) -> None:
        self._restarts = restarts
        self._window_s = window_s
        self._failures: deque[float] = deque()

    def failed(self, now: float) -> bool:
        """Note a failure at `now` (monotonic seconds); True when it is one too many."""
        self._failures.append(now)
        while self._failures and self._failures[0] < now - self._window_s:
            self._failures.popleft()
        if len(self._failures) > self._restarts:
            self._failures.clear()
            return True
        return False


@dataclass(slots=True)
class Child:
    """A supervised task as the status page shows it. `state` is running, resting or ended."""

    name: str
    essential: bool
    state: str = "running"
    restarts: int = 0
    last_error: str | None = None


class Supervisor:
    """Runs children in a nursery of its own; one child's failure never reaches another."""

    def __init__(self, nursery: trio.Nursery, alerts: AlertBoard) -> None:
        self._nursery = nursery
        self._alerts = alerts
        self.children: dict[str, Child] = {}

    async def start(
        self, name: str, run: Callable[..., Awaitable[Any]], *, essential: bool = False, signals: bool = False
    ) -> None:
        """Start a child. `run` is called again after each failure; returning ends the child.

        With `signals` the first run gets a `task_status`, and this call waits until it has started.
        """
        child = Child(name, essential)
        self.children[name] = child
        if signals:
            await self._nursery.start(self._watch_signalling, child, run)
        else:
            self._nursery.start_soon(self._watch, child, run)

    def unready(self) -> list[str]:
        """The essential children that do not run."""
        return [
            child.name for child in self.children.values() if child.essential and child.state != "running"
        ]

    async def _watch_signalling(
        self, child: Child, run: Callable[..., Awaitable[Any]], *, task_status: trio.TaskStatus[None]
    ) -> None:
        first = True

        async def once() -> None:
            nonlocal first
            if first:
                first = False
                await run(task_status=task_status)
            else:
                await run(task_status=trio.TASK_STATUS_IGNORED)

        await self._watch(child, once)

    async def _watch(self, child: Child, run: Callable[[], Awaitable[Any]]) -> None:
        intensity = Intensity()
        while True:
            try:
                await run()
            except Exception as error:
                child.last_error = repr(error)
                log.exception("child failed", child=child.name)
            else:
                child.state = "ended"
                self.children.pop(child.name, None)
                return
            if intensity.failed(trio.current_time()):
                child.state = "resting"
                self._alerts.raise_alert(
                    "actor_resting",
                    child.name,
                    f"{child.name} failed more than {RESTARTS} times in {RESTART_WINDOW_S:.0f} s "
                    f"and rests for {REST_S:.0f} s; last: {child.last_error}",
                )
                await trio.sleep(REST_S)
            child.state = "running"
            child.restarts += 1
