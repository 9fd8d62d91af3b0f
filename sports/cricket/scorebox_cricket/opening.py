"""The opening: what can be played, and the state before the first event."""

from typing import Any

import msgspec

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import CricketOpening
from scorebox_cricket.sheet import SHEETS_LIMIT_BYTES, new_side, sheets_bytes

SIDES = 2


def check_opening(opening: CricketOpening) -> Refusal | None:
    """Refuses an opening that cannot be played: not two sides, a key used twice, sheets past the limit."""
    if len(opening.sides) != SIDES:
        return Refusal("two_sides", f"A match has two sides, not {len(opening.sides)}.", "sides")
    used: set[str] = set()
    for side in opening.sides:
        for key in (side.key, *(player.key for player in side.players)):
            if key in used:
                return Refusal("key_taken", f"The key {key!r} is used twice.", "sides")
            used.add(key)
    size = sheets_bytes([new_side(side) for side in opening.sides])
    if size > SHEETS_LIMIT_BYTES:
        return Refusal(
            "sheets_full",
            f"The team sheets take {size} bytes with the figures, {SHEETS_LIMIT_BYTES} are allowed: "
            "name fewer players, or use shorter keys.",
            "sides",
        )
    playing = opening.format
    if playing.follow_on_lead is not None and playing.innings_a_side == 1:
        return Refusal("format", "A follow-on needs two innings a side.", "format.follow_on_lead")
    return None


def initial_state(opening: CricketOpening) -> State:
    """The state before the first event; its shape stands in state.py."""
    playing: dict[str, Any] = msgspec.to_builtins(opening.format)
    del playing["name"]  # for people to read: it stands in the opening
    return {
        "format": playing,
        "sides": [new_side(side) for side in opening.sides],
        "toss": None,
        "interval": None,
        "innings": [],
        "play": None,
        "pending": [0, 0],
        "limit": None if playing["overs"] is None else [playing["overs"], 0],
        "quota": playing["bowler_overs"],
        "target": None,
        "bowl_out": None,
        "replaced": [[], []],
        "spent": {"out": [[], []], "bowlers": [[], []]},
        "result": None,
    }
