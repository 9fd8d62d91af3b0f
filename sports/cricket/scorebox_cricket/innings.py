"""Innings begin and end (Laws 12 to 15): by the umpires' word, or by themselves when the figures tell."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import Innings, InningsEnd, Over
from scorebox_cricket.over import call_over
from scorebox_cricket.sheet import check_side, side_number
from scorebox_cricket.state import BATTING, NOT_OUT, OUT, Draft, Record, in_progress, new_play, new_totals
from scorebox_cricket.target import limit_completed, main_innings, super_overs, target_of

SUPER_OVER_INNINGS_KEPT = 6
"""Innings of the latest super overs in the state; the lines of older ones stand in the scoreboard."""
SUPER_OVER_USUAL = {"overs": 1, "wickets": 2}
"""A super over where the format names none."""
NOT_STARTED = Refusal("no_innings", "No innings is in progress: start one first.")


def check_playing(state: State) -> Iterator[Refusal]:
    """Refuses play outside an innings; a closed innings is reopened on the umpire's word."""
    if not state["innings"]:
        yield NOT_STARTED
    result = state["result"]
    if result is not None and result["given"]:
        yield Refusal("match_over", "The match is over: its result was given.", overridable=True)
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
    state = draft.state
    if state["interval"] is not None:
        state["interval"] = None
    if state["result"] is not None and state["result"]["given"]:
        state["result"] = None
        draft.emits.append("match_reopened")
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
    mains = main_innings(state)
    if not turns and not (mains and target_of(state, mains[-1]) == mains[-1]["runs"] + 1):
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
    if state["result"] is not None:
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
    if in_progress(state):
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
    play["free_hit"] = False
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
    fallen = [number for number in _in_order(play) if play["batters"][number]["status"] == OUT]
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
    for number in _in_order(play):
        if play["batters"][number]["status"] == NOT_OUT:
            draft.batter(number)["status"] = BATTING
    draft.touch_side()


def end_reason(state: State) -> str | None:
    """Why the innings in progress is over by its figures, or None."""
    totals, play, playing = state["innings"][-1], state["play"], state["format"]
    target = target_of(state, totals)
    if target is not None and totals["runs"] >= target:
        return "target"
    wickets = totals["wickets"]
    if wickets + play["absent"] >= playing["players"] - 1:
        return "all_out"
    if totals["super_over"] and wickets >= (playing["super_over"] or SUPER_OVER_USUAL)["wickets"]:
        return "all_out"
    return "overs" if limit_completed(totals, play["limit"]) else None


def settle(draft: Draft) -> None:
    """Ends the latest innings when its figures tell, and reopens a chase that is no longer won.

    A result that was given stands, whatever the figures.
    """
    state = draft.state
    result = state["result"]
    if not state["innings"] or (result is not None and result["given"]):
        return
    totals, play = state["innings"][-1], state["play"]
    if totals["closed"] is None:
        reason = end_reason(state)
        if reason is not None and reason != play["reopened"]:
            close(draft, reason)
    elif totals["closed"] == "target":
        target = target_of(state, totals)
        if target is not None and totals["runs"] < target:
            reopen(draft)
            draft.play["reopened"] = None
            draft.warn("innings_reopened", f"The target is now {target}: the innings goes on.")
