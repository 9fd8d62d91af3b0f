"""Steps of many matches: while one call to a worker runs, the next batch gathers.

A lone step goes to an idle worker at once. When none is idle, steps of different matches wait together and
go in one call, which costs little more than one step did. A batch that is lost is taken apart and each
step tried by itself: whose rule loops or dies is then known, and the others lose a moment, nothing more.
"""

from collections import deque
from typing import Any

import trio

from runtime.errors import PoolBusy, PoolClosed, RuntimeFault, rule_failure
from runtime.pool import Pools

BATCH_LIMIT_STEPS = 16
BATCH_LIMIT_BYTES = 512 * 1024
"""Of states and inputs in one call: a frame takes a megabyte."""
BATCHES_AT_ONCE = 2
WAITING_LIMIT_STEPS = 1_024

Payload = dict[str, Any]
"""state, code, input, override: as `check_and_step` takes them."""


class _Waiting:
    """A step on its way and the place for its reply."""

    __slots__ = ("alone", "done", "error", "payload", "reply")

    def __init__(self, payload: Payload) -> None:
        self.payload = payload
        self.done = trio.Event()
        self.alone = False
        """True when a batch with it was lost: its task calls for it by itself."""
        self.reply: dict[str, Any] | None = None
        self.error: Exception | None = None

    @property
    def size_bytes(self) -> int:
        return len(self.payload["state"]) + len(self.payload["input"])


class _Queue:
    """Steps of one code_sha that wait, and how many tasks carry them to workers."""

    __slots__ = ("carriers", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[_Waiting] = deque()
        self.carriers = 0


class Stepper:
    """Takes steps to the pools. `run` must be running."""

    def __init__(self, pools: Pools) -> None:
        self._pools = pools
        self._queues: dict[str, _Queue] = {}
        self._nursery: trio.Nursery | None = None
        self.batches = 0
        self.batched = 0

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Carry batches until cancelled; what waits then is told that the pools are closed."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                task_status.started()
                await trio.sleep_forever()
        finally:
            self._nursery = None
            for queue in self._queues.values():
                _fail(queue.waiting)
            self._queues.clear()

    async def step(self, code_sha: str, payload: Payload) -> dict[str, Any]:
        """One `check_and_step`: reply and errors as `Pools.call` has them."""
        queue = self._queues.get(code_sha)
        if (queue is None or not queue.waiting) and (self._nursery is None or self._pools.idle(code_sha)):
            return await self._pools.call(code_sha, "check_and_step", payload)
        if queue is None:
            queue = self._queues[code_sha] = _Queue()
        if len(queue.waiting) >= WAITING_LIMIT_STEPS:
            raise PoolBusy(f"{WAITING_LIMIT_STEPS} steps wait for a worker already")
        waiting = _Waiting(payload)
        queue.waiting.append(waiting)
        if queue.carriers < BATCHES_AT_ONCE and self._nursery is not None:
            queue.carriers += 1
            self._nursery.start_soon(self._carry, code_sha, queue)
        await waiting.done.wait()
        if waiting.alone:
            return await self._pools.call(code_sha, "check_and_step", payload)
        if waiting.error is not None:
            raise waiting.error
        assert waiting.reply is not None, "a step that is done has a reply or an error"
        return waiting.reply

    async def _carry(self, code_sha: str, queue: _Queue) -> None:
        """Carry batches until none waits."""
        batch: list[_Waiting] = []
        try:
            while queue.waiting:
                batch = _next_batch(queue.waiting)
                await self._call(code_sha, batch)
        finally:
            queue.carriers -= 1
            _fail(batch)

    async def _call(self, code_sha: str, batch: list[_Waiting]) -> None:
        items = [[step.payload[name] for name in ("state", "code", "input", "override")] for step in batch]
        try:
            reply = await self._pools.call(code_sha, "steps", {"items": items})
        except RuntimeFault:
            # Each by itself: who is to blame is told, and has the error to himself.
            for step in batch:
                step.alone = True
                step.done.set()
            return
        self.batches += 1
        self.batched += len(batch)
        for step, found in zip(batch, reply["replies"], strict=True):
            if found["ok"]:
                step.reply = found
            else:
                step.error = rule_failure(found["error"])
            step.done.set()


def _next_batch(waiting: deque[_Waiting]) -> list[_Waiting]:
    """The first of those who wait, as many as go into one call."""
    batch = [waiting.popleft()]
    size = batch[0].size_bytes
    while waiting and len(batch) < BATCH_LIMIT_STEPS and size + waiting[0].size_bytes <= BATCH_LIMIT_BYTES:
        size += waiting[0].size_bytes
        batch.append(waiting.popleft())
    return batch


def _fail(steps: "deque[_Waiting] | list[_Waiting]") -> None:
    """Tell those who are not told yet that the pools are stopping."""
    for step in steps:
        if not step.done.is_set():
            step.error = PoolClosed("the worker pools are stopping")
            step.done.set()
