"""A stand-in for asyncpg and the server behind it: connections to tables in memory.

What runs above it is the real `runtime.database`, ledger and committer. A statement that was sent is
carried out whether or not its sender still listens, as PostgreSQL does; only a terminated backend takes its
work back.
"""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import asyncpg
import trio

from runtime.database import Backend
from tests.simulation import tables
from tests.simulation.faults import DatabaseFaults, Fate
from tests.simulation.reads import SQL, UnknownStatement, reader
from tests.simulation.tables import Match, Row

T = TypeVar("T")

CHECKPOINT_EVERY = 5
"""Events between two checkpoints: a tenth of SQL's, so that short matches have some."""
FENCE_PATIENCE_S = 5.0
"""As in `Database.fence`."""
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class Loop:
    """In the place of the asyncio loop: coroutines of this driver run on Trio as they are."""

    async def run_aio_coroutine(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return await coroutine


class Server:
    """The database server. Lives as long as the history, whatever becomes of its clients."""

    def __init__(self, nursery: trio.Nursery, faults: DatabaseFaults) -> None:
        self.matches: dict[UUID, Match] = {}
        self.faults = faults
        self.connections: set[Connection] = set()
        self._nursery = nursery
        self._backends = 0
        self._running: dict[int, Statement] = {}
        self._away_until = 0.0
        self.commits = 0

    @property
    def away(self) -> bool:
        return trio.current_time() < self._away_until

    def crash(self, away_s: float) -> None:
        """Lose every connection and all that is not committed, and be away for so long."""
        self._away_until = trio.current_time() + away_s
        self.cut_connections(lambda: True)
        for statement in list(self._running.values()):
            statement.terminate()

    def cut_connections(self, which: Callable[[], bool]) -> None:
        """Lose connections, as a firewall would; what was sent on them is still carried out."""
        for connection in sorted(self.connections, key=lambda each: each.backend.pid):
            if which():
                connection.cut()

    def new_backend(self) -> Backend:
        self._backends += 1
        return Backend(self._backends, BEGAN + timedelta(seconds=self._backends))

    def start(self, statement: "Statement") -> None:
        """Carry a statement out, whoever listens."""
        self._running[statement.pid] = statement
        self._nursery.start_soon(self._carry_out, statement)

    async def _carry_out(self, statement: "Statement") -> None:
        try:
            await statement.run()
        finally:
            if self._running.get(statement.pid) is statement:
                del self._running[statement.pid]

    async def fence(self, pid: int, terminates: bool) -> bool:
        """As `pg_terminate_backend(pid, 5000)`: True once the backend is gone."""
        statement = self._running.get(pid)
        if statement is None:
            return True
        if terminates:
            statement.terminate()
            return True
        with trio.move_on_after(FENCE_PATIENCE_S):
            await statement.done.wait()
        return statement.done.is_set()


class Statement:
    """One commit call on its way through the server."""

    def __init__(self, server: Server, pid: int, sql: str, args: tuple[Any, ...], fate: Fate) -> None:
        self.pid = pid
        self.done = trio.Event()
        self.rows: list[Row] = []
        self.error: Exception | None = None
        self._server = server
        self._sql = sql
        self._fate = fate
        self._items = [
            dict(zip(tables.ITEM_FIELDS, values, strict=True))
            for values in (args[0] if sql == SQL["commit_batch"] else [args[0]])
        ]
        self._extra = args[1:]
        self._patience_s = None if sql == SQL["commit_batch"] else self._extra[-1] / 1000
        if sql == SQL["commit_correction"]:
            self._patience_s = self._extra[5] / 1000
        self._scope = trio.CancelScope()
        self._terminated = False

    def terminate(self) -> None:
        """Take back what is not committed yet."""
        if not self.done.is_set():
            self._terminated = True
            self._scope.cancel()

    async def run(self) -> None:
        """From the arrival of the call to its end."""
        try:
            with self._scope:
                await trio.sleep(self._fate.before_s)
                await self._work()
        finally:
            for match in self._server.matches.values():
                match.release(self)
            if self._terminated and not self.rows:
                self.error = asyncpg.AdminShutdownError("terminating connection due to administrator command")
            self.done.set()

    async def _work(self) -> None:
        if self._fate.error is not None:
            self.error = self._fate.error
            return
        outcomes: list[Row | None] = []
        for item in self._items:
            match = self._server.matches.get(item["match"])
            if match is None:
                outcomes.append({"kind": "unknown", "seq": None, "epoch": None, "detail": None})
            elif self._patience_s is not None and not await self._wait_for(match, self._patience_s):
                outcomes.append(tables.said("busy"))
            elif match.lock not in (None, self):
                outcomes.append(tables.busy(match, item))
            else:
                match.lock = self
                outcomes.append(tables.look(match, item))
        await trio.sleep(self._fate.working_s)
        self.apply(outcomes)

    async def _wait_for(self, match: Match, patience_s: float) -> bool:
        with trio.move_on_after(patience_s):
            while match.lock not in (None, self):
                await match.unlocked.wait()
            return True
        return False

    def apply(self, outcomes: "list[Row | None]") -> None:
        """Commit: all at one moment."""
        for item, outcome in zip(self._items, outcomes, strict=True):
            if outcome is not None:
                self.rows.append(outcome)
                continue
            match = self._server.matches[item["match"]]
            self._server.commits += 1
            if self._sql == SQL["commit_correction"]:
                self.rows.append(tables.save_correction(match, item, self._extra, CHECKPOINT_EVERY))
            else:
                self.rows.append(tables.save(match, item, CHECKPOINT_EVERY))

    def at_once(self) -> None:
        """All of it in this moment, where nobody holds what it wants."""
        outcomes: list[Row | None] = []
        for item in self._items:
            match = self._server.matches.get(item["match"])
            if match is None:
                outcomes.append({"kind": "unknown", "seq": None, "epoch": None, "detail": None})
            elif match.lock is not None:
                outcomes.append(tables.busy(match, item))
            else:
                outcomes.append(tables.look(match, item))
        self.apply(outcomes)
        self.done.set()

    @property
    def free(self) -> bool:
        """Whether nobody holds any of the matches."""
        matches = self._server.matches
        return all(
            item["match"] not in matches or matches[item["match"]].lock is None for item in self._items
        )


COMMITS = frozenset({SQL["commit_batch"], SQL["commit_patiently"], SQL["commit_correction"]})


class Connection:
    """What `runtime.database.Session` uses of an asyncpg connection."""

    def __init__(self, server: Server, backend: Backend) -> None:
        self.server = server
        self.backend = backend
        self._closed = False
        self._cut = trio.Event()
        self._frozen: dict[UUID, Match] | None = None
        server.connections.add(self)

    def is_closed(self) -> bool:
        return self._closed

    def terminate(self) -> None:
        self._closed = True
        self._cut.set()
        self.server.connections.discard(self)

    def cut(self) -> None:
        """Lose the connection: who waits for an answer hears of it."""
        self.terminate()

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()
        self.terminate()

    async def fetch(self, sql: str, *args: Any) -> list[Row]:
        if sql in COMMITS:
            return await self._commit(sql, args)
        return await self._read(sql, args)

    async def fetchrow(self, sql: str, *args: Any) -> Row | None:
        rows = await self._read(sql, args)
        return rows[0] if rows else None

    async def fetchval(self, sql: str, *args: Any) -> Any:
        if "pg_terminate_backend" in sql:
            await self._arrive(Fate())
            return await self.server.fence(args[0], self.server.faults.fence_terminates())
        row = await self.fetchrow(sql, *args)
        return None if row is None else next(iter(row.values()))

    async def execute(self, sql: str, *args: Any) -> str:
        await self._arrive(Fate())
        if sql.startswith("BEGIN"):
            self._frozen = {}
        elif sql in ("COMMIT", "ROLLBACK"):
            self._frozen = None
        else:
            raise UnknownStatement(sql)
        return sql

    async def _arrive(self, fate: Fate) -> None:
        """A statement goes out; its answer is on its way back when this returns."""
        if self._closed:
            raise asyncpg.InterfaceError("connection is closed")
        if fate.lost_before:
            self.terminate()
        if fate.before_s or fate.working_s:
            with trio.move_on_after(fate.before_s + fate.working_s):
                await self._cut.wait()
        else:
            await trio.lowlevel.checkpoint()
        self._require_open()

    def _require_open(self) -> None:
        if self._closed or self.server.away:
            self.terminate()
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")

    async def _read(self, sql: str, args: tuple[Any, ...]) -> list[Row]:
        fate = self.server.faults.of_read()
        await self._arrive(fate)
        if fate.error is not None:
            raise fate.error
        rows = self._of_code(*args) if sql == SQL["match_of_code"] else reader(sql)(self._match, *args)
        if fate.lost_after:
            self.terminate()
            self._require_open()
        return rows

    async def _commit(self, sql: str, args: tuple[Any, ...]) -> list[Row]:
        fate = self.server.faults.of_commit()
        if self._closed:
            raise asyncpg.InterfaceError("connection is closed")
        if fate.lost_before:
            self.terminate()
        self._require_open()
        statement = Statement(self.server, self.backend.pid, sql, args, fate)
        if fate.plain and statement.free:
            await trio.lowlevel.checkpoint()
            self._require_open()
            statement.at_once()
        else:
            self.server.start(statement)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._until_cut, nursery.cancel_scope)
                await statement.done.wait()
                nursery.cancel_scope.cancel()
        if fate.lost_after:
            self.terminate()
        if fate.answer_s:
            with trio.move_on_after(fate.answer_s):
                await self._cut.wait()
        self._require_open()
        if statement.error is not None:
            if isinstance(statement.error, asyncpg.AdminShutdownError):
                self.terminate()
            raise statement.error
        return statement.rows

    async def _until_cut(self, scope: trio.CancelScope) -> None:
        await self._cut.wait()
        scope.cancel()

    def _of_code(self, code: str, sport: str | None) -> list[Row]:
        found = [match for match in self.server.matches.values() if match.code == code]
        return [{"id": match.id} for match in found if sport in (None, match.sport)]

    def _match(self, id: UUID) -> Match | None:
        match = self.server.matches.get(id)
        if self._frozen is None or match is None:
            return match
        if id not in self._frozen:
            self._frozen[id] = match.snapshot()
        return self._frozen[id]
