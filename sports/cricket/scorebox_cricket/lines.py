"""Lines: the whole values of what an event changed: batters, bowlers, fielders, partnerships, sides."""

from typing import Any

from scorebox_contract import Line
from scorebox_cricket.sheet import key_of
from scorebox_cricket.state import ABSENT, OUT, RETIRED_HURT, RETIRED_OUT, Draft, Record
from scorebox_cricket.target import overs_bowled, overs_text, target_of

SHOWN_STATUS = {RETIRED_OUT: OUT}
"""Retired out is out, as the way out tells."""


def changed_lines(draft: Draft) -> tuple[Line, ...]:
    """Every line the event changed, whole."""
    lines = []
    for role, number in draft.lines:
        if role == "side":
            lines.append(_side_line(draft, number))
            continue
        segment = draft.totals["segment"]
        if role == "batting":
            record = draft.play["batters"][number]
            values = batting_values(record, draft.how.get(number))
            side = draft.batting
        elif role == "bowling":
            values = bowling_values(draft.play["bowlers"][number], draft.state["format"]["balls_an_over"])
            side = 1 - draft.batting
        else:
            catches, stumpings, run_outs = draft.play["fielders"][number]
            values = {"catches": catches, "stumpings": stumpings, "run_outs": run_outs}
            side = 1 - draft.batting
        lines.append(Line(key_of(draft.state, side, number), role, segment, values))
    lines.extend(_partnership_line(draft, pair) for pair in draft.pairs.values())
    return tuple(lines)


def batting_values(record: Record, how: Record | None) -> dict[str, Any]:
    """A batter's line. How he got out stands in it from the event of his dismissal on."""
    status = record["status"]
    if status == ABSENT and record["position"] is not None:
        status = RETIRED_HURT  # he batted, retired, and will not bat on
    return {
        "position": record["position"],
        "runs": record["runs"],
        "balls": record["balls"],
        "fours": record["fours"],
        "sixes": record["sixes"],
        "dots": record["dots"],
        "status": SHOWN_STATUS.get(status, status),
        **(how or {}),
    }


def bowling_values(record: Record, balls_an_over: int) -> dict[str, Any]:
    """A bowler's line."""
    return {
        "balls": record["balls"],
        "overs": overs_bowled(record, balls_an_over),
        "maidens": record["maidens"],
        "runs": record["runs"],
        "wickets": record["wickets"],
        "wides": record["wides"],
        "no_balls": record["no_balls"],
        "dots": record["dots"],
        "fours": record["fours"],
        "sixes": record["sixes"],
    }


def _side_line(draft: Draft, number: str) -> Line:
    state = draft.state
    totals = next(totals for totals in state["innings"] if totals["number"] == int(number))
    values = {
        "runs": totals["runs"],
        "wickets": totals["wickets"],
        "balls": totals["balls"],
        "overs": overs_text(totals["overs"], totals["part"]),
        "byes": totals["byes"],
        "leg_byes": totals["leg_byes"],
        "wides": totals["wides"],
        "no_balls": totals["no_balls"],
        "penalty": totals["penalty"],
        "closed": totals["closed"],
        "target": target_of(state, totals),
    }
    if totals["set"]:
        values |= {"unaccounted": totals["unaccounted"], "set": totals["set"]}
    return Line(state["sides"][totals["side"]]["key"], "side", totals["segment"], values)


def _partnership_line(draft: Draft, pair: Record) -> Line:
    side = draft.batting
    values = {
        "batters": [key_of(draft.state, side, number) for number in pair["batters"]],
        "runs": pair["runs"],
        "balls": pair["balls"],
        "wicket": pair["wicket"],
        "unbroken": pair["unbroken"],
    }
    role = f"partnership-{pair['number']}"
    return Line(draft.state["sides"][side]["key"], role, draft.totals["segment"], values)
