"""Strike: who the Laws say faces next, and what is odd about who was typed (Laws 18.11, 18.12)."""

from scorebox_cricket.commands import Delivery, Wicket
from scorebox_cricket.state import BATTING, RETIRED_HURT, RETIRED_NOT_OUT, Draft
from scorebox_cricket.target import wickets_allowed

CROSSING = frozenset({"run_out", "obstructing_the_field", "handled_the_ball"})
"""Dismissals after which a run in progress counts for the ends if the batters had crossed (Law 18.12)."""
CATCHES = frozenset({"caught", "caught_and_bowled"})


def runs_run(ball: Delivery, wide_runs: int, no_ball_runs: int) -> int:
    """Runs that count for the strike: all but the penalties for the wide and the no-ball.

    Boundaries are even, so the parity holds for them and for overthrows too.
    """
    runs = ball.bat + ball.byes + ball.leg_byes
    if ball.wides > wide_runs:
        runs += ball.wides - wide_runs
    if ball.no_balls > no_ball_runs:
        runs += ball.no_balls - no_ball_runs
    return runs


def compare_crease(draft: Draft, striker: str, non_striker: str | None) -> None:
    """Warns where the typed batters are not those the Laws give; who is not there any more has retired."""
    play = draft.play
    expected_striker, expected_non_striker = play["crease"]
    if non_striker is None:
        others = (expected_non_striker, expected_striker)
        non_striker = next((other for other in others if other not in (None, striker)), None)
        if non_striker is not None or _others_may_bat(draft):
            draft.warn("non_striker", "No non-striker was typed.", "non_striker")
    swapped = striker == expected_non_striker or (
        expected_striker is not None and non_striker == expected_striker
    )
    if swapped and not play["unsure"] and non_striker is not None:
        draft.warn(
            "strike",
            f"By the Laws {_faces(draft, expected_striker)} faces, not {draft.name(draft.batting, striker)}.",
            "striker",
        )
    for number in (expected_striker, expected_non_striker):
        if number is not None and number not in (striker, non_striker):
            leave_unannounced(draft, number)
    play["crease"] = [striker, non_striker]
    play["unsure"] = play["unknown"] = False


def _others_may_bat(draft: Draft) -> bool:
    """True where a side has more than one batter left who has not retired."""
    away = sum(
        record["status"] in (RETIRED_HURT, RETIRED_NOT_OUT) for record in draft.play["batters"].values()
    )
    return bool(wickets_allowed(draft.state) - draft.totals["wickets"] - away > 0)


def _faces(draft: Draft, expected: str | None) -> str:
    return "the new batter" if expected is None else draft.name(draft.batting, expected)


def leave_unannounced(draft: Draft, number: str) -> None:
    """A batter who was in is not typed any more: he counts as retired, and may come back."""
    if draft.play["batters"][number]["status"] == BATTING:
        draft.batter(number)["status"] = RETIRED_NOT_OUT
        draft.warn(
            "batter_left",
            f"{draft.name(draft.batting, number)} was in and was not typed: he counts as retired not out.",
        )


def turn_strike(draft: Draft, ball: Delivery, out: list[tuple[Wicket, str]]) -> None:
    """Where the batters stand after a delivery; the place of one who is out is left open."""
    play, playing = draft.play, draft.state["format"]
    striker, non_striker = play["crease"]
    swapped = runs_run(ball, playing["wide_runs"], playing["no_ball_runs"]) % 2 == 1
    for wicket, _ in out:
        if wicket.kind in CROSSING or (wicket.kind in CATCHES and playing["crossing_on_catch"]):
            swapped ^= bool(wicket.crossed)
            play["unsure"] |= wicket.crossed is None
    if swapped and non_striker is not None:
        striker, non_striker = non_striker, striker
    gone = {number for _, number in out}
    play["crease"] = [
        None if striker in gone else striker,
        None if non_striker in gone else non_striker,
    ]


def take_place(draft: Draft, number: str) -> bool:
    """A batter comes in to an open place; false without one. Where both are open it is unsure who faces."""
    crease = list(draft.play["crease"])
    if number in crease:
        return True
    if None not in crease:
        return False
    draft.play["unsure"] |= crease.count(None) == 2
    crease[crease.index(None)] = number
    draft.play["crease"] = crease
    return True


def leave_place(draft: Draft, number: str) -> None:
    """A batter's place at the crease becomes open."""
    striker, non_striker = draft.play["crease"]
    draft.play["crease"] = [
        None if striker == number else striker,
        None if non_striker == number else non_striker,
    ]
