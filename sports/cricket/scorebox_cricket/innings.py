"""Innings begin and end (Laws 12 to 15): by the umpires' word, or by themselves when the figures tell."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import Innings, InningsEnd, Over
from scorebox_cricket.over import call_over
from scorebox_cricket.sheet import check_side, side_number
from scorebox_cricket.state import (
    BATTING,
    NOT_OUT,
    OUT,
    RETIRED_OUT,
    Draft,
    Record,
    in_progress,
    new_play,
    new_totals,
)
from scorebox_cricket.target import (
    SUPER_OVER_USUAL,
    limit_completed,
    main_innings,
    super_overs,
    target_of,
    wickets_allowed,
)

SUPER_OVER_INNINGS_KEPT = 6
"""Innings of the latest super overs in the state; the lines of older ones stand in the scoreboard."""
NOT_STARTED = Refusal("no_innings", "No innings is in progress: start one first.")


def check_playing(state: State) -> Iterator[Refusal]:
    """Refuses play outside an innings; a closed innings is reopened on the umpire's word."""
    if not state["innings"]:
        yield NOT_STARTED
    result = state["result"]
    if result is not None and (result["given"] or in_progress(state)):
        yield Refusal("match_over", "The match is over: it has a result.", overridable=True)
    elif state["innings"][-1]["closed"] is not None:
        yield Refusal(
            "innings_closed",
            f"The innings is closed ({state['innings'][-1]['closed'].replace('_', ' ')}).",
            overridable=True,
        )


def check_over(state: State, given: Over) -> Iterator[Refusal]:
    """Refuses an over without an innings, and one after its end unless the last over counts already."""
    if not state["innings"] or state["play"]["over"]["deliveries"]:
        yield from check_playing(state)


def go_on(draft: Draft) -> None:
    """Play goes on: an interval is over, a closed innings and a given result are taken back."""
    draft.open()
    draft.state["interval"] = None
    draft.state["result"] = None
    reopen(draft)


def check_innings(state: State, given: Innings) -> Iterator[Refusal]:
    """Refuses an innings while another is open, or that the side does not have."""
    yield from check_side(state, given.batting, "batting")
    if in_progress(state):
        yield Refusal("innings_open", "An innings is in progress: end it first.")
    if state["result"] is not None:
        yield Refusal("match_over", "The match is over.", overridable=True)
    side = side_number(state, given.batting) or 0
    turns = super_overs(state)
    if given.super_over:
        if given.follow_on:
            yield Refusal("follow_on", "Nobody follows on in a super over.", "follow_on")
        yield from _check_super_over(state, turns, side)
        return
    if turns:
        yield Refusal("super_over_begun", "After a super over only super overs follow.", "super_over")
    played = [totals["side"] for totals in state["innings"]]
    if played.count(side) >= state["format"]["innings_a_side"]:
        yield Refusal("no_innings_left", "The side has no innings left.", "batting")
    if given.follow_on:
        yield from _check_follow_on(state, side)


def _check_super_over(state: State, turns: list[Record], side: int) -> Iterator[Refusal]:
    if len(turns) % 2 == 1 and turns[-1]["side"] == side:
        yield Refusal("super_over_turn", "The side has had its turn in this super over.", "batting")
    if state["format"]["super_over"] is None:
        yield Refusal("no_super_over", "This match has no super overs.", "super_over", overridable=True)
    if not state["innings"]:
        yield Refusal("not_tied", "A super over follows the innings of the match.", "super_over")
    mains = main_innings(state)
    if not turns and target_of(state, mains[-1]) != mains[-1]["runs"] + 1:
        yield Refusal("not_tied", "The scores are not level.", "super_over", overridable=True)


def _check_follow_on(state: State, side: int) -> Iterator[Refusal]:
    """Law 14: the side that batted second follows on when it is behind by the lead."""
    lead = state["format"]["follow_on_lead"]
    mains = main_innings(state)
    behind = sum(-totals["runs"] if totals["side"] == side else totals["runs"] for totals in mains)
    if [totals["side"] for totals in mains] != [1 - side, side] or lead is None or behind < lead:
        yield Refusal(
            "follow_on",
            "Nobody follows on here."
            if lead is None
            else f"A follow-on needs a lead of {lead} after the first innings, not {behind}.",
            "follow_on",
            overridable=True,
        )


def start_innings(draft: Draft, given: Innings) -> None:
    """An innings begins."""
    state = draft.state
    side = side_number(state, given.batting) or 0
    if not given.super_over:
        _warn_order(draft, side, given)
    elif (turns := super_overs(state)) and len(turns) % 2 == 0:
        if turns[-1]["side"] != side:
            draft.warn("super_over_order", "The side that batted second in the last super over bats first.")
    elif not turns and main_innings(state)[-1]["side"] != side:
        draft.warn("super_over_order", "The side that batted second in the match bats first.")
    state["result"] = None
    begin_innings(draft, side, super_over=given.super_over)
    draft.totals["follow_on"] = given.follow_on
    draft.emits.append("innings_start")


def _warn_order(draft: Draft, side: int, given: Innings) -> None:
    state = draft.state
    mains = main_innings(state)
    toss = state["toss"]
    if not mains and toss is not None and (toss[0] == side) != (toss[1] == "bat"):
        draft.warn("toss_order", "By the toss the other side bats first.", "batting")
    if mains and mains[-1]["side"] == side and not given.follow_on:
        draft.warn("innings_order", "The side bats twice running: is it a follow-on?", "batting")


def begin_innings(draft: Draft, side: int, *, super_over: bool) -> None:
    """Adds the innings, with the penalty runs that waited for it and the limit it has."""
    state = draft.state
    innings = state["innings"]
    number = innings[-1]["number"] + 1 if innings else 1
    mains = len(main_innings(state))
    pending = list(state["pending"])
    penalty, pending[side] = pending[side], 0
    state["pending"] = pending
    if super_over:
        segment = f"super-over-{number - mains}"
        limit: list[int] | None = [(state["format"]["super_over"] or SUPER_OVER_USUAL)["overs"], 0]
        turns = super_overs(state)
        if len(turns) >= SUPER_OVER_INNINGS_KEPT and len(turns) % 2 == 0:
            state["innings"] = [*main_innings(state), *turns[2:]]
    else:
        segment = f"innings-{number}"
        limit = state["limit"]
        if state["format"]["innings_a_side"] > 1:
            overs = state["format"]["overs"]
            state["limit"] = None if overs is None else [overs, 0]
    state["interval"] = None
    draft.begin(new_totals(number, side, segment, super_over=super_over, penalty=penalty), new_play(limit))


def check_end(state: State, given: InningsEnd) -> Iterator[Refusal]:
    """Refuses an end without an innings; a side may forfeit one that has not begun (Law 15.2)."""
    if given.batting is not None:
        yield from check_side(state, given.batting, "batting")
    if given.reason == "target" and state["innings"] and not _target_reached(state):
        sentence = "The target is not reached: revise it, or give another reason."
        yield Refusal("target_not_reached", sentence, "reason", overridable=True)
    if in_progress(state):
        side = state["innings"][-1]["side"]
        if given.batting is not None and side_number(state, given.batting) != side:
            name = state["sides"][side]["name"]
            yield Refusal("wrong_side", f"The innings in progress is that of {name}.", "batting")
        return
    result = state["result"]
    if result is not None and result["given"]:
        yield Refusal("match_over", "The match is over: its result was given.", overridable=True)
    if given.reason == "forfeited":
        if given.batting is None:
            yield Refusal("side_missing", "Which side forfeits its innings?", "batting")
        else:
            yield from check_innings(state, Innings(batting=given.batting))
    elif not state["innings"]:
        yield NOT_STARTED
    else:
        yield Refusal(
            "innings_closed",
            f"The innings is closed already ({state['innings'][-1]['closed'].replace('_', ' ')}).",
            "reason",
            overridable=True,
        )


def end_innings(draft: Draft, given: InningsEnd) -> None:
    """The innings ends as the umpires or the captain say; passed over, the reason of a closed one changes."""
    if not in_progress(draft.state) and given.reason == "forfeited" and given.batting is not None:
        begin_innings(draft, side_number(draft.state, given.batting) or 0, super_over=False)
    else:
        draft.open()
    if draft.totals["closed"] is None:
        close(draft, given.reason)
    else:
        draft.totals["closed"] = given.reason
        draft.touch_side()


def close(draft: Draft, reason: str) -> None:
    """Closes the latest innings. An over with all its balls counts; who was in is not out."""
    draft.open()
    totals, play = draft.totals, draft.play
    if totals["part"] >= draft.state["format"]["balls_an_over"]:
        call_over(draft)
    totals["closed"] = reason
    for number in _in_order(play):
        if play["batters"][number]["status"] == BATTING:
            draft.batter(number)["status"] = NOT_OUT
    if totals["super_over"]:
        _note_spent(draft)
    draft.touch_side()
    draft.emits.append("innings_end")


def _in_order(play: Record) -> list[str]:
    """Batters by their place in the order: the order of a state's keys means nothing."""
    return sorted(play["batters"], key=lambda number: (play["batters"][number]["position"] or 0, number))


def _note_spent(draft: Draft) -> None:
    """Who was out in a super over does not bat in the next one, nor does who bowled it bowl the next."""
    spent, side = draft.state["spent"], draft.batting
    out, bowlers = list(spent["out"]), list(spent["bowlers"])
    play = draft.play
    fallen = [number for number in _in_order(play) if play["batters"][number]["status"] in (OUT, RETIRED_OUT)]
    out[side] = [*out[side], *(number for number in fallen if number not in out[side])]
    bowlers[1 - side] = sorted(play["bowlers"])
    draft.state["spent"] = {"out": out, "bowlers": bowlers}


def reopen(draft: Draft) -> None:
    """Play goes on in a closed innings. The reason it was closed for does not close it again by itself."""
    draft.open()
    totals, play = draft.totals, draft.play
    if totals["closed"] is None:
        return
    play["reopened"] = totals["closed"]
    totals["closed"] = None
    draft.emits.append("innings_reopened")
    for number in _in_order(play):
        if play["batters"][number]["status"] == NOT_OUT:
            draft.batter(number)["status"] = BATTING
    draft.touch_side()


def end_reasons(state: State) -> Iterator[str]:
    """Why the latest innings is over by its figures: the target, the wickets, the overs."""
    totals = state["innings"][-1]
    if _target_reached(state):
        yield "target"
    if totals["wickets"] >= wickets_allowed(state):
        yield "all_out"
    if limit_completed(totals, state["play"]["limit"]):
        yield "overs"


def _target_reached(state: State) -> bool:
    totals = state["innings"][-1]
    target = target_of(state, totals)
    return target is not None and totals["runs"] >= target


def touch_chases(draft: Draft, after: int = 0) -> None:
    """The lines of innings after number `after` change with their targets."""
    for totals in draft.state["innings"]:
        if totals["number"] > after and target_of(draft.state, totals) is not None:
            draft.touch("side", str(totals["number"]))


def settle(draft: Draft) -> None:
    """Ends the latest innings when its figures tell, and reopens a chase that is no longer won.

    A result that was given stands, whatever the figures.
    """
    state = draft.state
    result = state["result"]
    if not state["innings"] or (result is not None and result["given"]):
        return
    closed = state["innings"][-1]["closed"]
    if closed is None:
        reopened = state["play"]["reopened"]
        reason = next((reason for reason in end_reasons(state) if reason != reopened), None)
        if reason is not None:
            close(draft, reason)
    elif closed == "target" and not _target_reached(state):
        _miss_target(draft)


def _miss_target(draft: Draft) -> None:
    """A chase that was won is not any more: it goes on, unless its wickets or its overs ended it as well."""
    draft.open()
    target = target_of(draft.state, draft.totals)
    reason = next(end_reasons(draft.state), None)
    if reason is None:
        reopen(draft)
        draft.play["reopened"] = None
        draft.warn("innings_reopened", f"The target is now {target}: the innings goes on.")
    else:
        draft.totals["closed"] = reason
        draft.touch_side()
        draft.warn("target_missed", f"The target is now {target}: the innings ended before it was reached.")
