"""Workers: a round trip by size of the state, starting, dying and being replaced, memory."""

import json
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import trio

from config.server import APPLICATION
from runtime.pool import Pools, open_pools
from runtime.pool_statistics import PoolStatistics
from runtime.versions import SportVersion, VersionStore

PADDED_SPORT = APPLICATION / "tests" / "runtime" / "rogue" / "scorebox_rogue"
"""A sport whose state can be made as large as wanted."""
SIZES_KB = (1, 4, 16)
CALLS = 3_000
WARM_CALLS = 200
ROUNDS = 4
KILLS = 4
"""In one round, on pools of its own: a pool that loses more workers than this in a short time rests."""
START_S = 20.0
WARM = 2
OVERHEAD_BYTES = 120
"""Of a state beside its padding."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds: legs by size in KB, start to ready, and from kill to replacement ready. Bytes of memory."""

    legs: dict[int, list[float]]
    start: list[float]
    replace: list[float]
    rss_bytes: int
    unique_bytes: int


async def measure(calls: int = CALLS, rounds: int = ROUNDS) -> Measured:
    """Measure on pools of their own."""
    with TemporaryDirectory() as folder:
        store = VersionStore(Path(folder) / "sports")
        padded = store.install_folder(PADDED_SPORT, "rogue", "1.0.0")
        cricket = next(
            each for each in store.install_bundled(APPLICATION, dev=True) if each.sport == "cricket"
        )
        async with open_pools(store) as pools:
            legs = {size: await _legs(pools, padded, size, calls) for size in SIZES_KB}
        starts: list[float] = []
        replacements: list[float] = []
        for _ in range(rounds):
            async with open_pools(store) as pools:
                await _kills(pools, cricket, starts, replacements)
                memory = psutil.Process(_workers(pools, cricket)[0]).memory_full_info()
    return Measured(legs, starts, replacements, memory.rss, memory.uss)


async def _legs(pools: Pools, version: SportVersion, size_kb: int, calls: int) -> list[float]:
    """One step after another with a state of so many KB."""
    opening = {
        "sides": [{"key": "a", "name": "A"}, {"key": "b", "name": "B"}],
        "first_day": "2026-06-01",
        "padding": size_kb * 1024 - OVERHEAD_BYTES,
    }
    reply = await pools.call(
        version.code_sha, "initial_state", {"opening": json.dumps(opening).encode()}, deadline_s=START_S
    )
    payload = {"state": reply["state"], "code": "rogue.add", "input": b'{"amount":1}', "override": []}
    spent = []
    for _ in range(calls + WARM_CALLS):
        started = time.perf_counter()
        await pools.call(version.code_sha, "check_and_step", payload)
        spent.append(time.perf_counter() - started)
    return spent[WARM_CALLS:]


async def _kills(pools: Pools, version: SportVersion, starts: list[float], replacements: list[float]) -> None:
    """Kill a worker, see its replacement ready; KILLS times."""
    pools.hold(version.code_sha, "bench")
    with trio.fail_after(START_S):
        await pools.until(version.code_sha, lambda pool: len(pool.workers) == WARM)
    for _ in range(KILLS):
        killed = _workers(pools, version)[0]

        def replaced(pool: PoolStatistics, killed: int = killed) -> bool:
            return len({worker.pid for worker in pool.workers} - {killed}) == WARM

        started = time.perf_counter()
        os.kill(killed, signal.SIGKILL)
        with trio.fail_after(START_S):
            await pools.until(version.code_sha, replaced)
        replacements.append(time.perf_counter() - started)
        # A worker that answers ends the pause before the next start: the pool takes this for one accident.
        await pools.call(version.code_sha, "ping", {})
        [statistics] = [pool for pool in pools.statistics() if pool.code_sha == version.code_sha]
        starts.append((statistics.hello_ms or 0.0) / 1000)


def _workers(pools: Pools, version: SportVersion) -> list[int]:
    [statistics] = [pool for pool in pools.statistics() if pool.code_sha == version.code_sha]
    return [worker.pid for worker in statistics.workers]
