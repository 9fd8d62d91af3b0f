"""Trio cancels at every checkpoint and keeps cancelling: no connection in doubt may be used again."""

import pytest
import trio

from runtime.database import Database, open_database

SLEEPS = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
INSERT = "INSERT INTO sport (id, code, name) VALUES (gen_random_uuid(), 'x', 'X')"


async def test_a_cancelled_call_throws_its_connection_away(database: Database):
    first = await database.fetchval("SELECT pg_backend_pid()")
    with trio.move_on_after(0.05) as scope:
        await database.fetchval("SELECT pg_sleep(60)")
    assert scope.cancelled_caught
    assert await database.fetchval("SELECT pg_backend_pid()") != first
    statistics = database.statistics()
    assert (statistics.busy, statistics.open, statistics.lost) == (0, 1, 1)


async def test_a_scope_cancelled_from_the_start_takes_no_slot(database_url: str):
    async with open_database(database_url, connections=1) as database:
        for _ in range(5):
            with trio.CancelScope() as scope:
                scope.cancel()
                await database.fetchval("SELECT 1")
            assert scope.cancelled_caught
        assert await database.fetchval("SELECT 1") == 1


async def test_a_waiter_that_is_cancelled_leaves_the_queue(database_url: str):
    async with open_database(database_url, connections=1) as database:
        async with database.session():
            with trio.move_on_after(0.02) as scope:
                await database.fetchval("SELECT 1")
            assert scope.cancelled_caught
            assert database.statistics().waiting == 0
        assert await database.fetchval("SELECT 1") == 1


async def test_a_transaction_cancelled_in_its_block_saves_nothing(database: Database):
    with trio.CancelScope() as scope:
        async with database.transaction() as session:
            await session.execute(INSERT)
            scope.cancel()
            await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert await database.fetchval("SELECT count(*) FROM sport") == 0
    assert database.statistics().lost == 1


async def test_commit_is_not_cancelled(database: Database):
    with trio.CancelScope() as scope:
        async with database.transaction() as session:
            await session.execute(INSERT)
            scope.cancel()
    assert await database.fetchval("SELECT count(*) FROM sport") == 1


async def test_rollback_is_not_cancelled(database: Database):
    async def fail() -> None:
        async with database.transaction() as session:
            await session.execute(INSERT)
            scope.cancel()
            raise ZeroDivisionError

    with trio.CancelScope() as scope, pytest.raises(ZeroDivisionError):
        await fail()
    assert await database.fetchval("SELECT count(*) FROM sport") == 0
    assert database.statistics().connects == 1


@pytest.mark.parametrize("after", [0, 1, 2, 4, 8, 16, 32])
async def test_cancelling_at_any_moment_leaves_a_pool_that_works(database_url: str, after: int):
    async with open_database(database_url, connections=1) as database:
        with trio.move_on_after(after / 1000):
            for _ in range(50):
                async with database.transaction() as session:
                    await session.fetchval("SELECT pg_sleep(0.0005)")
        assert await database.fetchval("SELECT 1") == 1
        statistics = database.statistics()
        assert (statistics.busy, statistics.open) == (0, 1)


async def test_cancelling_the_block_of_a_database_ends_it(database_url: str):
    with trio.fail_after(10), trio.CancelScope() as scope:
        async with open_database(database_url) as database, trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(database.fetchval, "SELECT pg_sleep(60)")
            async with database.dedicated(role=None) as session:
                while await session.fetchval(SLEEPS) < 3:
                    await trio.sleep(0.005)
            scope.cancel()
    assert scope.cancelled_caught
