"""What can be opened, and the state before the first event."""

from scorebox_contract import Refusal, State
from scorebox_table_tennis.commands import TableTennisOpening
from scorebox_table_tennis.state import new_game


def check_opening(opening: TableTennisOpening) -> Refusal | None:
    """Two sides of one player each, or of two each; every key once."""
    if len(opening.sides) != 2:
        return Refusal("sides", f"Table tennis needs two sides, not {len(opening.sides)}.", "sides")
    numbers = {len(side.players) for side in opening.sides}
    if numbers not in ({1}, {2}):
        return Refusal("players", "Name one player a side for singles, two a side for doubles.", "sides")
    keys = [side.key for side in opening.sides]
    keys += [player.key for side in opening.sides for player in side.players]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        return Refusal("key_twice", f"The key {twice} is there twice: give everybody one's own.", "sides")
    return None


def initial_state(opening: TableTennisOpening) -> State:
    """The state before the first event."""
    given = opening.format
    return {
        "format": {"games": given.games, "points": given.points, "clear": given.clear},
        "sides": [
            {
                "key": side.key,
                "name": side.name,
                "players": [[player.key, player.name] for player in side.players],
            }
            for side in opening.sides
        ],
        "games": [],
        "play": new_game(),
        "lined": 0,
        "opened": None,
        "first": None,
        "previous": None,
        "swap": None,
        "changed": False,
        "expedite": None,
        "left": None,
        "toss": None,
        "time_outs": [0, 0],
        "cards": [[0, 0, 0], [0, 0, 0]],
        "interval": None,
        "result": None,
    }
