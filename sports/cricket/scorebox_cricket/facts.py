"""Facts of a match that belong in its log: toss, officials, powerplays, reviews, intervals, revisions.

Officials and most of a review stay in the log; the state keeps what screens show.
"""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import Interval, Powerplay, Review, Revise, Toss
from scorebox_cricket.innings import reopen, touch_chases
from scorebox_cricket.sheet import check_side, find_player, side_number
from scorebox_cricket.state import Draft, in_progress
from scorebox_cricket.target import limit_completed, main_innings, parse_overs

POWERPLAYS_KEPT = 6
"""Powerplays of an innings that screens show."""


def check_toss(state: State, given: Toss) -> Iterator[Refusal]:
    """Refuses an unknown side."""
    yield from check_side(state, given.winner, "winner")


def take_toss(draft: Draft, given: Toss) -> None:
    """Keeps the toss for screens and for the order of the innings."""
    state = draft.state
    winner = side_number(state, given.winner) or 0
    state["toss"] = [winner, given.decision]
    mains = main_innings(state)
    if mains and (mains[0]["side"] == winner) != (given.decision == "bat"):
        draft.warn("toss_order", "By this toss the other side would have batted first.", "winner")
    draft.emits.append("toss")


def check_powerplay(state: State, given: Powerplay) -> Iterator[Refusal]:
    """Refuses a powerplay that ends before it starts. Its balls are deliveries: "5.7" after a wide."""
    if _place(given.end) < _place(given.start):
        yield Refusal("powerplay_order", "The powerplay ends before it starts.", "end")


def _place(text: str) -> tuple[int, int]:
    over, _, ball = text.partition(".")
    return int(over), int(ball or 0)


def take_powerplay(draft: Draft, given: Powerplay) -> None:
    """Keeps the powerplay with its innings."""
    draft.open()
    kept = draft.play["powerplays"][-POWERPLAYS_KEPT + 1 :]
    draft.play["powerplays"] = [*kept, [given.kind, given.start, given.end]]
    draft.emits.append("powerplay")


def check_review(state: State, given: Review) -> Iterator[Refusal]:
    """Refuses an unknown side or batter."""
    yield from check_side(state, given.by, "by")
    if given.batter is not None and find_player(state, given.batter) is None:
        yield Refusal("unknown_player", f"Nobody is called {given.batter!r}.", "batter")


def take_review(draft: Draft, given: Review) -> None:
    """Counts a review that is lost: struck down, and not by an umpire's call."""
    draft.emits.append("review")
    if given.decision == "struck_down" and not given.umpires_call:
        draft.open()
        lost = list(draft.play["reviews"])
        lost[side_number(draft.state, given.by) or 0] += 1
        draft.play["reviews"] = lost


def take_interval(draft: Draft, given: Interval) -> None:
    """Play stops, or goes on."""
    draft.state["interval"] = None if given.resumed else given.kind
    draft.emits.append("play_resumed" if given.resumed else "play_stopped")


def check_revise(state: State, given: Revise) -> Iterator[Refusal]:
    """Refuses a revision of nothing, and overs that are none."""
    if given.target is None and given.overs is None and given.bowler_overs is None and given.method is None:
        yield Refusal("nothing_revised", "Say the target, the overs or a bowler's overs.", "target")
    balls = state["format"]["balls_an_over"]
    if given.overs is not None and parse_overs(given.overs, balls) is None:
        yield Refusal("overs", f"{given.overs} is no amount of overs of {balls} balls.", "overs")
    result = state["result"]
    if result is not None and result["given"]:
        yield Refusal("match_over", "The match is over: its result was given.", overridable=True)


def _revise_limit(draft: Draft, overs: str) -> None:
    """More overs for the last innings of the match let it go on where its overs had ended it."""
    state = draft.state
    limit = parse_overs(overs, state["format"]["balls_an_over"])
    mains = main_innings(state)
    last = len(mains) == 2 * state["format"]["innings_a_side"] and state["innings"][-1] is mains[-1]
    latest = in_progress(state) or (last and mains[-1]["closed"] == "overs")
    if latest:
        draft.open()
        draft.play["limit"] = limit
        if draft.totals["closed"] is not None and not limit_completed(draft.totals, limit):
            reopen(draft)
            draft.warn("innings_reopened", f"The innings now has {overs} overs: it goes on.")
        draft.play["reopened"] = None
    if not latest or (state["format"]["innings_a_side"] == 1 and not draft.totals["super_over"]):
        state["limit"] = limit


def revise(draft: Draft, given: Revise) -> None:
    """Revises the target and the overs of the innings in progress, or of the next one.

    Where each side has one innings, the overs hold for the one after as well.
    """
    state = draft.state
    if state["result"] is not None and state["result"]["given"]:
        state["result"] = None
    if given.target is not None or given.method is not None:
        old = state["target"] or {"runs": None, "method": None}
        state["target"] = {
            "runs": old["runs"] if given.target is None else given.target,
            "method": given.method or old["method"],
        }
    if given.bowler_overs is not None:
        state["quota"] = given.bowler_overs
    if given.overs is not None:
        _revise_limit(draft, given.overs)
    touch_chases(draft)
    draft.emits.append("revised")
