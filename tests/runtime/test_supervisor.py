"""The supervisor: restarts, rests, and siblings that go on."""

import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from runtime.alerts import AlertBoard
from runtime.supervisor import REST_S, RESTART_WINDOW_S, RESTARTS, Intensity, Supervisor


@given(st.lists(st.floats(min_value=0.0, max_value=20.0), max_size=60))
def test_intensity_trips_exactly_when_the_window_holds_one_too_many(gaps):
    intensity, now = Intensity(), 0.0
    kept: list[float] = []
    for gap in gaps:
        now += gap
        kept = [moment for moment in [*kept, now] if moment >= now - RESTART_WINDOW_S]
        expected = len(kept) > RESTARTS
        assert intensity.failed(now) is expected
        if expected:
            kept = []


async def test_failing_child_is_restarted_and_siblings_go_on(nursery, autojump_clock):
    runs: list[str] = []
    steady = trio.Event()

    async def flaky() -> None:
        runs.append("flaky")
        if len(runs) < 3:
            raise RuntimeError("not yet")

    async def sibling() -> None:
        steady.set()
        await trio.sleep_forever()

    supervisor = Supervisor(nursery, AlertBoard())
    await supervisor.start("sibling", sibling)
    await supervisor.start("flaky", flaky)
    await trio.testing.wait_all_tasks_blocked()
    assert runs == ["flaky"] * 3
    assert steady.is_set()
    assert supervisor.children["sibling"].state == "running"
    assert "flaky" not in supervisor.children
    nursery.cancel_scope.cancel()


async def test_child_that_fails_too_often_rests_and_readiness_says_so(nursery, autojump_clock):
    alerts = AlertBoard()
    runs = 0

    async def broken() -> None:
        nonlocal runs
        runs += 1
        raise RuntimeError("broken")

    supervisor = Supervisor(nursery, alerts)
    await supervisor.start("broken", broken, essential=True)
    await trio.testing.wait_all_tasks_blocked()
    assert runs == RESTARTS + 1
    assert supervisor.unready() == ["broken"]
    assert alerts.counts["actor_resting"] == 1
    await trio.sleep(REST_S + 1)
    assert runs == 2 * (RESTARTS + 1)
    nursery.cancel_scope.cancel()


async def test_start_waits_for_the_signal(nursery):
    order: list[str] = []

    async def slow_start(*, task_status: trio.TaskStatus[None]) -> None:
        await trio.lowlevel.checkpoint()
        order.append("started")
        task_status.started()
        await trio.sleep_forever()

    supervisor = Supervisor(nursery, AlertBoard())
    await supervisor.start("slow", slow_start, signals=True)
    order.append("after")
    assert order == ["started", "after"]
    nursery.cancel_scope.cancel()
