"""Checks of the sides and players that a command names."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_table_tennis.state import find_player, find_side, player_name, side_of


def check_side(state: State, key: str, field: str) -> Iterator[Refusal]:
    """The side plays in this match."""
    if find_side(state, key) is None:
        keys = " and ".join(side["key"] for side in state["sides"])
        yield Refusal("unknown_side", f"There is no side {key}; the sides are {keys}.", field)


def check_player(state: State, key: str, field: str) -> Iterator[Refusal]:
    """The player plays in this match."""
    if find_player(state, key) is None:
        yield Refusal("unknown_player", f"There is no player {key} in this match.", field)


def check_player_of(state: State, player: str | None, side: str) -> Iterator[Refusal]:
    """The player, if one is named, is of the side."""
    if player is None:
        return
    yield from check_player(state, player, "player")
    found = find_player(state, player)
    if found is not None and side_of(found) != find_side(state, side):
        yield Refusal("other_side", f"{player_name(state, found)} plays for the other side.", "player")


def check_side_of(state: State, server: str, receiver: str) -> Iterator[Refusal]:
    """Nobody serves to the own side."""
    first, second = find_player(state, server), find_player(state, receiver)
    if first is not None and second is not None and side_of(first) == side_of(second):
        yield Refusal("same_side", f"{player_name(state, second)} is of the server's side.", "receiver")
