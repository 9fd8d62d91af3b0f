"""Calls to the rogue sport, for tests that run real workers."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import trio

from runtime.pool import Pools
from runtime.pool_statistics import PoolStatistics
from runtime.versions import SportVersion

OPENING = {
    "sides": [{"key": "reds", "name": "Reds"}, {"key": "blues", "name": "Blues"}],
    "first_day": "2026-11-30",
}
MATCH = "match-1"
PATIENCE_S = 20.0
"""How long a test waits for what must come, on a busy machine; no test asserts a time."""


class Rogue:
    """Pools with the rogue sport, and its match."""

    def __init__(self, pools: Pools, version: SportVersion) -> None:
        self.pools = pools
        self.version = version
        self.code_sha = version.code_sha

    async def call(self, op: str, payload: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
        return await self.pools.call(self.code_sha, op, payload or {}, **how)

    async def state(self, padding: int = 0) -> bytes:
        opening = json.dumps({**OPENING, "padding": padding}).encode()
        reply = await self.call("initial_state", {"opening": opening}, deadline_s=PATIENCE_S)
        state: bytes = reply["state"]
        return state

    async def step(self, state: bytes, code: str, value: dict[str, Any], **how: Any) -> dict[str, Any]:
        payload = {"state": state, "code": code, "input": json.dumps(value).encode(), "override": []}
        return await self.call("check_and_step", payload, **how)

    async def add(self, state: bytes, amount: int = 1, **how: Any) -> dict[str, Any]:
        return await self.step(state, "rogue.add", {"amount": amount}, **how)

    async def misbehave(self, state: bytes, misdeed: str, amount: int = 0, **how: Any) -> dict[str, Any]:
        modes = {mode: how.pop(mode, False) for mode in ("in_check", "hidden")}
        value = {"misdeed": misdeed, "amount": amount, **modes}
        return await self.step(state, "rogue.misbehave", value, **how)

    async def probe(self, what: str) -> list[str]:
        reply = await self.step(await self.state(), "rogue.probe", {"what": what}, deadline_s=PATIENCE_S)
        facts: list[str] = reply["emits"]
        return facts

    async def ready(self, workers: int = 2) -> PoolStatistics:
        """Waits until so many workers have said hello and are alive."""
        with trio.fail_after(PATIENCE_S):
            await self.pools.until(self.code_sha, lambda pool: len(self.pids()) >= workers)
        return self.statistics()

    def statistics(self) -> PoolStatistics:
        (pool,) = self.pools.statistics()
        return pool

    def pids(self) -> set[int]:
        return {worker.pid for worker in self.statistics().workers if worker.state != "dead"}


def idle(pool: PoolStatistics) -> int:
    return sum(worker.state == "idle" for worker in pool.workers)


@contextmanager
def watch(pid: int) -> Iterator[int]:
    """A descriptor that becomes readable when a process has ended."""
    descriptor = os.pidfd_open(pid)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


async def end_of(descriptor: int) -> None:
    """Waits for the end of a watched process."""
    with trio.fail_after(PATIENCE_S):
        await trio.lowlevel.wait_readable(descriptor)
