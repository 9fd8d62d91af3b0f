"""Who is let in, and when the others come back."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.admission import (
    ACCOUNT_SHARE,
    BUCKETS_LIMIT,
    BURST_S,
    RATE_LEAST,
    WAIT_LEAST_S,
    WAIT_MOST_S,
    Admission,
    Buckets,
    Limits,
    TurnedAway,
)

NOW = 1_000.0


def test_what_is_in_flight_is_bounded_and_room_is_found_again():
    admission = Admission(Limits(in_flight=8, per_account_s=0))
    assert [admission.enter(f"a{n}", NOW) for n in range(8)] == [None] * 8
    away = admission.enter("late", NOW)
    assert away is not None
    assert away.reason == "overloaded"
    admission.done("a0", NOW)
    assert admission.enter("late", NOW) is None
    assert admission.in_flight == 8


def test_one_account_has_a_share_and_no_more():
    admission = Admission(Limits(in_flight=8, per_account_s=0))
    share = 8 // ACCOUNT_SHARE
    outcomes = [admission.enter("flood", NOW) for _ in range(share + 1)]
    assert outcomes[:-1] == [None] * share
    assert isinstance(outcomes[-1], TurnedAway)
    assert outcomes[-1].reason == "too_fast"
    assert admission.enter("ann", NOW) is None


def test_an_account_is_held_to_its_pace():
    admission = Admission(Limits(in_flight=1_000_000, per_account_s=10))
    count = 0
    while admission.enter("feed", NOW) is None:
        count += 1
        admission.done("feed", NOW)
    assert count == 10 * BURST_S
    away = admission.enter("feed", NOW)
    assert away is not None
    assert away.reason == "too_fast"
    # The one that ended the loop comes back after 0.1 s.
    assert away.wait_s == pytest.approx(0.2)
    assert admission.enter("feed", NOW + 0.1) is None
    assert admission.enter("ann", NOW) is None


def test_those_of_one_account_that_is_too_fast_come_back_at_its_pace():
    admission = Admission(Limits(in_flight=1_000_000, per_account_s=10))
    while admission.enter("feed", NOW) is None:
        admission.done("feed", NOW)
    waits = [admission.enter("feed", NOW).wait_s for _ in range(50)]  # type: ignore[union-attr]
    assert {round(later - sooner, 6) for sooner, later in pairwise(waits)} == {0.1}
    for wait in waits:
        assert admission.enter("feed", NOW + wait) is None, "its place was free"
        admission.done("feed", NOW + wait)
    many = [admission.enter("feed", NOW).wait_s for _ in range(500)]  # type: ignore[union-attr]
    assert max(many) <= WAIT_MOST_S


def test_those_turned_away_come_back_one_by_one_as_fast_as_commands_are_done():
    admission = Admission(Limits(in_flight=1_000, per_account_s=0))
    for second in (0, 1):
        for _ in range(200):
            assert admission.enter("done", NOW + second) is None
            admission.done("done", NOW + second)
    for number in range(1_000):
        assert admission.enter(f"a{number}", NOW + 1) is None
    waits = [admission.enter("late", NOW + 1).wait_s for _ in range(1_000)]  # type: ignore[union-attr]
    gaps = {round(later - sooner, 6) for sooner, later in pairwise(waits)}
    assert gaps == {round(1 / 200, 6)}
    assert waits[0] >= WAIT_LEAST_S


@given(st.integers(0, 5_000), st.floats(0, 1e6))
def test_a_wait_is_never_past_its_bounds(refusals: int, now: float):
    admission = Admission(Limits(in_flight=4, per_account_s=0))
    for number in range(4):
        assert admission.enter(f"a{number}", now) is None
    for _ in range(refusals):
        away = admission.enter("late", now)
        assert away is not None
        assert WAIT_LEAST_S <= away.wait_s <= WAIT_MOST_S


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.floats(0, 3)), max_size=200))
def test_the_count_is_that_of_those_inside(moves: list[tuple[str, bool, float]]):
    admission = Admission(Limits(in_flight=16, per_account_s=20))
    inside: list[str] = []
    now = NOW
    for account, enters, passed in moves:
        now += passed
        if enters and admission.enter(account, now) is None:
            inside.append(account)
        elif not enters and inside:
            admission.done(inside.pop(), now)
        assert admission.in_flight == len(inside) <= 16
        assert all(inside.count(each) <= 16 // ACCOUNT_SHARE for each in "abc")


def test_buckets_are_bounded_in_number():
    buckets = Buckets(1, 1)
    assert buckets.take("first", NOW) == 0
    assert buckets.take("first", NOW) == 1
    for number in range(BUCKETS_LIMIT):
        buckets.take(f"k{number}", NOW)
    assert buckets.take("first", NOW) == 0, "it was forgotten"


def test_a_machine_that_does_nothing_is_reckoned_with_a_little():
    admission = Admission(Limits(in_flight=4, per_account_s=0))
    for number in range(4):
        admission.enter(f"a{number}", NOW)
    first, second = admission.enter("late", NOW), admission.enter("late", NOW)
    assert first is not None
    assert second is not None
    assert second.wait_s - first.wait_s == pytest.approx(1 / RATE_LEAST)
