"""Pools with real workers that misbehave: the caller hears it in time, and the next call works."""

import json
import os
import random
import signal
from contextlib import suppress

import pytest
import trio
import trio.testing

from runtime.errors import (
    CodeMissing,
    FrameTooLong,
    PoolBusy,
    PoolClosed,
    RuleFailed,
    WorkerLost,
)
from runtime.pool import Pools
from runtime.staffing import PoolLimits
from tests.runtime.rogue_calls import MATCH, PATIENCE_S, Rogue, end_of, idle, watch


async def still_right(rogue: Rogue, state: bytes) -> None:
    """The next call is answered, and with the right answer."""
    reply = await rogue.add(state, 7, deadline_s=PATIENCE_S)
    assert json.loads(reply["state"])["total"] == json.loads(state)["total"] + 7


async def test_a_match_is_scored(open_rogue, guard_level):
    async with open_rogue() as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)
        state = await rogue.state()
        for total in range(1, 21):
            state = (await rogue.add(state, deadline_s=PATIENCE_S))["state"]
            assert json.loads(state)["total"] == total
        pool = await rogue.ready()
        assert (pool.sport, pool.version, pool.matches, pool.calls) == ("rogue", "1.0.0", 1, 21)
        assert [worker.guard for worker in pool.workers] == [guard_level, guard_level]
        assert all(worker.rss_bytes > 0 for worker in pool.workers)
        assert sum(worker.calls for worker in pool.workers) == 21 + 2  # and a hello each
        assert max(worker.cpu_us for worker in pool.workers) > 0


@pytest.mark.parametrize(
    ("misdeed", "amount", "reasons"),
    [
        ("loop", 0, {"deadline"}),
        ("loop_in_c", 0, {"deadline"}),
        ("sleep", 60_000, {"deadline"}),
        ("hang_up", 0, {"died"}),
        ("exit", 3, {"died"}),
        ("garbage", 0, {"garbage"}),
        ("long_header", 0, {"garbage"}),
        ("two_replies", 0, {"garbage"}),
        ("emit_a_number", 0, {"garbage"}),
        ("hoard", 512, {"memory"}),
        ("eat_memory", 0, {"memory", "deadline"}),
    ],
)
async def test_a_worker_that_misbehaves_is_lost_and_the_next_call_works(open_rogue, misdeed, amount, reasons):
    async with open_rogue() as rogue:
        state = await rogue.state()
        await rogue.ready()
        before = rogue.pids()
        with trio.fail_after(PATIENCE_S), pytest.raises(WorkerLost) as caught:
            await rogue.misbehave(state, misdeed, amount)
        assert caught.value.reason in reasons
        await still_right(rogue, state)
        pool = await rogue.ready()
        assert sum(pool.lost.values()) == 1
        assert len(before - rogue.pids()) == 1, "the worker was replaced"


async def test_the_deadline_is_the_callers(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state()
        reply = await rogue.misbehave(state, "sleep", 300, deadline_s=PATIENCE_S)
        assert reply["emits"] == ["survived"]
        with pytest.raises(WorkerLost, match="no answer to check_and_step after 50 ms"):
            await rogue.misbehave(state, "sleep", 60_000, deadline_s=0.05)


@pytest.mark.parametrize("misdeed", ["loop", "loop_in_c", "sleep"])
async def test_the_stack_tells_where_a_stuck_worker_hangs(open_rogue, misdeed):
    async with open_rogue() as rogue:
        state = await rogue.state()
        with pytest.raises(WorkerLost) as caught:
            await rogue.misbehave(state, misdeed, 60_000, deadline_s=0.5)
        assert caught.value.stack is not None
        assert f"in {misdeed}" in caught.value.stack
        assert "misdeeds.py" in caught.value.stack


async def test_a_loop_in_check_is_a_loop(open_rogue):
    async with open_rogue() as rogue:
        with pytest.raises(WorkerLost) as caught:
            await rogue.misbehave(await rogue.state(), "loop", in_check=True)
        assert caught.value.reason == "deadline"


@pytest.mark.parametrize("misdeed", ["raise", "system_exit", "recurse", "huge_state", "state_is_a_list"])
async def test_an_exception_in_the_rules_leaves_the_worker_alive(open_rogue, misdeed):
    async with open_rogue() as rogue:
        state = await rogue.state()
        await rogue.ready()
        before = rogue.pids()
        with pytest.raises(RuleFailed) as caught:
            await rogue.misbehave(state, misdeed, deadline_s=PATIENCE_S)
        assert caught.value.stack
        await still_right(rogue, state)
        assert rogue.pids() == before
        assert rogue.statistics().rules_failed == 1


@pytest.mark.parametrize("in_check", [True, False])
async def test_killed_in_the_middle_of_a_step(open_rogue, in_check):
    async with open_rogue() as rogue:
        state = await rogue.state()
        with pytest.raises(WorkerLost) as caught:
            await rogue.misbehave(state, "kill", in_check=in_check, deadline_s=PATIENCE_S)
        assert caught.value.reason == "died"
        await still_right(rogue, state)


async def test_a_worker_killed_while_idle_costs_no_call(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state()
        await rogue.ready()
        for pid in rogue.pids():
            os.kill(pid, signal.SIGKILL)
        await still_right(rogue, state)
        await rogue.ready()
        assert rogue.statistics().lost.keys() <= {"died"}


async def test_children_of_a_worker_die_with_it(open_rogue):
    async with open_rogue(withheld=("audit", "seccomp")) as rogue:
        state = await rogue.state()
        with pytest.raises(WorkerLost):
            await rogue.misbehave(state, "daemon")
        await rogue.ready()
    # open_rogue asserts that no process is left, and a child of the worker would be one.


async def test_a_flood_of_prints_is_bounded_and_harms_nobody(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state()
        reply = await rogue.misbehave(state, "flood", 3000, deadline_s=PATIENCE_S)
        assert reply["emits"] == ["survived"]
        await still_right(rogue, state)


async def test_what_a_sport_hoards_gets_its_worker_replaced(open_rogue):
    async with open_rogue(memory_mark_bytes=80 * 1024 * 1024, memory_look_calls=1) as rogue:
        state = await rogue.state()
        await rogue.ready()
        before = rogue.pids()
        await rogue.misbehave(state, "hoard", 100, deadline_s=PATIENCE_S)
        with trio.fail_after(PATIENCE_S):
            await rogue.pools.until(
                rogue.code_sha, lambda pool: len(rogue.pids() - before) == len(pool.workers) - 1
            )
        await still_right(rogue, state)


async def test_a_worker_is_replaced_after_so_many_calls(open_rogue):
    async with open_rogue(warm=1, most=2, calls_most=5) as rogue:
        state = await rogue.state()
        (first,) = rogue.pids()
        with watch(first) as end:
            for _ in range(5):
                await still_right(rogue, state)
            await end_of(end)
        assert rogue.statistics().lost == {}
        await still_right(rogue, state)


async def test_calls_that_wait_bring_more_workers_and_idle_ones_go(open_rogue):
    async with open_rogue(surplus_idle_s=0.01) as rogue:
        state = await rogue.state()
        await rogue.ready()
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(lambda: rogue.misbehave(state, "sleep", 800, deadline_s=PATIENCE_S))
            with trio.fail_after(PATIENCE_S):
                await rogue.pools.until(rogue.code_sha, lambda pool: len(pool.workers) > 2)
        with trio.fail_after(PATIENCE_S):
            await rogue.pools.until(rogue.code_sha, lambda pool: len(pool.workers) == 2)
        await still_right(rogue, state)


async def test_first_come_first_served(open_rogue):
    async with open_rogue(warm=1, most=1) as rogue:
        state = await rogue.state()
        order: list[int] = []

        async def add(number: int) -> None:
            await rogue.add(state, number, deadline_s=PATIENCE_S)
            order.append(number)

        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(add, number)
                await trio.testing.wait_all_tasks_blocked()
        assert order == list(range(10))


async def test_background_calls_leave_a_worker_to_live_ones(open_rogue):
    async with open_rogue(most=2) as rogue:
        state = await rogue.state()
        await rogue.ready()
        background_done: list[str] = []

        async def background(name: str) -> None:
            await rogue.misbehave(state, "sleep", 600, deadline_s=PATIENCE_S, priority="background")
            background_done.append(name)

        async with trio.open_nursery() as nursery:
            for name in ("first", "second"):
                nursery.start_soon(background, name)
                await trio.testing.wait_all_tasks_blocked()
            pool = rogue.statistics()
            assert sorted(worker.state for worker in pool.workers) == ["background", "idle"]
            assert (pool.waiting_live, pool.waiting_background) == (0, 1)
            for _ in range(3):
                await still_right(rogue, state)
            assert background_done == []
        assert background_done == ["first", "second"]


async def test_a_call_that_waits_too_long_is_told_so(open_rogue):
    async with open_rogue(warm=1, most=1, waiting_s=0.05) as rogue:
        with trio.fail_after(PATIENCE_S):
            await rogue.pools.until(rogue.code_sha, lambda pool: len(pool.workers) == 1)
        state = await rogue.state()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: rogue.misbehave(state, "sleep", 500, deadline_s=PATIENCE_S))
            await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(PoolBusy, match=r"no worker of rogue became free within 0\.05 s"):
                await rogue.add(state)


async def test_too_many_waiting_calls_are_refused_at_once(open_rogue):
    async with open_rogue(warm=1, most=1, waiting_most=2) as rogue:
        state = await rogue.state()
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(lambda: rogue.misbehave(state, "sleep", 200, deadline_s=PATIENCE_S))
                await trio.testing.wait_all_tasks_blocked()
            with pytest.raises(PoolBusy, match="2 calls wait"):
                await rogue.add(state)


async def test_a_request_too_long_for_a_frame_harms_no_worker(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state()
        await rogue.ready()
        before = rogue.pids()
        with pytest.raises(FrameTooLong):
            await rogue.call("summary", {"state": b"x" * 2_000_000})
        await still_right(rogue, state)
        assert rogue.pids() == before


async def test_a_long_request_and_a_long_reply_pass_in_pieces(open_rogue):
    async with open_rogue() as rogue:
        state = await rogue.state(padding=15_000)
        event = ["rogue.add", json.dumps({"amount": 1, "note": "n"}).encode() + b" " * 3000, []]
        reply = await rogue.call("replay", {"state": state, "events": [event] * 250}, deadline_s=PATIENCE_S)
        assert json.loads(reply["state"])["total"] == 250
        reply = await rogue.misbehave(state, "huge_reply", 900_000, deadline_s=PATIENCE_S)
        assert len(reply["lines"][0][3]) > 900_000


async def test_a_pool_stops_after_its_last_match_and_starts_again(open_rogue):
    async with open_rogue(idle_stop_s=0.02) as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)
        await rogue.ready()
        rogue.pools.hold(rogue.code_sha, "match-2")
        rogue.pools.release(rogue.code_sha, MATCH)
        assert rogue.statistics().matches == 1
        (one, two) = rogue.pids()
        with watch(one) as first, watch(two) as second:
            rogue.pools.release(rogue.code_sha, "match-2")
            await end_of(first)
            await end_of(second)
        assert rogue.statistics().lost == {}
        await still_right(rogue, await rogue.state())


async def test_a_held_pool_outlasts_its_idle_time(open_rogue):
    async with open_rogue(idle_stop_s=0.01) as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)
        await rogue.ready()
        before = rogue.pids()
        # Ten idle times. Nothing says that a pool was let alone; too short a wait would only see less.
        await trio.sleep(0.1)
        rogue.pools.hold(rogue.code_sha, "match-2")  # has the crew look at itself
        await trio.testing.wait_all_tasks_blocked()
        assert rogue.pids() == before
        assert idle(rogue.statistics()) == 2


async def test_missing_code_is_told_by_the_call_and_not_by_the_hold(open_rogue):
    async with open_rogue() as rogue:
        rogue.pools.hold("0" * 64, MATCH)
        with pytest.raises(CodeMissing, match="no installed version has the code_sha 0000"):
            await rogue.pools.call("0" * 64, "ping", {})
        rogue.pools.release("0" * 64, MATCH)


async def test_pools_that_do_not_run_say_so(store, version):
    pools = Pools(store)
    pools.hold(version.code_sha, MATCH)
    with pytest.raises(PoolClosed):
        await pools.call(version.code_sha, "ping", {})
    async with trio.open_nursery() as nursery:
        await nursery.start(pools.run)
        assert [pool.matches for pool in pools.statistics()] == [1], "what was held before starts with it"
        nursery.cancel_scope.cancel()
    with pytest.raises(PoolClosed):
        await pools.call(version.code_sha, "ping", {})
    assert PoolLimits().most == 4


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_honest_matches_beside_rogue_ones_count_right(open_rogue, seed):
    chance = random.Random(seed)
    async with open_rogue(call_deadline_s=2.0) as rogue:
        start = await rogue.state(padding=2000)

        async def honest(amounts: list[int]) -> None:
            state, total = start, 0
            for amount in amounts:
                while True:
                    try:
                        reply = await rogue.add(state, amount)
                    except (WorkerLost, PoolBusy):
                        continue  # a tablet tries again
                    break
                total += amount
                state = reply["state"]
                assert json.loads(state)["total"] == total

        async def vandal(misdeeds: list[str]) -> None:
            for misdeed in misdeeds:
                with suppress(WorkerLost, RuleFailed, PoolBusy):
                    await rogue.misbehave(start, misdeed, 40, deadline_s=0.02)

        async def killer(kills: int) -> None:
            for _ in range(kills):
                await rogue.ready(1)
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(sorted(rogue.pids())), signal.SIGKILL)

        misdeeds = ["loop", "exit", "garbage", "raise", "kill", "two_replies", "hoard", "flood", "hang_up"]
        with trio.fail_after(4 * PATIENCE_S):
            async with trio.open_nursery() as nursery:
                for _ in range(6):
                    nursery.start_soon(honest, [chance.randrange(10) for _ in range(40)])
                for _ in range(2):
                    nursery.start_soon(vandal, [chance.choice(misdeeds) for _ in range(8)])
                nursery.start_soon(killer, 3)
        assert len(rogue.statistics().workers) <= 4
