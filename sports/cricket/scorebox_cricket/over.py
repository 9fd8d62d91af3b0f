"""The over (Law 17): who may bowl it, the umpire's call that ends it, what a maiden is."""

from collections.abc import Iterator
from typing import Any

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import Over
from scorebox_cricket.sheet import name_of
from scorebox_cricket.state import Draft, new_over


def check_bowler(state: State, number: str, field: str) -> Iterator[Refusal]:
    """Refuses a bowler who may not bowl in this over (Laws 17.6 and 17.8, quotas); an umpire may allow him.

    A bowler who finishes another's over may have bowled no part of the one before, and may not bowl the
    next. A part over counts as a whole one toward the quota. Who was announced for the next ball was checked.
    """
    play, playing = state["play"], state["format"]
    if number in play["over"]["bowlers"] or number == play["over"]["bowler"]:
        return
    side = 1 - state["innings"][-1]["side"]
    running = play["streaks"].get(number, 0)
    if running >= playing["overs_in_a_row"]:
        yield Refusal(
            "overs_running",
            f"{name_of(state, side, number)} bowled the over before: nobody may bowl "
            f"{playing['overs_in_a_row'] + 1} overs running.",
            field,
            overridable=True,
        )
    quota = state["quota"]
    figures = play["bowlers"].get(number)
    if quota is None or figures is None or state["innings"][-1]["super_over"]:
        return
    if figures["begun"] >= quota:
        yield Refusal(
            "bowler_quota",
            f"{name_of(state, side, number)} has bowled the {quota} overs a bowler may bowl.",
            field,
            overridable=True,
        )


def take_the_ball(draft: Draft, bowler: str) -> dict[str, Any]:
    """Makes a bowler the one of this delivery, with warnings; hands back his record."""
    play, state = draft.play, draft.state
    over = play["over"]
    side = 1 - draft.batting
    expected = over["bowler"]
    if over["deliveries"] and expected is not None and expected != bowler:
        draft.warn(
            "bowler_changed",
            f"{draft.name(side, bowler)} bowls in the over of {draft.name(side, expected)} "
            "without a change of bowler.",
            "bowler",
        )
    balls_an_over = state["format"]["balls_an_over"]
    if draft.totals["part"] >= balls_an_over:
        draft.warn(
            "over_length",
            f"This is ball {draft.totals['part'] + 1} of the over: the umpire has not called it.",
        )
    record = draft.bowler(bowler)
    if bowler not in over["bowlers"]:
        over["bowlers"] = [*over["bowlers"], bowler]
        record["begun"] += 1
        if record["begun"] == 1:
            _warn_newcomer(draft, side, bowler)
    over["bowler"] = bowler
    return record


def _warn_newcomer(draft: Draft, side: int, bowler: str) -> None:
    state = draft.state
    if bowler in state["replaced"][side]:
        draft.warn("replaced", f"{draft.name(side, bowler)} was replaced and bowls.", "bowler")
    if draft.totals["super_over"] and bowler in state["spent"]["bowlers"][side]:
        draft.warn("super_over_bowler", f"{draft.name(side, bowler)} bowled the super over before.", "bowler")


def change_bowler(draft: Draft, bowler: str) -> None:
    """Another bowler is to bowl the next ball (Law 17.8)."""
    draft.play["over"]["bowler"] = bowler


def end_over(draft: Draft, given: Over) -> None:
    """The umpire's call as a command. An innings that ended with its last ball has counted the over."""
    draft.open()
    if draft.totals["closed"] is not None and not draft.play["over"]["deliveries"]:
        draft.warn("over_counted", "The innings has ended, and its last over counts already.")
        return
    if not draft.play["over"]["deliveries"]:
        draft.warn("over_empty", "No ball was scored in this over.")
    call_over(draft)


def call_over(draft: Draft) -> None:
    """The umpire calls "over": the over counts, ends change where they do, the bowlers have theirs."""
    over, totals, play = draft.play["over"], draft.totals, draft.play
    balls_an_over = draft.state["format"]["balls_an_over"]
    if totals["part"] != balls_an_over:
        draft.warn("over_length", f"The over had {totals['part']} balls, not {balls_an_over}.")
    if len(over["bowlers"]) == 1 and over["deliveries"] and over["whole"]:
        record = draft.bowler(over["bowlers"][0])
        record["overs"] += 1
        record["part"] -= totals["part"]
        if over["charged"] == 0 and totals["part"]:
            record["maidens"] += 1
            draft.emits.append("maiden")
    totals["overs"] += 1
    totals["part"] = 0
    if totals["overs"] % draft.state["format"]["overs_an_end"] == 0:
        striker, non_striker = play["crease"]
        play["crease"] = [non_striker, striker]
    play["streaks"] = {number: play["streaks"].get(number, 0) + 1 for number in over["bowlers"]}
    play["over"] = new_over()
    draft.touch_side()
    draft.emits.append("over")
