import struct

import asyncpg
import pytest
import trio

from runtime.database import Backend, Database, open_database
from runtime.errors import AnswerLost, DatabaseAway


async def test_sessions_work_in_the_role_of_the_server(database: Database):
    assert await database.fetchval("SELECT current_user::text") == "scorebox_server"


async def test_sessions_have_timeouts(database: Database):
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        assert await database.fetchval("SELECT current_setting($1)", name) == "10s"


async def test_rows_and_values_come_back(database: Database):
    assert await database.fetchval("SELECT $1::int + 1", 41) == 42
    assert [row["n"] for row in await database.fetch("SELECT n FROM generate_series(1, 3) n")] == [1, 2, 3]
    assert await database.fetchrow("SELECT 1 WHERE false") is None


async def test_an_error_of_a_statement_leaves_the_connection_in_use(database: Database):
    first = await database.fetchval("SELECT pg_backend_pid()")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await database.fetchval("SELECT 1 / 0")
    assert await database.fetchval("SELECT pg_backend_pid()") == first
    assert database.statistics().connects == 1


async def test_a_late_call_closes_its_socket_and_the_next_one_works(database: Database):
    first = await database.fetchval("SELECT pg_backend_pid()")
    with pytest.raises(AnswerLost) as lost:
        await database.fetchval("SELECT pg_sleep(60)", deadline_s=0.05)
    assert lost.value.backend.pid == first
    assert await database.fetchval("SELECT pg_backend_pid()") != first
    assert database.statistics().lost == 1


async def test_a_lost_connection_says_which_process_had_the_call(database: Database):
    async with database.session() as session:
        async with trio.open_nursery() as nursery:

            async def call() -> None:
                with pytest.raises(AnswerLost) as lost:
                    await session.fetchval("SELECT pg_sleep(60)")
                assert lost.value.backend == session.backend

            nursery.start_soon(call)
            await _until(
                database, "SELECT count(*) = 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'"
            )
            async with database.dedicated(role=None) as other:
                await other.fetchval("SELECT pg_terminate_backend($1)", session.backend.pid)
        assert session.closed
    assert await database.fetchval("SELECT 1") == 1


async def test_connections_that_died_while_idle_are_not_handed_on(database: Database):
    pid = await database.fetchval("SELECT pg_backend_pid()")
    async with database.dedicated(role=None) as other:
        await other.fetchval("SELECT pg_terminate_backend($1, 5000)", pid)
        await other.fetchval("SELECT 1")
    try:
        assert await database.fetchval("SELECT 1") == 1
    except AnswerLost:
        # The socket's end had not been read yet: the next call has a new connection.
        assert await database.fetchval("SELECT 1") == 1
    assert database.statistics().open == 1


async def test_all_connections_busy_says_so(database_url: str):
    async with open_database(database_url, connections=1) as database, database.session():
        with pytest.raises(DatabaseAway, match="busy"):
            await database.fetchval("SELECT 1", deadline_s=0.05)


async def test_waiters_get_a_connection_in_turn(database_url: str):
    async with open_database(database_url, connections=2) as database, trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(database.fetchval, "SELECT pg_sleep(0.001)")
    assert database.statistics().connects <= 2


async def test_a_database_that_is_not_there_is_away(tmp_path):
    async with open_database(f"postgresql://scorebox@/scorebox?host={tmp_path}") as database:
        with pytest.raises(DatabaseAway):
            await database.fetchval("SELECT 1")


def message(kind: bytes, body: bytes) -> bytes:
    """A message of PostgreSQL's protocol."""
    return kind + struct.pack("!i", len(body) + 4) + body


GREETING = b"".join(
    message(kind, body)
    for kind, body in (
        (b"R", struct.pack("!i", 0)),
        (b"S", b"server_version\x0018.0\x00"),
        (b"K", struct.pack("!ii", 1, 2)),
        (b"Z", b"I"),
    )
)
GOODBYE = message(b"E", b"SFATAL\x00VFATAL\x00C57P01\x00Mterminating connection\x00\x00")


async def test_a_server_that_says_goodbye_right_behind_its_greeting_is_away(nursery: trio.Nursery):
    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.receive_some()
            await stream.send_all(GREETING + GOODBYE)
            await stream.receive_some()

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, serve, listeners)
    port = listeners[0].socket.getsockname()[1]
    async with open_database(f"postgresql://x@127.0.0.1:{port}/x?sslmode=disable") as there:
        with pytest.raises(DatabaseAway):
            await there.fetchval("SELECT 1")


async def test_an_unknown_database_is_away(postgres):
    async with open_database(postgres.database("nowhere")) as database:
        with pytest.raises(DatabaseAway):
            await database.fetchval("SELECT 1")


async def test_a_statement_past_the_servers_timeout_is_away_and_the_connection_lives(database: Database):
    async with database.session() as session:
        await session.execute("SET statement_timeout = 20")
        with pytest.raises(DatabaseAway) as away:
            await session.fetchval("SELECT pg_sleep(60)")
        assert not isinstance(away.value, AnswerLost)
        assert await session.fetchval("SELECT 1") == 1
        await session.execute("RESET statement_timeout")


async def test_a_transaction_commits_at_the_end_of_its_block(database: Database):
    async with database.transaction() as session:
        await session.execute(
            "INSERT INTO sport (id, code, name) VALUES (gen_random_uuid(), 'chess', 'Chess')"
        )
    assert await database.fetchval("SELECT count(*) FROM sport") == 1


async def test_a_transaction_is_rolled_back_by_an_error(database: Database):
    async def fail() -> None:
        async with database.transaction() as session:
            await session.execute("INSERT INTO sport (id, code, name) VALUES (gen_random_uuid(), 'x', 'X')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await database.fetchval("SELECT count(*) FROM sport") == 0
    assert database.statistics().connects == 1


async def test_fence_ends_a_process_that_still_works(database: Database):
    async with database.session() as session:
        backend = session.backend
        with pytest.raises(AnswerLost):
            # Not cancelled but cut: the server does not notice that we are gone.
            await session.fetchval("SELECT pg_sleep(60)", deadline_s=0.05)
    await database.fence(backend)
    assert await database.fetchval("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", backend.pid) == 0


async def test_fence_leaves_another_process_with_the_same_pid_alone(database: Database):
    async with database.session() as session:
        pid = session.backend.pid
        other = await database.fetchval(
            "SELECT backend_start - interval '1 hour' FROM pg_stat_get_activity($1)", pid
        )
        await database.fence(Backend(pid, other))
        assert await session.fetchval("SELECT 1") == 1


async def _until(database: Database, question: str) -> None:
    with trio.fail_after(10):
        async with database.dedicated(role=None) as session:
            while not await session.fetchval(question):
                await trio.sleep(0.005)


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "mysql://x@127.0.0.1/x",
        "postgresql://x@127.0.0.1:99999/x",
        "postgresql://x@127.0.0.1:many/x",
        "postgresql://x@127.0.0.1:1/x",
    ],
)
async def test_a_url_that_leads_nowhere_is_a_database_that_is_away(url: str):
    async with open_database(url) as nowhere:
        with pytest.raises(DatabaseAway, match="no connection to the database"):
            await nowhere.fetchval("SELECT 1")


async def test_a_disk_that_is_full_is_a_database_that_cannot_serve_now(database: Database):
    async with database.session() as session:
        with pytest.raises(DatabaseAway, match="cannot serve now"):
            await session.execute(
                "DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$"
            )
        assert not session.closed
