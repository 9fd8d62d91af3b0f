"""The plan of a run."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.chaos.faults import FAULTS
from tests.chaos.kinds import KINDS
from tests.chaos.plan import DATABASE_ENDS_GAP_S, LONG, SHORT, plan

seeds = st.integers(0, 2**32)
MINUTE_S = 60.0


@given(seed=seeds)
def test_a_seed_gives_one_plan_and_another_seed_another(seed: int) -> None:
    assert plan(seed, MINUTE_S) == plan(seed, MINUTE_S)
    assert plan(seed, MINUTE_S) != plan(seed + 1, MINUTE_S)


@given(seed=seeds, seconds=st.floats(1, 600))
def test_faults_come_in_the_order_of_their_time_and_within_it(seed: int, seconds: float) -> None:
    times = [fault.at_s for fault in plan(seed, seconds)]
    assert times == sorted(times)
    assert all(0 < at_s < seconds for at_s in times)


@given(seed=seeds)
def test_no_kind_comes_twice_more_than_another_of_its_lane(seed: int) -> None:
    times = Counter(fault.kind for fault in plan(seed, 10 * MINUTE_S))
    for lane in ("light", "heavy"):
        counts = [times[kind] for kind in KINDS if kind.lane == lane]
        assert max(counts) - min(counts) <= 1


@given(seed=seeds)
def test_postgres_is_ended_no_oftener_than_its_keeper_starts_it(seed: int) -> None:
    ends = [fault.at_s for fault in plan(seed, 10 * MINUTE_S) if fault.kind.ends_database]
    assert all(later - earlier >= DATABASE_ENDS_GAP_S - 1e-6 for earlier, later in pairwise(ends))


@given(seed=seeds)
def test_ten_minutes_hold_more_than_500_faults_of_every_kind(seed: int) -> None:
    faults = plan(seed, 10 * MINUTE_S, LONG)
    assert len(faults) > 600
    assert {fault.kind for fault in faults} == set(KINDS)


def test_a_short_run_has_a_fault_of_nearly_every_light_kind() -> None:
    kinds = {fault.kind for fault in plan(1, 20.0, SHORT)}
    assert len(kinds) > 40


def test_every_kind_can_be_done() -> None:
    assert set(FAULTS) == {kind.name for kind in KINDS}
    assert len(KINDS) == len({kind.name for kind in KINDS})
