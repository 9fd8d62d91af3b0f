"""Steps in batches: what goes together, and that one step's misdeed stays its own."""

import json
from collections import deque
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import RuleFailed, WorkerLost
from runtime.pool import open_pools
from runtime.staffing import PoolLimits
from runtime.stepping import BATCH_LIMIT_BYTES, BATCH_LIMIT_STEPS, Stepper, _next_batch, _Waiting
from runtime.versions import SportVersion, VersionStore
from tests.runtime.rogue_calls import Rogue


@given(st.lists(st.integers(min_value=0, max_value=BATCH_LIMIT_BYTES), max_size=60))
def test_batches_keep_order_and_limits(sizes: list[int]) -> None:
    given_steps = [_Waiting.__new__(_Waiting) for _ in sizes]
    for step, size in zip(given_steps, sizes, strict=True):
        step.payload = {"state": bytes(size), "input": b""}
    waiting, taken = deque(given_steps), []
    while waiting:
        batch = _next_batch(waiting)
        assert 1 <= len(batch) <= BATCH_LIMIT_STEPS
        assert len(batch) == 1 or sum(step.size_bytes for step in batch) <= BATCH_LIMIT_BYTES
        taken += batch
    assert taken == given_steps


async def step_all(
    store: VersionStore, version: SportVersion, commands: list[tuple[str, dict[str, Any]]]
) -> tuple[list[Any], Stepper]:
    """Send all at once; what came of each."""
    found: list[Any] = [None] * len(commands)
    async with open_pools(store, limits=PoolLimits(warm=1, most=2)) as pools, trio.open_nursery() as outer:
        rogue = Rogue(pools, version)
        state = await rogue.state()
        await rogue.ready(1)
        stepper = Stepper(pools)
        await outer.start(stepper.run)

        async def step(place: int, code: str, value: dict[str, Any]) -> None:
            payload = {"state": state, "code": code, "input": json.dumps(value).encode(), "override": []}
            try:
                found[place] = await stepper.step(version.code_sha, payload)
            except (WorkerLost, RuleFailed) as error:
                found[place] = error

        async with trio.open_nursery() as nursery:
            for place, (code, value) in enumerate(commands):
                nursery.start_soon(step, place, code, value)
        outer.cancel_scope.cancel()
    return found, stepper


async def test_steps_that_wait_go_together_and_each_gets_its_own_reply(
    store: VersionStore, version: SportVersion
) -> None:
    found, stepper = await step_all(store, version, [("rogue.add", {"amount": n}) for n in range(40)])
    assert [json.loads(reply["state"])["total"] for reply in found] == list(range(40))
    assert stepper.batched > stepper.batches > 0


async def test_refusals_and_failures_of_a_batch_are_each_their_own(
    store: VersionStore, version: SportVersion
) -> None:
    commands: list[tuple[str, dict[str, Any]]] = []
    for n in range(10):
        commands += [
            ("rogue.add", {"amount": n}),
            ("rogue.add", {"amount": -1}),
            ("rogue.misbehave", {"misdeed": "raise"}),
            ("rogue.unknown", {}),
        ]
    found, stepper = await step_all(store, version, commands)
    for n in range(10):
        taken, wrong, failed, unknown = found[4 * n : 4 * n + 4]
        assert json.loads(taken["state"])["total"] == n
        assert wrong["refusal"]["code"] == "invalid_input"
        assert isinstance(failed, RuleFailed)
        assert unknown["refusal"]["code"] == "unknown_command"
    assert stepper.batches > 0


@pytest.mark.parametrize("misdeed", ["loop", "kill", "eat_memory", "garbage"])
async def test_a_step_that_kills_its_batch_harms_no_other(
    store: VersionStore, version: SportVersion, misdeed: str
) -> None:
    commands: list[tuple[str, dict[str, Any]]] = [("rogue.add", {"amount": n}) for n in range(12)]
    commands.insert(7, ("rogue.misbehave", {"misdeed": misdeed}))
    found, _ = await step_all(store, version, commands)
    assert isinstance(found.pop(7), WorkerLost)
    assert [json.loads(reply["state"])["total"] for reply in found] == list(range(12))
