"""How many workers a pool has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.staffing import Backoff, Plan, PoolLimits, WorkerView, plan

LIMITS = PoolLimits()


def idle(key: int, since_s: float = 0.0, *, worn: bool = False) -> WorkerView:
    return WorkerView(key, False, since_s, worn)


def busy(key: int, since_s: float = 0.0, *, worn: bool = False) -> WorkerView:
    return WorkerView(key, True, since_s, worn)


@pytest.mark.parametrize(
    ("workers", "starting", "longest_wait_s", "expected"),
    [
        pytest.param([], 0, 0.0, Plan(2), id="the first match starts two"),
        pytest.param([], 2, 0.0, Plan(0), id="two that start are enough"),
        pytest.param([idle(1)], 0, 0.0, Plan(1), id="one was lost"),
        pytest.param([idle(1), busy(2)], 0, 0.0, Plan(0), id="a short call is no reason"),
        pytest.param([idle(1), busy(2, 0.2)], 0, 0.0, Plan(1), id="a long call is: its worker may be killed"),
        pytest.param([busy(1), busy(2)], 0, 0.05, Plan(1), id="a call that waits brings one more"),
        pytest.param([busy(1), busy(2)], 1, 0.05, Plan(0), id="one at a time"),
        pytest.param([busy(n, 9) for n in range(4)], 0, 9.0, Plan(0), id="never more than four"),
        pytest.param([idle(1), idle(2), idle(3, 61)], 0, 0.0, Plan(0, (3,)), id="the third goes when idle"),
        pytest.param([idle(1, 99), idle(2, 99)], 0, 0.0, Plan(0), id="two stay warm however idle"),
        pytest.param(
            [idle(1), idle(2, worn=True)], 0, 0.0, Plan(1), id="a worn one stays until another came"
        ),
        pytest.param([idle(1), idle(2), idle(3, worn=True)], 0, 0.0, Plan(0, (3,)), id="and goes then"),
        pytest.param(
            [busy(1, 9), busy(2, 9), busy(3, 9), idle(4, worn=True)],
            0,
            0.0,
            Plan(0, (4,)),
            id="or makes room",
        ),
    ],
)
def test_the_plan(workers: list[WorkerView], starting: int, longest_wait_s: float, expected: Plan) -> None:
    assert plan(workers, starting, longest_wait_s, True, LIMITS) == expected


def test_nobody_wants_it_any_longer() -> None:
    assert plan([idle(1), busy(2), idle(3)], 0, 0.0, False, LIMITS) == Plan(0, (1, 3))


views = st.builds(
    WorkerView, st.integers(1, 99), st.booleans(), st.floats(min_value=0, max_value=200), st.booleans()
)


@given(
    st.lists(views, max_size=4, unique_by=lambda view: view.key),
    st.integers(min_value=0, max_value=4),
    st.floats(min_value=0, max_value=5),
    st.booleans(),
)
def test_a_plan_never_stops_a_call_nor_passes_the_limit(
    workers: list[WorkerView], starting: int, longest_wait_s: float, wanted: bool
) -> None:
    todo = plan(workers, starting, longest_wait_s, wanted, LIMITS)
    stopped = [worker for worker in workers if worker.key in todo.stop]
    assert not any(worker.busy for worker in stopped)
    assert len(set(todo.stop)) == len(todo.stop)
    assert todo.start == 0 or len(workers) + starting + todo.start <= LIMITS.most
    if wanted:
        good = [worker for worker in workers if not worker.worn and worker not in stopped]
        had = [worker for worker in workers if not worker.worn]
        assert len(good) >= min(len(had), LIMITS.warm)


def test_the_first_failure_is_tried_again_at_once_then_pauses_double() -> None:
    backoff = Backoff(LIMITS)
    pauses = []
    now = 100.0
    for _ in range(4):
        backoff.failed(now)
        pauses.append(round(backoff.not_before - now, 6))
        now = backoff.not_before
    assert pauses == [0.0, 0.1, 0.2, 0.4]
    assert not backoff.resting


def test_too_many_failures_bring_a_rest_and_a_success_ends_it() -> None:
    backoff = Backoff(LIMITS)
    for second in range(LIMITS.failures_most):
        backoff.failed(100.0 + second)
    assert backoff.resting
    assert backoff.not_before == 100.0 + LIMITS.failures_most - 1 + LIMITS.rest_s
    backoff.succeeded()
    assert not backoff.resting
    assert backoff.not_before == 0.0


def test_failures_far_apart_bring_no_rest() -> None:
    backoff = Backoff(LIMITS)
    for number in range(3 * LIMITS.failures_most):
        backoff.failed(number * LIMITS.failures_window_s)
    assert not backoff.resting
