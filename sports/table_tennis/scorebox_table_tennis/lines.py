"""The lines of sides and players in a game, and of sides in the match."""

from scorebox_contract import Line, State
from scorebox_table_tennis.score import game_winner, games_won, segment
from scorebox_table_tennis.state import (
    RECEIVES,
    RECEIVES_WON,
    SERVES,
    SERVES_WON,
    Record,
    player_key,
    players_of,
    side_of,
)

MATCH = "match"
"""The segment of the lines of the whole match."""


def game_lines(state: State, number: int, record: Record) -> list[Line]:
    """Everybody's line in a game."""
    winner = game_winner(state, record["score"])
    part = segment(number)
    lines = [
        Line(
            state["sides"][side]["key"],
            "side",
            part,
            {
                "points": record["score"][side],
                **_counts(record, side),
                "won": winner == side,
                "set": record["set"],
            },
        )
        for side in (0, 1)
    ]
    for player in players_of(state):
        counts = record["counts"][player]
        values = {
            "serves": counts[SERVES],
            "serves_won": counts[SERVES_WON],
            "receives": counts[RECEIVES],
            "receives_won": counts[RECEIVES_WON],
        }
        lines.append(Line(player_key(state, player), "player", part, values))
    return lines


def match_lines(state: State) -> list[Line]:
    """Both sides' lines of the match."""
    won = games_won(state)
    records = [*state["games"], state["play"]]
    lines = []
    for side in (0, 1):
        counts = [_counts(record, side) for record in records]
        yellow, yellow_red, red = state["cards"][side]
        values = {
            "games": won[side],
            "points": sum(record["score"][side] for record in records),
            **{key: sum(count[key] for count in counts) for key in counts[0]},
            "time_outs": state["time_outs"][side],
            "yellow_cards": yellow,
            "yellow_red_cards": yellow_red,
            "red_cards": red,
        }
        lines.append(Line(state["sides"][side]["key"], MATCH, MATCH, values))
    return lines


def _counts(record: Record, side: int) -> dict[str, int]:
    pair = [counts for player, counts in enumerate(record["counts"]) if side_of(player) == side]
    return {
        "serves": pair[0][SERVES] + pair[1][SERVES],
        "serves_won": pair[0][SERVES_WON] + pair[1][SERVES_WON],
        "receives_won": pair[0][RECEIVES_WON] + pair[1][RECEIVES_WON],
        "penalty": record["penalty"][side],
    }
