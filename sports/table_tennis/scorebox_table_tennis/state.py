"""The shape of the state, and the draft of the next one.

    format    games, points, clear
    sides     [{key, name, players: [[key, name], …]}, …]; elsewhere a side is 0 or 1
    games     games that are over; play: the one in play (new_game's shape)
    lined     the highest game that lines were given for
    opened    the side that serves first in game 1; None while nobody said
    first     [server, receiver] of the game's first service; None while nobody said and no point was played
    previous  `first` of the game before, for the receiver in doubles
    swap      the pair that changed its order of receiving in the last game; changed: ends changed there
    expedite  None, or [points played, services] at the moment it began in this game
    left      the side at the umpire's left, None unknown

Players are numbers: 0 and 1 of the first side, 2 and 3 of the second; `number ^ 1` is the partner.
"""

from typing import Any

from scorebox_contract import Caution, Line, State

Record = dict[str, Any]

SERVES, SERVES_WON, RECEIVES, RECEIVES_WON = range(4)
"""Places in a player's counts."""
PLAYERS = range(4)


def new_game(first: int = 0, second: int = 0, *, is_set: bool = False) -> Record:
    """A game's record: its score, a count for each of four players, penalty points to each side."""
    return {
        "score": [first, second],
        "counts": [[0, 0, 0, 0] for _ in PLAYERS],
        "penalty": [0, 0],
        "set": is_set,
    }


def is_doubles(state: State) -> bool:
    """True for a match of pairs."""
    return len(state["sides"][0]["players"]) == 2


def players_of(state: State) -> tuple[int, ...]:
    """The numbers of those who play."""
    return (0, 1, 2, 3) if is_doubles(state) else (0, 2)


def side_of(number: int) -> int:
    """A player's side."""
    return number >> 1


def player_key(state: State, number: int) -> str:
    """A player's key."""
    key: str = state["sides"][number >> 1]["players"][number & 1][0]
    return key


def player_name(state: State, number: int) -> str:
    """A player's name, for sentences."""
    name: str = state["sides"][number >> 1]["players"][number & 1][1]
    return name


def find_side(state: State, key: str) -> int | None:
    """The side with a key."""
    return next((side for side in (0, 1) if state["sides"][side]["key"] == key), None)


def find_player(state: State, key: str) -> int | None:
    """The player with a key."""
    return next((number for number in players_of(state) if player_key(state, number) == key), None)


class Draft:
    """The next state while an event is taken in; the old one stays as it was."""

    def __init__(self, state: State) -> None:
        self.state: State = dict(state)
        play = state["play"]
        self.play: Record = {
            "score": list(play["score"]),
            "counts": [list(counts) for counts in play["counts"]],
            "penalty": list(play["penalty"]),
            "set": play["set"],
        }
        self.state["play"] = self.play
        self.lines: list[Line] = []
        self.emits: list[str] = []
        self.warnings: list[Caution] = []

    def side(self, key: str) -> int:
        """The side with a key that a check has found."""
        found = find_side(self.state, key)
        assert found is not None, key
        return found

    def player(self, key: str) -> int:
        """The player with a key that a check has found."""
        found = find_player(self.state, key)
        assert found is not None, key
        return found

    def begin(self, record: Record) -> None:
        """Another game is the one in play."""
        self.play = self.state["play"] = record

    def name(self, side: int) -> str:
        """A side's name, for sentences."""
        name: str = self.state["sides"][side]["name"]
        return name

    def warn(self, code: str, sentence: str, field: str | None = None) -> None:
        """Adds a warning to the answer."""
        self.warnings.append(Caution(code, sentence, field))
