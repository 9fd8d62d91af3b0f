"""The database under Trio: asyncpg on an asyncio loop inside Trio, behind a pool of our own.

Every call has an outer deadline that ends in closing the socket, because a driver waiting for a dead peer
waits for ever (asyncpg#1356, #467). A connection in doubt (cancelled, late, lost) is thrown away, never
handed to the next caller. When the database is away every call says so, and the first one after it is back
works again.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import asyncpg
import structlog
import trio
import trio_asyncio

from runtime.errors import AnswerLost, DatabaseAway
from runtime.groups import sole_error

T = TypeVar("T")

SERVER_ROLE = "scorebox_server"
"""The role our sessions work in: it cannot change or delete rows of the log."""
CONNECTIONS_MOST = 12
"""Connections of the pool. The embedded server allows 60 in all."""
CALL_DEADLINE_S = 12.0
"""How long a call may take before its socket is closed: a little more than the server's own timeout."""
CONNECT_DEADLINE_S = 5.0
CLOSE_DEADLINE_S = 2.0
FINISH_DEADLINE_S = 12.0
"""COMMIT and ROLLBACK of a transaction, which run shielded from cancellation."""
STATEMENT_TIMEOUT_MS = 10_000
"""statement_timeout and idle_in_transaction_session_timeout of our sessions."""

_AWAY_STATES = frozenset(
    {
        "57P01",  # admin_shutdown
        "57P02",  # crash_shutdown
        "57P03",  # cannot_connect_now
        "57014",  # query_canceled: statement_timeout
        "53300",  # too_many_connections
        "25006",  # read_only_sql_transaction: the primary moved
        "3D000",  # invalid_catalog_name
        "53000",  # insufficient_resources
        "53100",  # disk_full
        "53200",  # out_of_memory
        "58000",  # system_error
        "58030",  # io_error
    }
)

log = structlog.get_logger("scorebox.database")


@dataclass(frozen=True, slots=True)
class Backend:
    """The server process behind a connection: a pid alone may come again, with its start it does not."""

    pid: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class DatabaseStatistics:
    """What the status page and tests read."""

    open: int
    busy: int
    waiting: int
    connects: int
    lost: int


class Session:
    """One connection. Used by one task at a time; any failure of the connection leaves it `closed`."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]", loop: Any, backend: Backend) -> None:
        self._connection = connection
        self._loop = loop
        self.backend = backend

    @property
    def closed(self) -> bool:
        """True once the connection is of no more use."""
        return bool(self._connection.is_closed())

    async def fetch(
        self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S, shield: bool = False
    ) -> list[asyncpg.Record]:
        """All rows."""
        return await self.run(self._connection.fetch, sql, *args, deadline_s=deadline_s, shield=shield)

    async def fetchrow(
        self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S, shield: bool = False
    ) -> asyncpg.Record | None:
        """The first row, or None."""
        return await self.run(self._connection.fetchrow, sql, *args, deadline_s=deadline_s, shield=shield)

    async def fetchval(self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S) -> Any:
        """The first value of the first row, or None."""
        return await self.run(self._connection.fetchval, sql, *args, deadline_s=deadline_s)

    async def execute(self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S) -> str:
        """Run a statement (several, without arguments) and return its status."""
        return await self.run(self._connection.execute, sql, *args, deadline_s=deadline_s)

    async def copy_out(self, query: str, write: Callable[[bytes], object], *, deadline_s: float) -> None:
        """COPY (query) TO: `write` is given the rows in PostgreSQL's text format, piece by piece."""

        async def take(data: bytes) -> None:
            write(data)

        await self.run(partial(self._connection.copy_from_query, query, output=take), deadline_s=deadline_s)

    async def copy_in(
        self, table: str, columns: Sequence[str], chunks: Iterable[bytes], *, deadline_s: float
    ) -> int:
        """COPY table FROM what `copy_out` wrote; the number of rows."""

        async def give() -> AsyncIterator[bytes]:
            for chunk in chunks:
                yield chunk

        copy = partial(self._connection.copy_to_table, table, source=give(), columns=list(columns))
        status: str = await self.run(copy, deadline_s=deadline_s)
        return int(status.rsplit(" ", 1)[1])

    async def run(
        self,
        function: Callable[..., Coroutine[Any, Any, T]],
        *args: object,
        deadline_s: float = CALL_DEADLINE_S,
        shield: bool = False,
    ) -> T:
        """Run one of asyncpg's coroutine functions on this connection.

        With `shield` a caller that is cancelled waits for the end, as for a COMMIT; the deadline holds.

        Raises:
            AnswerLost: the connection was lost, or the deadline passed, after the call was sent.
            DatabaseAway: the server said that it cannot.
            asyncpg.PostgresError: any other error of the statement; the connection lives on.
        """
        sent = False
        try:
            with trio.move_on_after(deadline_s, shield=shield):
                sent = True
                return await self._loop.run_aio_coroutine(function(*args))  # type: ignore[no-any-return]
        except trio.Cancelled:
            self.drop()
            raise
        except Exception as error:
            if getattr(error, "sqlstate", None) in _AWAY_STATES and not isinstance(
                error, (asyncpg.AdminShutdownError, asyncpg.CrashShutdownError)
            ):
                raise DatabaseAway(f"the database cannot serve now: {error}") from error
            if self.closed or isinstance(
                error, (OSError, asyncpg.PostgresConnectionError, asyncpg.AdminShutdownError)
            ):
                self.drop()
                raise AnswerLost(f"the database went away during a call: {error}", self.backend) from error
            raise
        assert sent
        self.drop()
        raise AnswerLost(f"the database did not answer within {deadline_s:g} s", self.backend)

    def drop(self) -> None:
        """Close the socket at once, whatever is going on on it."""
        self._connection.terminate()

    async def close(self) -> None:
        """Say goodbye, or close the socket where that takes too long."""
        with trio.move_on_after(CLOSE_DEADLINE_S, shield=True):
            try:
                await self._loop.run_aio_coroutine(self._connection.close())
            except Exception as error:
                log.debug("close_failed", error=repr(error))
        if not self.closed:
            self.drop()


Connect = Callable[
    [str, dict[str, str], str | None],
    Coroutine[Any, Any, "tuple[asyncpg.Connection[asyncpg.Record], Backend]"],
]
"""Makes a connection: to a URL, with settings of the session, in a role. Runs on the asyncio loop."""


class Database:
    """A pool of sessions. Made by `open_database`."""

    def __init__(self, url: str, loop: Any, connections: int, *, connect: "Connect | None" = None) -> None:
        self._url = url
        self._loop = loop
        self._connect = connect or _connect
        self._idle: list[Session] = []
        self._slots = trio.Semaphore(connections, max_value=connections)
        self._most = connections
        self._connects = 0
        self._lost = 0

    async def fetch(
        self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S
    ) -> list[asyncpg.Record]:
        """All rows, on any session."""
        async with self.session(deadline_s) as session:
            return await session.fetch(sql, *args, deadline_s=deadline_s)

    async def fetchrow(
        self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S
    ) -> asyncpg.Record | None:
        """The first row or None, on any session."""
        async with self.session(deadline_s) as session:
            return await session.fetchrow(sql, *args, deadline_s=deadline_s)

    async def fetchval(self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S) -> Any:
        """The first value of the first row or None, on any session."""
        async with self.session(deadline_s) as session:
            return await session.fetchval(sql, *args, deadline_s=deadline_s)

    async def execute(self, sql: str, *args: object, deadline_s: float = CALL_DEADLINE_S) -> str:
        """Run a statement on any session; its status."""
        async with self.session(deadline_s) as session:
            return await session.execute(sql, *args, deadline_s=deadline_s)

    @asynccontextmanager
    async def session(self, deadline_s: float = CALL_DEADLINE_S) -> AsyncIterator[Session]:
        """A session for several calls. One whose connection was lost is not handed on.

        Raises:
            DatabaseAway: none could be had within the deadline.
        """
        with trio.move_on_after(deadline_s) as scope:
            await self._slots.acquire()
        if scope.cancelled_caught:
            raise DatabaseAway(f"all {self._most} connections were busy for {deadline_s:g} s")
        try:
            while self._idle and self._idle[-1].closed:
                self._idle.pop()
                self._lost += 1
            session = self._idle.pop() if self._idle else await self.connect()
            try:
                yield session
            finally:
                if session.closed:
                    self._lost += 1
                else:
                    self._idle.append(session)
        finally:
            self._slots.release()

    @asynccontextmanager
    async def transaction(
        self, *, begin: str = "BEGIN", deadline_s: float = CALL_DEADLINE_S
    ) -> AsyncIterator[Session]:
        """A session inside a transaction: committed at the end of the block, rolled back by an error.

        COMMIT runs shielded from cancellation, under its own deadline. A block that was cancelled closes
        the connection instead of rolling back: Trio would cancel the rollback too.
        """
        async with self.session(deadline_s) as session:
            await session.execute(begin)
            try:
                yield session
            except Exception:
                if not session.closed:
                    await self._finish(session, "ROLLBACK")
                raise
            except BaseException:
                session.drop()
                raise
            await self._finish(session, "COMMIT")

    async def _finish(self, session: Session, statement: str) -> None:
        with trio.CancelScope(shield=True):
            await session.execute(statement, deadline_s=FINISH_DEADLINE_S)

    @asynccontextmanager
    async def dedicated(self, role: str | None = SERVER_ROLE) -> AsyncIterator[Session]:
        """A session outside the pool, closed at the end. `role=None` keeps the role that logged in."""
        session = await self.connect(role)
        try:
            yield session
        finally:
            await session.close()

    async def connect(self, role: str | None = SERVER_ROLE, *, shield: bool = False) -> Session:
        """A new connection; the caller closes it. With `shield` one who is cancelled waits for it.

        Raises:
            DatabaseAway: it could not be made within CONNECT_DEADLINE_S.
        """
        settings = {
            "statement_timeout": str(STATEMENT_TIMEOUT_MS),
            "idle_in_transaction_session_timeout": str(STATEMENT_TIMEOUT_MS),
            "application_name": "scorebox",
            "jit": "off",
            "timezone": "UTC",
        }
        with trio.move_on_after(CONNECT_DEADLINE_S, shield=shield):
            try:
                connection, backend = await self._loop.run_aio_coroutine(
                    self._connect(self._url, settings, role)
                )
            except (
                OSError,
                ssl.SSLError,
                asyncpg.PostgresError,
                asyncpg.InterfaceError,
                asyncpg.InternalClientError,  # a server that is stopped right behind its greeting
                ValueError,  # a URL that is none
                OverflowError,  # a port that is none
            ) as error:
                raise DatabaseAway(
                    f"no connection to the database: {error or type(error).__name__}"
                ) from error
            self._connects += 1
            return Session(connection, self._loop, backend)
        raise DatabaseAway(f"no connection to the database within {CONNECT_DEADLINE_S:g} s")

    async def fence(self, backend: Backend) -> None:
        """See a lost connection's server process gone, so that what it did is settled.

        Our side of a connection may be closed while its process still works on the last call.

        Raises:
            DatabaseAway: it is still there, or the database cannot be reached.
        """
        async with self.dedicated(role=None) as session:
            gone = await session.fetchval(
                "SELECT coalesce((SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_get_activity($1)"
                " WHERE backend_start = $2), true)",
                backend.pid,
                backend.started_at,
            )
        if not gone:
            raise DatabaseAway(f"the server process {backend.pid} does not end")

    def statistics(self) -> DatabaseStatistics:
        """Connections and their waiters now; connects and losses since the start."""
        waiting = self._slots.statistics().tasks_waiting
        busy = self._most - self._slots.value
        return DatabaseStatistics(busy + len(self._idle), busy, waiting, self._connects, self._lost)

    async def close(self) -> None:
        """Close the idle sessions."""
        while self._idle:
            await self._idle.pop().close()


async def _connect(
    url: str, settings: dict[str, str], role: str | None
) -> "tuple[asyncpg.Connection[asyncpg.Record], Backend]":
    """Runs on the asyncio loop. A connection that cannot name its backend is closed again.

    The role is taken last: only the one that logged in may read when its backend began.
    """
    connection = await asyncpg.connect(url, timeout=CONNECT_DEADLINE_S, server_settings=settings)
    try:
        started_at = await connection.fetchval(
            "SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())"
        )
        assert started_at is not None, "a session sees its own backend"
        if role is not None:
            await connection.execute(f"SET ROLE {role}")
        return connection, Backend(connection.get_server_pid(), started_at)
    except BaseException:
        connection.terminate()
        raise


def _log_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A driver's background task that fails is logged; trio-asyncio would end the server over it."""
    log.warning("asyncio_error", message=context.get("message"), error=repr(context.get("exception")))


@asynccontextmanager
async def open_database(url: str, *, connections: int = CONNECTIONS_MOST) -> AsyncIterator[Database]:
    """A database at a PostgreSQL URL, for as long as the block runs. Connects when first used.

    Its asyncio loop lives in the block: tasks that use the database must end before it does.
    """
    with sole_error():
        async with trio_asyncio.open_loop() as loop:
            loop.set_exception_handler(_log_loop_error)
            database = Database(url, loop, connections)
            try:
                yield database
            finally:
                with trio.CancelScope(shield=True):
                    await database.close()
