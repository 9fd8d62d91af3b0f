"""Cancellation anywhere: no call is mixed up with another, and no process, descriptor or socket is left."""

import json

import pytest
import trio
import trio.testing

from runtime.errors import PoolClosed, WorkerLost
from tests.runtime.rogue_calls import MATCH, PATIENCE_S, Rogue


async def counted(rogue: Rogue, state: bytes, amount: int) -> None:
    reply = await rogue.add(state, amount, deadline_s=PATIENCE_S)
    assert json.loads(reply["state"])["total"] == json.loads(state)["total"] + amount


async def test_a_call_cancelled_in_the_middle_kills_its_worker(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state()
        await rogue.ready()
        before = rogue.pids()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: rogue.misbehave(state, "sleep", 60_000, deadline_s=PATIENCE_S))
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        await counted(rogue, state, 3)
        pool = await rogue.ready()
        assert pool.lost == {"cancelled": 1}
        assert len(before - rogue.pids()) == 1


async def test_a_call_in_a_cancelled_scope_touches_no_worker(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state()
        await rogue.ready()
        before = rogue.pids()
        with trio.CancelScope() as scope:
            scope.cancel()
            await rogue.add(state)
        assert scope.cancelled_caught
        assert rogue.pids() == before
        assert rogue.statistics().lost == {}
        await counted(rogue, state, 4)


async def test_a_waiting_call_cancelled_leaves_the_line(open_rogue):
    async with open_rogue(warm=1, most=1) as rogue:
        state = await rogue.state()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: rogue.misbehave(state, "sleep", 300, deadline_s=PATIENCE_S))
            await trio.testing.wait_all_tasks_blocked()
            with trio.move_on_after(0.01) as scope:
                await rogue.add(state)
            assert scope.cancelled_caught
            assert rogue.statistics().waiting_live == 0
            await counted(rogue, state, 5)
        assert rogue.statistics().lost == {}


@pytest.mark.parametrize("delay_us", [0, 50, 100, 150, 200, 400, 800, 1600])
async def test_cancelled_at_any_moment_replies_stay_with_their_calls(open_rogue, delay_us):
    async with open_rogue(most=2) as rogue:
        state = await rogue.state()
        for amount in range(8):
            with trio.move_on_after(delay_us / 1_000_000):
                await rogue.add(state, 99, deadline_s=PATIENCE_S)
            await counted(rogue, state, amount)


async def test_pools_cancelled_while_workers_start(open_rogue):
    async with open_rogue() as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)
        await trio.testing.wait_all_tasks_blocked()


async def test_pools_cancelled_before_the_first_worker_is_ordered(open_rogue):
    async with open_rogue() as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)


@pytest.mark.parametrize("moment_ms", [1, 5, 10, 20, 40, 60, 80])
async def test_pools_cancelled_at_any_moment_of_a_start(open_rogue, moment_ms):
    async with open_rogue() as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)
        with trio.move_on_after(moment_ms / 1000):
            await rogue.state()


async def test_pools_cancelled_in_the_middle_of_calls_answer_them(open_rogue):
    outcomes: list[str] = []
    async with trio.open_nursery() as nursery, open_rogue(warm=1, most=1) as rogue:
        state = await rogue.state()

        async def call(name: str) -> None:
            try:
                await rogue.misbehave(state, "sleep", 60_000, deadline_s=PATIENCE_S)
            except (WorkerLost, PoolClosed) as error:
                outcomes.append(f"{name}: {type(error).__name__}")

        nursery.start_soon(call, "in flight")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(call, "waiting")
        await trio.testing.wait_all_tasks_blocked()
    # A call whose worker died before it read the request waits for another, until there is none.
    in_flight, waiting = sorted(outcomes)
    assert in_flight in {"in flight: WorkerLost", "in flight: PoolClosed"}
    assert waiting == "waiting: PoolClosed"


async def test_the_error_of_the_block_comes_out_as_it_is(open_rogue):
    async def block() -> None:
        async with open_rogue() as rogue:
            rogue.pools.hold(rogue.code_sha, MATCH)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await block()
