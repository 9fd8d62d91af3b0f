"""The score set by hand after a mishap: a visible checkpoint from which play goes on.

The side's total, wickets and overs become what was typed. Players keep the figures that were scored: what the
total has beside them stands in the side's line as unaccounted.
"""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import SetScore
from scorebox_cricket.innings import NOT_STARTED, touch_chases
from scorebox_cricket.state import Draft, Record, new_over
from scorebox_cricket.target import SUPER_OVER_USUAL, parse_overs


def check_set_score(state: State, given: SetScore) -> Iterator[Refusal]:
    """Refuses an innings that is not there, overs that are none, and more wickets than can fall."""
    if not state["innings"]:
        yield NOT_STARTED
    totals = _innings(state, given)
    if totals is None:
        yield Refusal("no_such_innings", f"There is no innings {given.innings} to set.", "innings")
        return
    balls_an_over = state["format"]["balls_an_over"]
    if _overs(given, balls_an_over) is None:
        yield Refusal("overs", f"{given.overs} is no amount of overs of {balls_an_over} balls.", "overs")
    most: int = state["format"]["players"] - 1
    if totals["super_over"]:
        most = min(most, (state["format"]["super_over"] or SUPER_OVER_USUAL)["wickets"])
    if given.wickets > most:
        yield Refusal("wickets", f"Only {most} wickets can fall in this innings.", "wickets")


def set_score(draft: Draft, given: SetScore) -> None:
    """Puts the figures; who is in and who bowls is asked anew with the next ball."""
    found = _innings(draft.state, given)
    assert found is not None, "it was checked"
    latest = found["number"] == draft.state["innings"][-1]["number"]
    if latest:
        draft.open()
    totals = draft.earlier(found["number"])
    balls_an_over = draft.state["format"]["balls_an_over"]
    overs, part = _overs(given, balls_an_over) or (0, 0)
    if latest:
        _ask_anew(
            draft,
            part,
            moved=[totals["overs"], totals["part"]] != [overs, part],
            fallen=totals["wickets"] != given.wickets,
        )
    totals["unaccounted"] += given.runs - totals["runs"]
    totals["runs"], totals["wickets"] = given.runs, given.wickets
    totals["overs"], totals["part"] = overs, part
    totals["balls"] = overs * balls_an_over + part
    totals["set"] += 1
    draft.touch("side", str(totals["number"]))
    touch_chases(draft, after=totals["number"])
    _warn(draft, totals, latest=latest)
    draft.emits.append("score_set")


def _ask_anew(draft: Draft, part: int, *, moved: bool, fallen: bool) -> None:
    """What is no longer known of the latest innings. `moved`: balls were bowled that nobody scored."""
    play = draft.play
    play["unknown"] = play["unsure"] = True
    if fallen:
        play["last_wicket"] = None
    if moved:
        # Nobody is known to have bowled the over in progress from its first ball, nor the one before.
        play["over"] = {**new_over(), "whole": not part}
        play["streaks"] = {}
        play["free_hit"] = False


def _warn(draft: Draft, totals: Record, *, latest: bool) -> None:
    if totals["unaccounted"]:
        draft.warn(
            "unaccounted",
            f"The total has {totals['unaccounted']} runs that are in nobody's figures.",
            "runs",
        )
    if latest and totals["closed"] is None:
        draft.warn("who_is_in", "Who is in and who bowls is as typed with the next ball.")
    elif totals["closed"] is not None:
        draft.warn("closed_stays", "The innings is closed and stays so.", "innings")


def _innings(state: State, given: SetScore) -> Record | None:
    """The totals that are meant: by number, else the latest."""
    innings: list[Record] = state["innings"]
    if given.innings is None:
        return innings[-1] if innings else None
    return next((totals for totals in innings if totals["number"] == given.innings), None)


def _overs(given: SetScore, balls_an_over: int) -> list[int] | None:
    """[overs, balls]; here "0" is an amount too."""
    if given.overs in ("0", "0.0"):
        return [0, 0]
    return parse_overs(given.overs, balls_an_over)
