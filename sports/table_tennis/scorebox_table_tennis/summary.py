"""The summary: phase, games won, result, and what a board and a scorer's screen show now."""

from typing import Any

from scorebox_contract import Result, SideScore, State, Summary
from scorebox_table_tennis.conduct import RED, TIME_OUTS_A_SIDE, YELLOW, YELLOW_RED
from scorebox_table_tennis.score import game_winner, games_won, needed, played, segment
from scorebox_table_tennis.service import due
from scorebox_table_tennis.state import player_key, side_of


def summary(state: State) -> Summary:
    """The score as others compare it and screens show it."""
    won = games_won(state)
    result = state["result"]
    return Summary(
        phase=phase(state),
        sides=tuple(
            SideScore(state["sides"][side]["key"], _score(state, won[side]), _rank(result, side))
            for side in (0, 1)
        ),
        result=None if result is None else _result(state, result, won),
        segment=_segment(state),
        show=show(state, won),
    )


def phase(state: State) -> str:
    """before, play, interval (also between games), or over."""
    if state["result"] is not None:
        return "over"
    if state["interval"] is not None:
        return "interval"
    if not played(state):
        return "before"
    return "play" if any(state["play"]["score"]) else "interval"


def _segment(state: State) -> str | None:
    """The game in play; between games and after the last, the one that was played."""
    games = len(state["games"])
    if any(state["play"]["score"]):
        return segment(games + 1)
    return segment(games) if games else None


def _score(state: State, won: int) -> str:
    """Games won; nothing where the match ended by a walkover or was abandoned before the first point."""
    result = state["result"]
    unplayed = (
        result is not None
        and not played(state)
        and (result["winner"] is None or result["method"] == "walkover")
    )
    return "" if unplayed else str(won)


def _rank(result: dict[str, Any] | None, side: int) -> int | None:
    if result is None or result["winner"] is None:
        return None
    return 1 if result["winner"] == side else 2


def _result(state: State, result: dict[str, Any], won: list[int]) -> Result:
    winner = result["winner"]
    if winner is None:
        scores = _scores(state, 0)
        return Result(kind=result["kind"], text=f"Abandoned{f' ({scores})' if scores else ''}")
    name, other = (state["sides"][side]["name"] for side in (winner, 1 - winner))
    method = result["method"]
    text = f"{name} won"
    margin: dict[str, int] = {}
    if method == "walkover":
        text += ", walkover"
    else:
        margin = {"games": won[winner], "against": won[1 - winner]}
        scores = _scores(state, winner)
        text += f" {won[winner]}–{won[1 - winner]}{f' ({scores})' if scores else ''}"
        if method == "retired":
            text += f", {other} retired"
        elif method == "disqualified":
            text += f", {other} disqualified"
    return Result(
        kind=result["kind"],
        text=text,
        winner=state["sides"][winner]["key"],
        margin=margin,
        method=method,
    )


def _scores(state: State, first: int) -> str:
    """All games as seen from one side: "11–4, 9–11"."""
    scores = [game["score"] for game in state["games"]]
    if any(state["play"]["score"]):
        scores.append(state["play"]["score"])
    return ", ".join(f"{score[first]}–{score[1 - first]}" for score in scores)


def show(state: State, won: list[int]) -> dict[str, Any]:
    """What screens show. `order_said` is false while nobody said who serves first in the game."""
    keys = [side["key"] for side in state["sides"]]
    shown: dict[str, Any] = {
        "games": [dict(zip(keys, game["score"], strict=True)) for game in state["games"]],
        "points": dict(zip(keys, state["play"]["score"], strict=True)),
        "left": None if state["left"] is None else keys[state["left"]],
        "expedite": state["expedite"] is not None,
        "interval": state["interval"],
        "time_outs_left": {
            key: max(TIME_OUTS_A_SIDE - taken, 0) for key, taken in zip(keys, state["time_outs"], strict=True)
        },
        "cards": {
            key: {"yellow": cards[YELLOW], "yellow_red": cards[YELLOW_RED], "red": cards[RED]}
            for key, cards in zip(keys, state["cards"], strict=True)
        },
    }
    if state["toss"] is not None:
        winner, choice = state["toss"]
        shown["toss"] = {"winner": keys[winner], "choice": choice}
    if state["result"] is None:
        server, receiver = due(state)
        shown |= {
            "server": player_key(state, server),
            "receiver": player_key(state, receiver),
            "serving": keys[side_of(server)],
            "receiving": keys[side_of(receiver)],
            "order_said": state["first"] is not None or state["opened"] is not None,
            "game_point": _one_more(state, won),
        }
    return shown


def _one_more(state: State, won: list[int]) -> dict[str, Any] | None:
    """The side that needs one point for the game, and whether the match is won with it."""
    for side in (0, 1):
        score = list(state["play"]["score"])
        score[side] += 1
        if game_winner(state, score) == side:
            return {"side": state["sides"][side]["key"], "match": won[side] + 1 == needed(state)}
    return None
