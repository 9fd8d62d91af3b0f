"""The pools of workers: one per version of a sport in use, keyed by its code_sha.

A pool starts with the first live match that holds it (or the first call), and stops 30 minutes after
the last.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import structlog
import trio

from runtime.crew import Crew
from runtime.errors import CodeMissing, PoolClosed
from runtime.groups import sole_error
from runtime.pool_statistics import PoolStatistics
from runtime.staffing import PoolLimits
from runtime.starter import ProcessStarter, Starter
from runtime.versions import VersionStore
from runtime.waiting import Priority
from runtime.worker.guard.level import Layer

LIVE_HASH_SEED = 1
"""PYTHONHASHSEED of live workers. The verifier uses another: code that leans on hash order is found."""

log = structlog.get_logger("scorebox.pool")


class Pools:
    """All pools of a server. `run` owns every process; ending it leaves none behind."""

    def __init__(
        self,
        versions: VersionStore,
        *,
        limits: PoolLimits | None = None,
        hash_seed: int = LIVE_HASH_SEED,
        make_starter: Callable[[], Starter] = ProcessStarter,
        withheld: tuple[Layer, ...] = (),
    ) -> None:
        """Workers on the versions of a store. `withheld` layers of their guard are left out, for tests."""
        self.versions = versions
        self._limits = limits or PoolLimits()
        self._hash_seed = hash_seed
        self._make_starter = make_starter
        self._withheld = withheld
        self._holders: dict[str, Counter[str]] = {}
        self._crews: dict[str, Crew] = {}
        self._nursery: trio.Nursery | None = None
        self._starter: Starter | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Runs until it is cancelled; then kills and reaps every worker and answers every waiting call."""
        starter = self._make_starter()
        try:
            async with trio.open_nursery() as nursery:
                self._nursery, self._starter = nursery, starter
                for code_sha in self._holders:
                    self._start_held(code_sha)
                task_status.started()
                await trio.sleep_forever()
        finally:
            self._nursery = self._starter = None
            self._crews.clear()
            starter.close()

    def hold(self, code_sha: str, match: str) -> None:
        """A live match needs this code: its pool starts, and stays. Missing code is told by `call`."""
        self._holders.setdefault(code_sha, Counter())[match] += 1
        self._start_held(code_sha)

    def release(self, code_sha: str, match: str) -> None:
        """The match is no longer live. Every `hold` needs its own release."""
        holders = self._holders.get(code_sha)
        if holders is None or match not in holders:
            return
        holders[match] -= 1
        if not holders[match]:
            del holders[match]
        if not holders:
            del self._holders[code_sha]
            if crew := self._crews.get(code_sha):
                crew.released()

    async def call(
        self,
        code_sha: str,
        op: str,
        payload: dict[str, Any],
        *,
        deadline_s: float | None = None,
        priority: Priority = "live",
    ) -> dict[str, Any]:
        """One call to the sport's code: the reply as `runtime.worker.ops` describes it.

        `deadline_s` (0.25 unless told otherwise) counts from the moment a worker gets the request; the wait
        for a worker has a limit of its own. Background calls let live ones pass and leave them one worker.

        Raises:
            WorkerLost: no answer in time, or none at all; nothing was changed, the call may be tried again.
            RuleFailed: the sport's code raised an exception (RuleForbidden: tried what the guard forbids).
            PoolBusy: too many calls wait, or no worker became free (PoolClosed: the server stops).
            SpawnFailed, CodeMissing, CodeTampered: there is no worker, and there will be none soon.
            FrameTooLong: the payload does not fit into a frame.
        """
        crew = self._crew(code_sha)
        return await crew.call(
            op, payload, self._limits.call_deadline_s if deadline_s is None else deadline_s, priority
        )

    async def until(self, code_sha: str, condition: Callable[[PoolStatistics], bool]) -> None:
        """Starts the pool and waits until a condition on its statistics holds, as in "two workers are ready".

        Raises:
            CodeMissing, PoolClosed: there is no such pool.
        """
        await self._crew(code_sha).until(condition)

    def idle(self, code_sha: str) -> bool:
        """Whether a live call would find a worker at once."""
        crew = self._crews.get(code_sha)
        return crew is not None and crew.idle

    def statistics(self) -> list[PoolStatistics]:
        """Every running pool and its workers. Reads /proc: for a status page, not for every call."""
        return [crew.statistics() for crew in self._crews.values()]

    def _start_held(self, code_sha: str) -> None:
        if self._nursery is None:
            return
        try:
            self._crew(code_sha).look()
        except CodeMissing as error:
            log.error("code_missing", code_sha=code_sha, error=str(error))

    def _crew(self, code_sha: str) -> Crew:
        crew = self._crews.get(code_sha)
        if crew is not None and not crew.closed:
            return crew
        if self._nursery is None or self._starter is None:
            raise PoolClosed("the worker pools are not running")
        version = self.versions.find(code_sha)
        crew = Crew(
            version,
            lambda: self.versions.verify(version),
            starter=self._starter,
            limits=self._limits,
            hash_seed=self._hash_seed,
            matches=lambda: len(self._holders.get(code_sha, ())),
            minimum_guard=self.versions.minimum_guard(version),
            withheld=self._withheld,
        )
        self._crews[code_sha] = crew
        self._nursery.start_soon(self._run_crew, code_sha, crew)
        return crew

    async def _run_crew(self, code_sha: str, crew: Crew) -> None:
        try:
            await crew.run()
        finally:
            if self._crews.get(code_sha) is crew:
                del self._crews[code_sha]


@asynccontextmanager
async def open_pools(
    versions: VersionStore,
    *,
    limits: PoolLimits | None = None,
    hash_seed: int = LIVE_HASH_SEED,
    withheld: tuple[Layer, ...] = (),
) -> AsyncIterator[Pools]:
    """Pools that run for as long as the block does."""
    pools = Pools(versions, limits=limits, hash_seed=hash_seed, withheld=withheld)
    with sole_error():
        async with trio.open_nursery() as nursery:
            await nursery.start(pools.run)
            yield pools
            nursery.cancel_scope.cancel()
