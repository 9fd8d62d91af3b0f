"""Targets and limits: what a chase needs, how long an innings lasts, and how overs are written."""

from typing import Any

from scorebox_contract import State
from scorebox_cricket.state import ABSENT

Totals = dict[str, Any]
SUPER_OVER_USUAL = {"overs": 1, "wickets": 2}
"""A super over where the format names none."""


def overs_text(overs: int, balls: int) -> str:
    """Overs as a card prints them: "19.4", and "20" for whole ones."""
    return f"{overs}.{balls}" if balls else str(overs)


def overs_bowled(record: Totals, balls_an_over: int) -> str:
    """A bowler's overs: the whole ones he bowled and the balls beyond them ("4.2")."""
    more, balls = divmod(record["part"], balls_an_over)
    return overs_text(record["overs"] + more, balls)


def parse_overs(text: str, balls_an_over: int) -> list[int] | None:
    """[overs, balls] of overs as written ("48.5" is 48 overs and 5 balls); None where that is no amount.

    "48.05" is none: whether it means a half ball or five cannot be told. Nor is "0".
    """
    whole, _, part = text.partition(".")
    overs, balls = int(whole), int(part or 0)
    if balls >= balls_an_over or (len(part) > 1 and part[0] == "0") or not overs + balls:
        return None
    return [overs, balls]


def limit_completed(totals: Totals, limit: list[int] | None) -> bool:
    """True when the overs of the limit are bowled: whole overs when the umpire has called them."""
    if limit is None:
        return False
    overs, balls = limit
    bowled: int = totals["overs"]
    return bowled > overs or (bowled == overs and totals["part"] >= balls)


def balls_left(totals: Totals, limit: list[int] | None, balls_an_over: int) -> int | None:
    """Legal balls to come up to the limit, or None without one."""
    if limit is None:
        return None
    left: int = (limit[0] - totals["overs"]) * balls_an_over + limit[1] - min(totals["part"], balls_an_over)
    return max(left, 0)


def wickets_allowed(state: State) -> int:
    """Wickets after which the latest innings is all out: one fewer than the batters who are not absent.

    Who was replaced for the rest of the match is not missed when he is absent.
    """
    totals, playing = state["innings"][-1], state["format"]
    replaced = state["replaced"][totals["side"]]
    batters = state["play"]["batters"].items()
    absent = [number for number, record in batters if record["status"] == ABSENT and number not in replaced]
    allowed: int = playing["players"] - 1 - len(absent)
    if totals["super_over"]:
        return min(allowed, (playing["super_over"] or SUPER_OVER_USUAL)["wickets"])
    return allowed


def main_innings(state: State) -> list[Totals]:
    """The innings that are not super overs, in order."""
    return [totals for totals in state["innings"] if not totals["super_over"]]


def super_overs(state: State) -> list[Totals]:
    """The innings of super overs, in order; two make one super over."""
    return [totals for totals in state["innings"] if totals["super_over"]]


def target_of(state: State, totals: Totals) -> int | None:
    """Runs the innings needs to win, or None where it is no chase.

    The innings is a chase when the other side has no innings left to add to. A revised target stands for
    the last innings of the match; one that the figures give follows the other side's total.
    """
    if totals["super_over"]:
        return _super_over_target(state, totals)
    innings_a_side: int = state["format"]["innings_a_side"]
    if totals["number"] <= innings_a_side:
        return None
    batting = totals["side"]
    runs, begun = [0, 0], [0, 0]
    for other in state["innings"]:
        if other["super_over"] or other["number"] >= totals["number"]:
            break
        runs[other["side"]] += other["runs"]
        begun[other["side"]] += 1
    if begun[1 - batting] < innings_a_side:
        return None
    revised = state["target"]
    if revised is not None and revised["runs"] is not None and begun[batting] == innings_a_side - 1:
        given: int = revised["runs"]
        return given
    needed: int = runs[1 - batting] - runs[batting] + 1
    return needed


def _super_over_target(state: State, totals: Totals) -> int | None:
    turns = super_overs(state)
    place = next(i for i, turn in enumerate(turns) if turn["number"] == totals["number"])
    if place % 2 == 0:
        return None
    first: int = turns[place - 1]["runs"]
    return first + 1
