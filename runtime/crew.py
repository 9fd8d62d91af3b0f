"""The workers of one version of a sport: started, given calls, replaced, stopped.

The crew's own task (`run`) decides nothing itself: it looks, asks `staffing.plan`, and does what that says.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import psutil
import structlog
import trio

from runtime.errors import (
    CodeMissing,
    CodeTampered,
    GuardTooWeak,
    PoolBusy,
    PoolClosed,
    SpawnFailed,
    WorkerGone,
    WorkerLost,
    rule_failure,
)
from runtime.pool_statistics import PoolStatistics, WorkerStatistics
from runtime.spawner import SpawnOrder
from runtime.staffing import Backoff, PoolLimits, WorkerView, plan
from runtime.starter import Starter, Worker
from runtime.versions import SportVersion
from runtime.waiting import Priority, WaitingLine
from runtime.worker.guard.level import Layer, Level

TICK_S = 0.02
"""How often a crew with calls in flight looks at itself, and so how late a deadline is seen to have passed.

An idle one sleeps until something is due.
"""

HAND_OVERS_MOST = 3
"""Workers tried for one call that were found dead before it was handed over."""

log = structlog.get_logger("scorebox.pool")


class _Worker:
    """A worker that said hello, and what the crew knows about it."""

    __slots__ = ("call", "guard", "guard_lacks", "key", "process", "since", "stopped", "worn")

    def __init__(self, key: int, process: Worker, hello: dict[str, Any], since: float) -> None:
        self.key = key
        self.process = process
        self.guard: str = hello["guard"]
        self.guard_lacks = "; ".join(hello.get("lacks", ()))
        self.call: Priority | None = None
        self.since = since
        self.worn = False
        self.stopped = False
        """Ended on purpose, or lost in a call."""


class Crew:
    """The workers of one code_sha. Made by `Pools`."""

    def __init__(
        self,
        version: SportVersion,
        verify: Callable[[], None],
        *,
        starter: Starter,
        limits: PoolLimits,
        hash_seed: int,
        matches: Callable[[], int],
        minimum_guard: Level,
        withheld: tuple[Layer, ...] = (),
    ) -> None:
        self.version = version
        self._limits = limits
        self._starter = starter
        self._matches = matches
        self._order = SpawnOrder(
            version.folder,
            version.package,
            version.code_sha,
            hash_seed,
            verify,
            nice=limits.nice,
            minimum_guard=minimum_guard,
            withheld=withheld,
        )
        self._workers: dict[int, _Worker] = {}
        self._idle: list[_Worker] = []
        self._keys = count(1)
        self._starting = 0
        self._line: WaitingLine[_Worker] = WaitingLine()
        self._backoff = Backoff(limits)
        self._spawn_error: CodeMissing | CodeTampered | SpawnFailed | None = None
        self._attention = trio.Event()
        self._asleep = False
        self._change = trio.Event()
        self._used_at = trio.current_time()
        self._calls = 0
        self._rules_failed = 0
        self._spawn_failures = 0
        self._lost: Counter[str] = Counter()
        self._hello_s: float | None = None
        self.closed = False

    async def call(
        self, op: str, payload: dict[str, Any], deadline_s: float, priority: Priority
    ) -> dict[str, Any]:
        """One call. See `Pools.call`."""
        tries = 0
        while True:
            tries += 1
            worker = self._take(priority) or await self._wait(priority)
            try:
                reply = await worker.process.call(op, payload, deadline_s)
                self._judge(worker, reply)
                break
            except WorkerGone as gone:
                self._lost[gone.reason] += 1
                if tries == HAND_OVERS_MOST:
                    raise
            except WorkerLost as lost:
                self._lost[lost.reason] += 1
                log.warning(
                    "worker_lost", worker=worker.process.name, op=op, reason=lost.reason, detail=lost.detail
                )
                raise
            except trio.Cancelled:
                if not worker.process.alive:
                    self._lost["cancelled"] += 1
                raise
            finally:
                self._give_back(worker)
        self._calls += 1
        if reply["ok"]:
            return reply
        self._rules_failed += 1
        raise rule_failure(reply["error"])

    def _judge(self, worker: _Worker, reply: dict[str, Any]) -> None:
        """Has a worker replaced whose code tried what is forbidden: what it has done besides is not known."""
        attempts = [error for error in _errors(reply) if error["kind"] == "rule_forbidden"]
        for error in attempts:
            error["who"] = f"{self.version.sport} {self.version.version}"
            log.warning(
                "rule_forbidden",
                worker=worker.process.name,
                tried=error["message"],
                what=error.get("what"),
                where=error.get("where"),
            )
        if attempts:
            self._lost["forbidden"] += 1
            worker.process.kill()

    @property
    def idle(self) -> bool:
        """Whether a live call would find a worker at once."""
        return bool(self._idle) and not self._line.count("live")

    def look(self) -> None:
        """Has the crew look at itself now: something changed."""
        self._attention.set()

    def released(self) -> None:
        """The last match that held it is over: from now on it is idle, unless it is called."""
        self._used_at = trio.current_time()
        self.look()

    async def until(self, condition: Callable[[PoolStatistics], bool]) -> None:
        """Waits until a condition on the statistics holds; looks whenever a worker came or went."""
        while not condition(self.statistics()):
            await self._change.wait()

    async def run(self) -> None:
        """Keeps the crew staffed until nobody wants it any longer, or it is cancelled."""
        try:
            async with trio.open_nursery() as nursery:
                while self._staff(nursery):
                    await self._rest()
                # Before anything is awaited: a call that comes now belongs to the next crew.
                self.closed = True
        finally:
            self.closed = True
            self._changed()
            self._line.send_away(PoolClosed, f"the workers of {self.version.sport} are stopping")

    def statistics(self) -> PoolStatistics:
        """What the crew is doing now."""
        return PoolStatistics(
            sport=self.version.sport,
            version=self.version.version,
            code_sha=self.version.code_sha,
            matches=self._matches(),
            starting=self._starting,
            waiting_live=self._line.count("live"),
            waiting_background=self._line.count("background"),
            calls=self._calls,
            rules_failed=self._rules_failed,
            lost=dict(self._lost),
            minimum_guard=self._order.minimum_guard,
            trouble=None if self._spawn_error is None else str(self._spawn_error),
            spawn_failures=self._spawn_failures,
            resting=self._backoff.resting,
            hello_ms=None if self._hello_s is None else self._hello_s * 1000,
            workers=tuple(_worker_statistics(worker) for worker in self._workers.values()),
        )

    def _may_work(self, priority: Priority) -> bool:
        """Background calls leave one worker to the live ones, at any time."""
        if priority == "live":
            return True
        others = [worker for worker in self._workers.values() if worker.process.alive]
        return sum(worker.call == "background" for worker in others) + 1 < len(others)

    def _take(self, priority: Priority) -> _Worker | None:
        self._used_at = trio.current_time()
        if self._asleep:
            self._attention.set()
        if not self._idle or self._line.count(priority) or not self._may_work(priority):
            return None
        return self._assign(self._idle.pop(), priority)

    def _assign(self, worker: _Worker, priority: Priority) -> _Worker:
        worker.call = priority
        worker.since = trio.current_time()
        return worker

    async def _wait(self, priority: Priority) -> _Worker:
        if self.closed:
            raise PoolClosed(f"the workers of {self.version.sport} are stopping")
        if self._backoff.resting and not self._workers and self._spawn_error is not None:
            raise _again(self._spawn_error)
        if self._line.total >= self._limits.waiting_most:
            raise PoolBusy(f"{self._line.total} calls wait for a worker of {self.version.sport} already")
        with trio.move_on_after(self._limits.waiting_s):
            return await self._line.wait(priority)
        if self._spawn_error is not None and not self._workers:
            raise _again(self._spawn_error)
        raise PoolBusy(f"no worker of {self.version.sport} became free within {self._limits.waiting_s} s")

    def _give_back(self, worker: _Worker) -> None:
        worker.call = None
        worker.since = trio.current_time()
        if not worker.process.alive:
            worker.stopped = True
            self.look()
            return
        self._backoff.succeeded()
        if worker.process.calls % self._limits.memory_look_calls == 0:
            worker.worn = worker.worn or _rss_bytes(worker.process.pid) > self._limits.memory_mark_bytes
        worker.worn = worker.worn or worker.process.calls >= self._limits.calls_most
        self._idle.append(worker)
        self._serve_line()

    def _serve_line(self) -> None:
        """Gives idle workers to those who wait."""
        priorities: tuple[Priority, Priority] = ("live", "background")
        for priority in priorities:
            while self._idle and self._line.count(priority) and self._may_work(priority):
                self._line.hand_over(priority, self._assign(self._idle.pop(), priority))

    def _staff(self, nursery: trio.Nursery) -> bool:
        """Ends calls that are late, starts and stops what the plan says; False once the crew has ended."""
        now = trio.current_time()
        self._end_late_calls(now)
        wanted = self._matches() > 0 or self._line.total > 0 or now - self._used_at < self._limits.idle_stop_s
        waited_s = max(self._line.longest_wait_s("live", now), self._line.longest_wait_s("background", now))
        views = [
            WorkerView(worker.key, worker.call is not None, now - worker.since, worker.worn)
            for worker in self._workers.values()
            if worker.process.alive
        ]
        todo = plan(views, self._starting, waited_s, wanted, self._limits)
        for key in todo.stop:
            worker = self._workers[key]
            self._idle.remove(worker)
            worker.stopped = True
            worker.process.kill()
        if now >= self._backoff.not_before:
            for _ in range(todo.start):
                self._starting += 1
                nursery.start_soon(self._employ)
        return wanted or bool(self._workers) or self._starting > 0

    def _end_late_calls(self, now: float) -> None:
        for worker in self._workers.values():
            worker.process.expire(now)

    async def _rest(self) -> None:
        """Sleeps until something happens or is due."""
        now = trio.current_time()
        if self._line.total or any(worker.call for worker in self._workers.values()):
            pause = TICK_S
        elif len(self._workers) > self._limits.warm:
            pause = max(TICK_S, self._limits.surplus_idle_s)
        elif self._matches():
            pause = math.inf
        else:
            pause = max(TICK_S, self._used_at + self._limits.idle_stop_s - now)
        if self._backoff.not_before > now:
            pause = min(pause, self._backoff.not_before - now)
        self._attention = trio.Event()
        # While it ticks, calls need not wake it.
        self._asleep = pause > TICK_S
        with trio.move_on_after(pause):
            await self._attention.wait()
        self._asleep = False

    async def _employ(self) -> None:
        """One worker from its start to its end."""
        began = trio.current_time()
        key = next(self._keys)
        try:
            process = await self._starter.start(
                self._order, f"{self.version.sport} {self.version.version} #{key}"
            )
        except (CodeMissing, CodeTampered, SpawnFailed) as error:
            self._starting -= 1
            self._failed(error)
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.keep)
            try:
                reply = await process.hello(self.version.code_sha, self._limits.hello_deadline_s)
            except SpawnFailed as error:
                self._failed(error)
            else:
                self._hello_s = trio.current_time() - began
                self._spawn_error = None
                worker = _Worker(key, process, reply, trio.current_time())
                self._workers[key] = worker
                self._idle.append(worker)
                self._serve_line()
                self._changed()
            finally:
                self._starting -= 1
        self._dismiss(key)

    def _changed(self) -> None:
        """A worker came or went."""
        self._change.set()
        self._change = trio.Event()
        self.look()

    def _dismiss(self, key: int) -> None:
        """Forgets a worker that is dead and reaped."""
        worker = self._workers.pop(key, None)
        if worker is not None and worker in self._idle:
            self._idle.remove(worker)
        if worker is not None and not worker.stopped and worker.call is None:
            status = worker.process.exit_status
            self._failed(SpawnFailed(f"{worker.process.name} ended while idle (exit status {status})"))
        self._changed()

    def _failed(self, error: CodeMissing | CodeTampered | SpawnFailed) -> None:
        self._spawn_failures += 1
        self._spawn_error = error
        self._backoff.failed(trio.current_time())
        log.error("worker_failed", sport=self.version.sport, version=self.version.version, error=str(error))
        hopeless = not isinstance(error, SpawnFailed) or isinstance(error, GuardTooWeak)
        if not self._workers and (self._backoff.resting or hopeless):
            # Nothing will come soon: better an answer now than after a wait.
            self._line.send_away(type(error), str(error))
        self._changed()


def _errors(reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What went wrong in the sport's code, in a reply and in the steps it carries."""
    if not reply["ok"]:
        yield reply["error"]
    for step in reply.get("replies", ()):
        if not step["ok"]:
            yield step["error"]


def _again(error: Exception) -> Exception:
    """The same error for another caller: an exception raised twice would carry both stacks."""
    return type(error)(str(error))


def _rss_bytes(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _worker_statistics(worker: _Worker) -> WorkerStatistics:
    process = worker.process
    answered_at = process.answered_at
    return WorkerStatistics(
        pid=process.pid,
        state=(worker.call or "idle") if process.alive else "dead",
        worn=worker.worn,
        guard=worker.guard,
        guard_lacks=worker.guard_lacks,
        calls=process.calls,
        cpu_us=process.cpu_us,
        slow_calls=process.slow_calls,
        rss_bytes=_rss_bytes(process.pid),
        last_answer_age_s=None if answered_at is None else trio.current_time() - answered_at,
        printed_bytes=process.output.received_bytes,
    )
