"""Calls that wait for a worker: first come first served, live ones before background ones."""

from collections import deque
from typing import Generic, Literal, TypeVar

import outcome
import trio

Priority = Literal["live", "background"]

W = TypeVar("W")


class _Place(Generic[W]):
    """One waiting task."""

    __slots__ = ("since", "task")

    def __init__(self, task: trio.lowlevel.Task, since: float) -> None:
        self.task = task
        self.since = since


class WaitingLine(Generic[W]):
    """Two lines of tasks. Whoever hands something over hands it to one task, for certain."""

    def __init__(self) -> None:
        self._lines: dict[Priority, deque[_Place[W]]] = {"live": deque(), "background": deque()}

    def count(self, priority: Priority) -> int:
        """How many wait."""
        return len(self._lines[priority])

    @property
    def total(self) -> int:
        """How many wait in both lines."""
        return len(self._lines["live"]) + len(self._lines["background"])

    def longest_wait_s(self, priority: Priority, now: float) -> float:
        """How long the first of a line has waited at `now` (trio's clock); 0 where nobody does."""
        line = self._lines[priority]
        return now - line[0].since if line else 0.0

    async def wait(self, priority: Priority) -> W:
        """Waits until something is handed over."""
        line = self._lines[priority]
        place: _Place[W] = _Place(trio.lowlevel.current_task(), trio.current_time())
        line.append(place)

        def leave(_: object) -> trio.lowlevel.Abort:
            line.remove(place)
            return trio.lowlevel.Abort.SUCCEEDED

        given: W = await trio.lowlevel.wait_task_rescheduled(leave)
        return given

    def hand_over(self, priority: Priority, given: W) -> None:
        """Wakes the first of a line, which must not be empty, with what it waited for."""
        place = self._lines[priority].popleft()
        trio.lowlevel.reschedule(place.task, outcome.Value(given))

    def send_away(self, make_error: "type[Exception]", *words: str) -> None:
        """Wakes everybody with an error, each with one of its own."""
        for line in self._lines.values():
            while line:
                trio.lowlevel.reschedule(line.popleft().task, outcome.Error(make_error(*words)))
