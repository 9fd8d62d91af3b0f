"""Batters come and go (Law 25): a place in the order, retirement, absence, and Law 40 for who is late."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket import partnership
from scorebox_cricket.commands import Absent, Resume, Retire, TimedOut
from scorebox_cricket.dismissal import fall
from scorebox_cricket.sheet import check_player, name_of, number_of
from scorebox_cricket.state import (
    ABSENT,
    BATTING,
    OUT,
    RETIRED_HURT,
    RETIRED_NOT_OUT,
    RETIRED_OUT,
    Draft,
    Record,
    new_batter,
)
from scorebox_cricket.strike import leave_place, take_place

RETIREMENTS = {"hurt": RETIRED_HURT, "not_out": RETIRED_NOT_OUT, "out": RETIRED_OUT}


def status_of(state: State, number: str) -> str | None:
    """How a batter of the latest innings stands; None for one who has not been in."""
    record = state["play"]["batters"].get(number)
    return None if record is None else record["status"]


def check_may_bat(state: State, key: str, field: str) -> Iterator[Refusal]:
    """Refuses a batter who is not of the side or is out; one who retired out may be allowed back."""
    side = state["innings"][-1]["side"]
    yield from check_player(state, side, key, field)
    number = number_of(state, side, key)
    status = status_of(state, number)
    if status == OUT:
        # A sheet may hold two players under one name: the scorer can insist.
        yield Refusal("already_out", f"{name_of(state, side, number)} is out.", field, overridable=True)
    elif status == RETIRED_OUT:
        yield Refusal(
            "retired_out",
            f"{name_of(state, side, number)} retired out: only the other captain can let him back.",
            field,
            overridable=True,
        )


def bring_in(draft: Draft, number: str) -> None:
    """A batter is at the crease: he gets his place in the order, or bats on where he stopped."""
    record = draft.play["batters"].get(number)
    if record is not None and record["status"] == BATTING:
        return
    if record is None:
        _enter(draft, number, BATTING)
        return
    record = draft.batter(number)
    if record["status"] == ABSENT:
        draft.warn("was_absent", f"{draft.name(draft.batting, number)} was down as absent and bats.")
    elif record["status"] == RETIRED_OUT:
        # A score that was set since may have no wicket left to give back.
        draft.totals["wickets"] = max(draft.totals["wickets"] - 1, 0)
        draft.touch_side()
    record["status"] = BATTING
    if record["position"] is None:
        record["position"] = _next_position(draft)


def _enter(draft: Draft, number: str, status: str) -> Record:
    """The first time a batter is in: the next place in the order is his."""
    state, side = draft.state, draft.batting
    position = _next_position(draft)
    record = draft.play["batters"][number] = new_batter(position, status)
    draft.touch("batting", number)
    if position > state["format"]["players"] + len(state["replaced"][side]):
        draft.warn("too_many_batters", f"{draft.name(side, number)} is batter {position} of this innings.")
    if number in state["replaced"][side]:
        draft.warn("replaced", f"{draft.name(side, number)} was replaced and bats.")
    if draft.totals["super_over"] and number in state["spent"]["out"][side]:
        draft.warn("super_over_batter", f"{draft.name(side, number)} was out in an earlier super over.")
    return record


def _next_position(draft: Draft) -> int:
    return 1 + sum(1 for record in draft.play["batters"].values() if record["position"] is not None)


def check_retire(state: State, given: Retire) -> Iterator[Refusal]:
    """Only someone who is out cannot retire."""
    side = state["innings"][-1]["side"]
    yield from check_player(state, side, given.batter, "batter")
    number = number_of(state, side, given.batter)
    if status_of(state, number) in (OUT, RETIRED_OUT):
        yield Refusal("already_out", f"{name_of(state, side, number)} is out.", "batter")


def retire(draft: Draft, given: Retire) -> None:
    """A batter leaves (Law 25.4). Retired out is a wicket, of no bowler; the others are none."""
    draft.open()
    number = number_of(draft.state, draft.batting, given.batter)
    record = draft.play["batters"].get(number)
    if record is None:
        _warn_not_due(draft)
        _enter(draft, number, BATTING)
    elif record["status"] in (RETIRED_HURT, RETIRED_NOT_OUT, ABSENT):
        draft.warn("was_away", f"{draft.name(draft.batting, number)} had left already.", "batter")
    _depart(draft, number)
    record = draft.batter(number)
    record["status"] = RETIREMENTS[given.kind]
    if given.kind == "out":
        fall(draft, number, "retired_out")


def _warn_not_due(draft: Draft) -> None:
    if None not in draft.play["crease"]:
        draft.warn("no_open_place", "Two batters are in: nobody was due.", "batter")


def _depart(draft: Draft, number: str) -> None:
    """Who leaves parts the pair, and his place is open."""
    if number in draft.play["crease"]:
        partnership.end(draft)
        leave_place(draft, number)


def check_resume(state: State, given: Resume) -> Iterator[Refusal]:
    """Who is out cannot come back."""
    yield from check_may_bat(state, given.batter, "batter")


def resume(draft: Draft, given: Resume) -> None:
    """A retired batter comes back; without an open place he is in from the ball he is typed on."""
    number = number_of(draft.state, draft.batting, given.batter)
    status = status_of(draft.state, number)
    if status in (None, BATTING):
        draft.warn("was_not_away", f"{draft.name(draft.batting, number)} had not retired.", "batter")
    come_in(draft, number, "batter")


def come_in(draft: Draft, number: str, field: str) -> None:
    """A batter takes an open place; without one he is in only from the ball he is typed on."""
    if take_place(draft, number):
        bring_in(draft, number)
    else:
        draft.warn("no_open_place", "Two batters are in: nobody has left for him.", field)


def check_timed_out(state: State, given: TimedOut) -> Iterator[Refusal]:
    """Law 40 is about a batter who is not there: not one who is in, nor one who is out."""
    side = state["innings"][-1]["side"]
    yield from check_player(state, side, given.batter, "batter")
    number = number_of(state, side, given.batter)
    name = name_of(state, side, number)
    if number in state["play"]["crease"]:
        yield Refusal("at_the_crease", f"{name} is at the crease and cannot be timed out.", "batter")
    if status_of(state, number) in (OUT, RETIRED_OUT):
        yield Refusal("already_out", f"{name} is out.", "batter")


def timed_out(draft: Draft, given: TimedOut) -> None:
    """Law 40: a wicket without a ball and without a bowler."""
    draft.open()
    number = number_of(draft.state, draft.batting, given.batter)
    bring_in(draft, number)
    _warn_not_due(draft)
    draft.batter(number)["status"] = OUT
    fall(draft, number, "timed_out")


def check_absent(state: State, given: Absent) -> Iterator[Refusal]:
    """Who is out, or in, is not absent."""
    side = state["innings"][-1]["side"]
    yield from check_player(state, side, given.batter, "batter")
    number = number_of(state, side, given.batter)
    name = name_of(state, side, number)
    if status_of(state, number) in (OUT, RETIRED_OUT):
        yield Refusal("already_out", f"{name} is out.", "batter")
    if number in state["play"]["crease"]:
        yield Refusal("at_the_crease", f"{name} is at the crease: retire him instead.", "batter")


def absent(draft: Draft, given: Absent) -> None:
    """A batter will not bat in this innings, or not bat on: the side has one fewer to come in."""
    draft.open()
    number = number_of(draft.state, draft.batting, given.batter)
    record = draft.play["batters"].get(number)
    if record is not None and record["status"] == ABSENT:
        draft.warn("was_away", f"{draft.name(draft.batting, number)} was down as absent already.", "batter")
        return
    if record is None:
        draft.play["batters"][number] = new_batter(None, ABSENT)
        draft.touch("batting", number)
    else:
        draft.batter(number)["status"] = ABSENT
