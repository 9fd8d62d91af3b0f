"""The summary: phase, scores, result, and what a board and a scorer's screen show now."""

from typing import Any

from scorebox_contract import Result, SideScore, State, Summary
from scorebox_cricket.result import result_text
from scorebox_cricket.sheet import key_of
from scorebox_cricket.state import Record, in_progress
from scorebox_cricket.target import balls_left, overs_bowled, overs_text, target_of

RANKED = frozenset({"won", "tie", "draw"})
"""Results that rank the sides; the others leave them without a rank."""


def summary(state: State) -> Summary:
    """The score as others compare it and screens show it."""
    innings = state["innings"]
    scores = [innings_score(state, totals) for totals in innings]
    return Summary(
        phase=phase(state),
        sides=(_side(state, 0, scores), _side(state, 1, scores)),
        result=_result(state),
        segment=innings[-1]["segment"] if innings else None,
        show=_show(state, scores),
    )


def phase(state: State) -> str:
    """before, play, interval or over."""
    if state["result"] is not None:
        return "over"
    if not state["innings"]:
        return "before"
    return "play" if in_progress(state) and state["interval"] is None else "interval"


def _rank(state: State, side: int) -> int | None:
    result = state["result"]
    if result is None or result["kind"] not in RANKED:
        return None
    return 2 if result["winner"] == 1 - side else 1


def _result(state: State) -> Result | None:
    result = state["result"]
    if result is None:
        return None
    winner = result["winner"]
    return Result(
        kind=result["kind"],
        text=result_text(state, result),
        winner=None if winner is None else state["sides"][winner]["key"],
        margin=dict(result["margin"]),
        method=result["method"],
    )


def _side(state: State, side: int, scores: list[str]) -> SideScore:
    """ "347/9d", "106 & 195", "176/6"; super overs are not part of it."""
    mains = [
        score
        for totals, score in zip(state["innings"], scores, strict=True)
        if totals["side"] == side and not totals["super_over"]
    ]
    return SideScore(state["sides"][side]["key"], " & ".join(mains), _rank(state, side))


def innings_score(state: State, totals: Record) -> str:
    """The score of an innings: the wickets only if the side was not all out, "d" when it declared."""
    closed = totals["closed"]
    if closed == "forfeited" and not totals["balls"] and not totals["runs"]:
        return "forfeited"
    text = str(totals["runs"])
    all_out = closed == "all_out" or totals["wickets"] >= state["format"]["players"] - 1
    if totals["super_over"] or not all_out:
        text += f"/{totals['wickets']}"
    if closed == "declared":
        text += "d"
    return f"{text} (f/o)" if totals["follow_on"] else text


def _show(state: State, scores: list[str]) -> dict[str, Any]:
    """What screens show: every innings, and of the one in progress who is in, who bowls, what is needed."""
    shown: dict[str, Any] = {
        "innings": [
            {
                "segment": totals["segment"],
                "side": state["sides"][totals["side"]]["key"],
                "score": score,
                "overs": overs_text(totals["overs"], totals["part"]),
                "closed": totals["closed"],
            }
            for totals, score in zip(state["innings"], scores, strict=True)
        ]
    }
    if state["toss"] is not None:
        winner, decision = state["toss"]
        shown["toss"] = {"winner": state["sides"][winner]["key"], "decision": decision}
    if state["interval"] is not None:
        shown["interval"] = state["interval"]
    if state["bowl_out"] is not None:
        shown["bowl_out"] = [
            {"side": state["sides"][side]["key"], "hits": hits, "balls": balls}
            for side, (hits, balls) in enumerate(state["bowl_out"])
        ]
    if in_progress(state):
        shown |= _show_play(state)
    return shown


def _show_play(state: State) -> dict[str, Any]:
    totals, play = state["innings"][-1], state["play"]
    side = totals["side"]
    balls_an_over = state["format"]["balls_an_over"]
    over = play["over"]
    target = target_of(state, totals)
    left = balls_left(totals, play["limit"], balls_an_over)
    limit = play["limit"]
    crease = [None, None] if play["unknown"] else play["crease"]
    return {
        "batting": state["sides"][side]["key"],
        "bowling": state["sides"][1 - side]["key"],
        "striker": _show_batter(state, side, crease[0]),
        "non_striker": _show_batter(state, side, crease[1]),
        "bowler": _show_bowler(state, 1 - side, over["bowler"]),
        "last_over_bowlers": [key_of(state, 1 - side, number) for number in sorted(play["streaks"])],
        "over": {"balls": over["texts"], "legal": totals["part"], "runs": over["runs"]},
        "overs_limit": None if limit is None else overs_text(*limit),
        "balls_left": left,
        "target": target,
        "needed": None if target is None else max(target - totals["runs"], 0),
        "free_hit": play["free_hit"],
        "partnership": _show_pair(state, side, play["pair"]),
        "last_wicket": _show_last_wicket(state, side, play["last_wicket"]),
        "powerplays": [{"kind": kind, "start": start, "end": end} for kind, start, end in play["powerplays"]],
        "reviews_lost": {state["sides"][number]["key"]: lost for number, lost in enumerate(play["reviews"])},
    }


def _show_batter(state: State, side: int, number: str | None) -> dict[str, Any] | None:
    if number is None:
        return None
    record = state["play"]["batters"].get(number, {})
    return {
        "key": key_of(state, side, number),
        "runs": record.get("runs", 0),
        "balls": record.get("balls", 0),
    }


def _show_bowler(state: State, side: int, number: str | None) -> dict[str, Any] | None:
    if number is None:
        return None
    record = state["play"]["bowlers"].get(number)
    shown: dict[str, Any] = {"key": key_of(state, side, number)}
    if record is None:
        return shown | {"overs": "0", "maidens": 0, "runs": 0, "wickets": 0}
    return shown | {
        "overs": overs_bowled(record, state["format"]["balls_an_over"]),
        "maidens": record["maidens"],
        "runs": record["runs"],
        "wickets": record["wickets"],
    }


def _show_pair(state: State, side: int, pair: Record | None) -> dict[str, Any] | None:
    if pair is None:
        return None
    return {
        "batters": [key_of(state, side, number) for number in pair["batters"]],
        "runs": pair["runs"],
        "balls": pair["balls"],
    }


def _show_last_wicket(state: State, side: int, last: Record | None) -> dict[str, Any] | None:
    if last is None:
        return None
    return {
        **last,
        "batter": key_of(state, side, last["batter"]),
        "bowler": None if last["bowler"] is None else key_of(state, 1 - side, last["bowler"]),
    }
