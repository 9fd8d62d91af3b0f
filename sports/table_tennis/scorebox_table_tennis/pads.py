"""Every command with its label and its pad: how a tablet shows it.

A pad is plain data: `group` and `order` place it; `buttons` are ready inputs, each put on top of the fields;
`fields` says where a value comes from: `from` a path into the summary, `choose` one of the players, of the
sides, or of the listed values; `confirm` is asked before it is sent.
"""

from typing import Any

from scorebox_contract import Command
from scorebox_table_tennis.commands import INPUTS

Pad = dict[str, Any]

SIDE = {"choose": "sides"}
PLAYER = {"choose": "players"}
PLAYER_OF_SIDE = {"choose": "players", "of": "input.side"}


def _button(label: str, **given: Any) -> Pad:
    return {"label": label, "input": given}


def _pad(
    group: str, order: int, *, buttons: list[Pad] | None = None, confirm: str | None = None, **fields: Pad
) -> Pad:
    pad: Pad = {"group": group, "order": order}
    if buttons:
        pad["buttons"] = buttons
    if fields:
        pad["fields"] = fields
    if confirm is not None:
        pad["confirm"] = confirm
    return pad


LABELS_AND_PADS: dict[str, tuple[str, Pad]] = {
    "table_tennis.point": ("Point", _pad("rally", 1, winner=SIDE)),
    "table_tennis.let": ("Let", _pad("rally", 2, buttons=[_button("Let")])),
    "table_tennis.service": (
        "Who serves",
        _pad(
            "game",
            1,
            server=PLAYER | {"from": "show.server"},
            receiver=PLAYER | {"from": "show.receiver"},
        ),
    ),
    "table_tennis.ends": ("Who is at the left", _pad("game", 2, left=SIDE | {"from": "show.left"})),
    "table_tennis.time_out": ("Time-out", _pad("game", 3, side=SIDE)),
    "table_tennis.expedite": (
        "Expedite system",
        _pad(
            "game",
            4,
            buttons=[
                _button("Between rallies"),
                _button("In a rally", in_play=True),
                _button("Both asked", requested=True),
            ],
            confirm="Bring in the expedite system until the match ends?",
        ),
    ),
    "table_tennis.interval": (
        "Interval",
        _pad(
            "game",
            5,
            buttons=[_button("Play", resumed=True)],
            kind={"choose": ["game", "towel", "racket", "light", "other"]},
        ),
    ),
    "table_tennis.medical": ("Injury", _pad("game", 6, side=SIDE, player=PLAYER_OF_SIDE)),
    "table_tennis.card": (
        "Card",
        _pad(
            "conduct",
            1,
            buttons=[
                _button("Yellow", kind="yellow"),
                _button("Yellow and red", kind="yellow_red"),
                _button("Red", kind="red"),
                _button("Coach, yellow", kind="yellow", coach=True),
                _button("Coach, red", kind="red", coach=True),
            ],
            side=SIDE,
            player=PLAYER_OF_SIDE,
            confirm="Show this card?",
        ),
    ),
    "table_tennis.toss": (
        "Toss",
        _pad("match", 1, winner=SIDE, choice={"choose": ["serve", "receive", "end"]}, serves=SIDE, left=SIDE),
    ),
    "table_tennis.officials": ("Officials", _pad("match", 2)),
    "table_tennis.set_score": (
        "Set the score",
        _pad(
            "match",
            3,
            server=PLAYER | {"from": "show.server"},
            receiver=PLAYER | {"from": "show.receiver"},
            left=SIDE | {"from": "show.left"},
            confirm="Go on from this score?",
        ),
    ),
    "table_tennis.retire": ("Retired", _pad("ending", 1, side=SIDE, confirm="End the match: retired?")),
    "table_tennis.walkover": ("Walkover", _pad("ending", 2, side=SIDE, confirm="End the match: walkover?")),
    "table_tennis.disqualify": (
        "Disqualified",
        _pad("ending", 3, side=SIDE, confirm="End the match: disqualified?"),
    ),
    "table_tennis.abandon": ("Abandoned", _pad("ending", 4, confirm="End the match without a winner?")),
}
"""Code → label and pad."""

COMMANDS: dict[str, Command] = {
    code: Command(code, input_type, *LABELS_AND_PADS[code]) for code, input_type in INPUTS.items()
}
"""Every command of table tennis by its code."""
