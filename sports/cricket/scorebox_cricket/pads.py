"""Every command with its label and its pad: how a tablet shows it.

A pad is plain data: `group` and `order` place it; `buttons` are ready inputs, each put on top of the fields;
`fields` says where a value comes from: `from` a path into the summary, `choose` one of the players of a side
(`of`: a path to the side's key), of the sides, or of the listed values; `confirm` is asked before it is sent.
"""

from typing import Any

from scorebox_contract import Command
from scorebox_cricket.commands import INPUTS

Pad = dict[str, Any]

BATTER = {"choose": "players", "of": "show.batting"}
FIELDER = {"choose": "players", "of": "show.bowling"}
SIDE = {"choose": "sides"}
KINDS = [
    "bowled",
    "caught",
    "caught_and_bowled",
    "lbw",
    "stumped",
    "run_out",
    "hit_wicket",
    "hit_the_ball_twice",
    "obstructing_the_field",
]


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


_DELIVERY_BUTTONS = [
    *(_button(str(runs), bat=runs) for runs in (0, 1, 2, 3, 4, 6)),
    _button("Wide", wides=1),
    _button("No-ball", no_balls=1),
    _button("Bye", byes=1),
    _button("Leg bye", leg_byes=1),
    *(_button(kind.replace("_", " ").capitalize(), wickets=[{"kind": kind}]) for kind in KINDS),
]

LABELS_AND_PADS: dict[str, tuple[str, Pad]] = {
    "cricket.delivery": (
        "Ball",
        _pad(
            "ball",
            1,
            buttons=_DELIVERY_BUTTONS,
            striker=BATTER | {"from": "show.striker.key"},
            non_striker=BATTER | {"from": "show.non_striker.key"},
            bowler=FIELDER | {"from": "show.bowler.key"},
        ),
    ),
    "cricket.over": ("Over", _pad("ball", 2, buttons=[_button("Over")])),
    "cricket.bowler_change": ("Change bowler", _pad("ball", 3, bowler=FIELDER)),
    "cricket.retire": (
        "Retire",
        _pad("batter", 1, batter=BATTER, kind={"choose": ["hurt", "not_out", "out"]}),
    ),
    "cricket.resume": ("Resume", _pad("batter", 2, batter=BATTER)),
    "cricket.timed_out": ("Timed out", _pad("batter", 3, batter=BATTER, confirm="Timed out?")),
    "cricket.absent": ("Absent", _pad("batter", 4, batter=BATTER, confirm="Will not bat in this innings?")),
    "cricket.role_replacement": (
        "Replace in role",
        _pad(
            "batter",
            5,
            role={"choose": ["bowler", "batter"]},
            player_in={"choose": "players"},
            player_out={"choose": "players"},
        ),
    ),
    "cricket.innings": (
        "Start innings",
        _pad(
            "innings",
            1,
            buttons=[
                _button("Start"),
                _button("Follow-on", follow_on=True),
                _button("Super over", super_over=True),
            ],
            batting=SIDE,
        ),
    ),
    "cricket.innings_end": (
        "End innings",
        _pad(
            "innings",
            2,
            reason={"choose": ["declared", "forfeited", "all_out", "overs", "time", "conceded", "closed"]},
            batting=SIDE,
            confirm="End the innings?",
        ),
    ),
    "cricket.penalty": (
        "Penalty runs",
        _pad("innings", 3, buttons=[_button("5", runs=5)], side=SIDE, confirm="Award penalty runs?"),
    ),
    "cricket.revise": ("Revise target and overs", _pad("innings", 4, method={"choose": ["DLS", "VJD"]})),
    "cricket.set_score": ("Set the score", _pad("innings", 6, confirm="Set the score by hand?")),
    "cricket.powerplay": (
        "Powerplay",
        _pad("innings", 5, kind={"choose": ["mandatory", "batting", "fielding"]}),
    ),
    "cricket.toss": (
        "Toss",
        _pad("match", 1, winner=SIDE, decision={"choose": ["bat", "field"]}),
    ),
    "cricket.officials": ("Officials", _pad("match", 2)),
    "cricket.player": ("Add player", _pad("match", 3, side=SIDE)),
    "cricket.replacement": (
        "Replace player",
        _pad(
            "match",
            4,
            side=SIDE,
            player_in={"choose": "players", "of": "input.side"},
            player_out={"choose": "players", "of": "input.side"},
            reason={"choose": ["impact_player", "concussion_substitute", "injury", "supersub"]},
        ),
    ),
    "cricket.substitute": (
        "Substitute fields",
        _pad("match", 5, side=SIDE, player_out={"choose": "players", "of": "input.side"}),
    ),
    "cricket.interval": (
        "Interval",
        _pad(
            "match",
            6,
            buttons=[_button("Play", kind="play", resumed=True)],
            kind={"choose": ["drinks", "lunch", "tea", "stumps", "rain", "bad light"]},
        ),
    ),
    "cricket.review": (
        "Review",
        _pad("match", 7, by=SIDE, batter=BATTER, decision={"choose": ["upheld", "struck_down"]}),
    ),
    "cricket.bowl_out": (
        "Bowl-out",
        _pad(
            "match",
            8,
            buttons=[_button("Hit", hit=True), _button("Miss", hit=False)],
            bowler={"choose": "players"},
        ),
    ),
    "cricket.result": (
        "Result",
        _pad(
            "match",
            9,
            kind={"choose": ["won", "tie", "draw", "no_result", "abandoned"]},
            winner=SIDE,
            confirm="End the match with this result?",
        ),
    ),
}
"""Code → label and pad."""

COMMANDS: dict[str, Command] = {
    code: Command(code, input_type, *LABELS_AND_PADS[code]) for code, input_type in INPUTS.items()
}
"""Every command of cricket by its code."""
