"""Penalty runs that belong to no delivery's runs (Laws 18.5 and 41.18).

They are added to the side's innings in progress, else to its latest one, else to its next. In a super over
they stay within that super over.
"""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket import partnership
from scorebox_cricket.commands import Penalty
from scorebox_cricket.innings import touch_chases
from scorebox_cricket.sheet import check_side, side_number
from scorebox_cricket.state import Draft, Record
from scorebox_cricket.target import super_overs, target_of


def innings_for(state: State, side: int) -> Record | None:
    """The totals that penalty runs for a side go to, or None where they wait for its next innings."""
    innings: list[Record] = state["innings"]
    candidates = innings
    if innings and innings[-1]["super_over"]:
        turns = super_overs(state)
        candidates = turns[-2:] if len(turns) % 2 == 0 else turns[-1:]
    return next((totals for totals in reversed(candidates) if totals["side"] == side), None)


def check_penalty(state: State, given: Penalty) -> Iterator[Refusal]:
    """Refuses an innings that is not the side's, and taking back more than was given."""
    yield from check_side(state, given.side, "side")
    side = side_number(state, given.side) or 0
    if given.innings is None:
        totals = innings_for(state, side)
    else:
        totals = next((t for t in state["innings"] if t["number"] == given.innings), None)
        if totals is None:
            yield Refusal(
                "no_such_innings", f"There is no innings {given.innings} to give runs to.", "innings"
            )
        elif totals["side"] != side:
            yield Refusal("wrong_side", f"Innings {given.innings} is the other side's.", "innings")
    so_far = state["pending"][side] if totals is None else totals["penalty"]
    if so_far + given.runs < 0:
        yield Refusal("penalty_taken_back", f"Only {so_far} penalty runs were given there.", "runs")
    if totals is not None and totals["runs"] + given.runs < 0:
        # The score was set below what was counted before.
        yield Refusal("penalty_taken_back", f"The side has {totals['runs']} runs only.", "runs")


def give_penalty(draft: Draft, given: Penalty) -> None:
    """Adds the runs, or takes them back."""
    side = side_number(draft.state, given.side) or 0
    award(draft, side, given.runs, given.innings)


def award(draft: Draft, side: int, runs: int, number: int | None = None) -> None:
    """Adds penalty runs to a side's innings; a chase gets its new target in its line."""
    state = draft.state
    if number is None:
        found = innings_for(state, side)
        number = None if found is None else found["number"]
    if number is None:
        pending = list(state["pending"])
        pending[side] += runs
        state["pending"] = pending
        return
    totals = draft.earlier(number)
    totals["penalty"] += runs
    totals["runs"] += runs
    draft.touch("side", str(number))
    if state["innings"][-1]["number"] == number and totals["closed"] is None:
        draft.open()
        partnership.add(draft, 0, 0, penalty=runs)
    touch_chases(draft, after=number)
    target = state["target"]
    revised = target is not None and target["runs"] is not None
    if revised and not totals["super_over"] and target_of(state, totals) is None:
        draft.warn(
            "target_given",
            f"The target stays {target['runs']} as revised: revise it if the penalty changes it.",
        )
