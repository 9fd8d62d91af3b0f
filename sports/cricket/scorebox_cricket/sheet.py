"""The team sheets in the state: who belongs to which side, under which number.

Inside the state a player is his number on his side's sheet, as text ("0", "1", …): a key of up to 64
characters stands there once only, so that the state stays small.
"""

from collections.abc import Iterator
from typing import Any

from scorebox_contract import Refusal, SideSheet, State

NAME_SHOWN_CHARACTERS = 32
"""Names in the state serve sentences for the scorer; longer ones are cut. Full names are in the opening."""
RECORD_BYTES = 130
"""What a player's figures of an innings may take in the state beside his key and name."""
SHEETS_LIMIT_BYTES = 9_700
"""Both team sheets with the figures of their players; the rest of the 16 KB is for the match itself."""


def new_side(sheet: SideSheet) -> dict[str, Any]:
    """A side of the state: its key and name, and its players' keys and names by number."""
    return {
        "key": sheet.key,
        "name": shown_name(sheet.name),
        "keys": [player.key for player in sheet.players],
        "names": [shown_name(player.name) for player in sheet.players],
    }


def shown_name(name: str) -> str:
    """A name as the state holds it."""
    return name if len(name) <= NAME_SHOWN_CHARACTERS else name[: NAME_SHOWN_CHARACTERS - 1] + "…"


def sheets_bytes(sides: list[dict[str, Any]]) -> int:
    """What the sheets and the figures of everyone on them may take in the state, in bytes of UTF-8."""
    return sum(
        len(key.encode()) + len(name.encode()) + RECORD_BYTES
        for side in sides
        for key, name in zip(side["keys"], side["names"], strict=True)
    )


def side_number(state: State, key: str) -> int | None:
    """0 or 1, or None for a key that names no side."""
    for number, side in enumerate(state["sides"]):
        if side["key"] == key:
            return number
    return None


def player_number(state: State, side: int, key: str) -> str | None:
    """A player's number on the sheet of his side, or None."""
    keys: list[str] = state["sides"][side]["keys"]
    return str(keys.index(key)) if key in keys else None


def number_of(state: State, side: int, key: str) -> str:
    """The number of a player who was checked to be on the sheet."""
    return str(state["sides"][side]["keys"].index(key))


def find_player(state: State, key: str) -> tuple[int, str] | None:
    """The side and number of a player of either side, or None."""
    for side in (0, 1):
        number = player_number(state, side, key)
        if number is not None:
            return side, number
    return None


def key_of(state: State, side: int, number: str) -> str:
    """A player's key."""
    key: str = state["sides"][side]["keys"][int(number)]
    return key


def name_of(state: State, side: int, number: str) -> str:
    """A player's name as sentences show it."""
    name: str = state["sides"][side]["names"][int(number)]
    return name


def check_side(state: State, key: str, field: str) -> Iterator[Refusal]:
    """Refuses a key that names no side."""
    if side_number(state, key) is None:
        known = " and ".join(side["key"] for side in state["sides"])
        yield Refusal("unknown_side", f"No side is called {key!r}: the sides are {known}.", field)


def check_player(state: State, side: int, key: str, field: str) -> Iterator[Refusal]:
    """Refuses a player who is not on the sheet of that side."""
    if key in state["sides"][side]["keys"]:
        return
    other = state["sides"][1 - side]
    if key in other["keys"]:
        name = other["names"][other["keys"].index(key)]
        yield Refusal(
            "wrong_side", f"{name} plays for {other['name']}, not {state['sides'][side]['name']}.", field
        )
    yield Refusal(
        "unknown_player",
        f"Nobody called {key!r} is on the sheet of {state['sides'][side]['name']}: add the player first.",
        field,
    )


def check_new_player(state: State, key: str, name: str, field: str) -> Iterator[Refusal]:
    """Refuses a key that is in use, or a player for whom the state has no room."""
    if find_player(state, key) is not None or side_number(state, key) is not None:
        yield Refusal("key_taken", f"The key {key!r} is in use in this match.", field)
    room = SHEETS_LIMIT_BYTES - sheets_bytes(state["sides"])
    if len(key.encode()) + len(shown_name(name).encode()) + RECORD_BYTES > room:
        yield Refusal("sheets_full", "The team sheets have no room for another player.", field)


def with_player(state: State, side: int, key: str, name: str) -> list[dict[str, Any]]:
    """The sides with one more player, who gets the next number."""
    sides = list(state["sides"])
    old = sides[side]
    sides[side] = {**old, "keys": [*old["keys"], key], "names": [*old["names"], shown_name(name)]}
    return sides
