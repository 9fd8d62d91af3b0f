"""How this node is doing: what the status page shows and readiness is judged by."""

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
import psutil
import trio

from runtime.alerts import AlertBoard
from runtime.database import Database
from runtime.errors import DatabaseAway
from runtime.pool import Pools
from runtime.supervisor import Supervisor
from runtime.versions import VersionStore

LOOK_EVERY_S = 1.0
"""How often the database is asked whether it is there."""
LOOK_DEADLINE_S = 2.0


class Health:
    """Looks at the database every second and gathers what the parts say of themselves."""

    def __init__(
        self,
        *,
        database: Database,
        pools: Pools,
        versions: VersionStore,
        supervisor: Supervisor,
        alerts: AlertBoard,
        commits: Callable[[], Any],
        outbox: Callable[[], Any],
        verifier: Callable[[], Any],
    ) -> None:
        self._database = database
        self._pools = pools
        self._versions = versions
        self._supervisor = supervisor
        self._alerts = alerts
        self._commits = commits
        self._outbox = outbox
        self._verifier = verifier
        self._process = psutil.Process()
        self._started = trio.current_time()
        self._database_away: str | None = None

    async def run(self) -> None:
        """Look until cancelled; tells of a database that went away and came back."""
        while True:
            try:
                await self._database.fetchval("SELECT 1", deadline_s=LOOK_DEADLINE_S)
            except DatabaseAway as error:
                if self._database_away is None:
                    self._alerts.raise_alert("database_away", "database", str(error))
                self._database_away = str(error)
            else:
                self._database_away = None
                self._alerts.settle("database_away", "database")
            await trio.sleep(LOOK_EVERY_S)

    def ready(self) -> tuple[bool, list[str]]:
        """Whether commands can be taken, and what stands in the way."""
        missing = [f"{name} does not run" for name in self._supervisor.unready()]
        if self._database_away is not None:
            # Anybody may ask: where the database is, and as whom we are there, stands in the status.
            missing.append("the database is away")
        missing.extend(
            f"no worker of {pool.sport} can start" for pool in self._pools.statistics() if pool.resting
        )
        return not missing, missing

    def memory_bytes(self) -> int:
        """What this process holds in memory."""
        rss: int = self._process.memory_info().rss
        return rss

    def status(self, detail: bool) -> dict[str, Any]:
        """The state of this node; without `detail` only what anybody may know."""
        try:
            release = version("scorebox")
        except PackageNotFoundError:
            release = "unknown"
        brief: dict[str, Any] = {
            "version": release,
            "uptime_s": int(trio.current_time() - self._started),
            "sports": {
                sport: [installed.version for installed in self._versions.versions(sport)]
                for sport in self._versions.sports()
            },
        }
        if not detail:
            return brief
        return brief | {
            "node": {
                "host": platform.node(),
                "pid": os.getpid(),
                "python": platform.python_version(),
                "memory_bytes": self.memory_bytes(),
            },
            "pools": msgspec.to_builtins(self._pools.statistics()),
            "database": {"away": self._database_away, **msgspec.to_builtins(self._database.statistics())},
            "commits": msgspec.to_builtins(self._commits()),
            "outbox": msgspec.to_builtins(self._outbox()),
            "verifier": msgspec.to_builtins(self._verifier()),
            "actors": msgspec.to_builtins(list(self._supervisor.children.values())),
            "alerts": msgspec.to_builtins(self._alerts.newest()),
            "alert_counts": dict(self._alerts.counts),
        }
