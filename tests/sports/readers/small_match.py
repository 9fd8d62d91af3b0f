"""A small made-up match in Cricsheet's JSON, to be bent by each test."""

import copy
import json
from typing import Any

from sports.readers.cricsheet import CricsheetMatch, parse_cricsheet
from sports.readers.steps import Step

HOME, AWAY = "Reds", "Blues"
PLAYERS = {
    HOME: [f"R{number}" for number in range(1, 12)],
    AWAY: [f"B{number}" for number in range(1, 12)],
}


def ball(batter: str, non_striker: str | None, bowler: str, runs: int = 0, **extra: Any) -> dict[str, Any]:
    """A delivery; `extras` as Cricsheet has them, other keys as they are."""
    extras = extra.get("extras", {})
    total = runs + sum(extras.values())
    entry: dict[str, Any] = {
        "batter": batter,
        "bowler": bowler,
        "runs": {"batter": runs, "extras": total - runs, "total": total},
        **extra,
    }
    if non_striker is not None:
        entry["non_striker"] = non_striker
    return entry


def over(number: int, *deliveries: dict[str, Any]) -> dict[str, Any]:
    """An over as Cricsheet has it."""
    return {"over": number, "deliveries": list(deliveries)}


def dots(bowler: str, batter: str = "R1", non_striker: str = "R2", count: int = 6) -> list[dict[str, Any]]:
    """Deliveries without anything."""
    return [ball(batter, non_striker, bowler) for _ in range(count)]


def small(innings: list[dict[str, Any]] | None = None, **info: Any) -> dict[str, Any]:
    """A twenty-over match of two innings of one over each; keys of `info` replace, None takes away."""
    plain: dict[str, Any] = {
        "meta": {"data_version": "1.1.0", "created": "2021-05-02", "revision": 1},
        "info": {
            "balls_per_over": 6,
            "dates": ["2021-05-01"],
            "gender": "female",
            "match_type": "T20",
            "outcome": {"winner": HOME, "by": {"runs": 1}},
            "overs": 1,
            "players": copy.deepcopy(PLAYERS),
            "registry": {"people": {name: f"id-{name}" for names in PLAYERS.values() for name in names}},
            "teams": [HOME, AWAY],
            "toss": {"winner": HOME, "decision": "bat"},
        },
        "innings": innings
        if innings is not None
        else [
            {"team": HOME, "overs": [over(0, ball("R1", "R2", "B1", 1), *dots("B1", "R2", "R1", 5))]},
            {
                "team": AWAY,
                "target": {"runs": 2, "overs": 1},
                "overs": [over(0, *dots("R11", "B1", "B2"))],
            },
        ],
    }
    for key, value in info.items():
        if value is None:
            plain["info"].pop(key, None)
        else:
            plain["info"][key] = value
    return plain


def read(plain: dict[str, Any]) -> CricsheetMatch:
    """The match as the reader has it."""
    return parse_cricsheet(json.dumps(plain).encode(), "small.json", id="small")


def sent(match: CricsheetMatch, code: str) -> list[dict[str, Any]]:
    """The inputs of every command of a code, in order."""
    return [step.input for step in match.steps if step.code == code]


def codes(steps: tuple[Step, ...]) -> list[str]:
    """The codes of commands in order."""
    return [step.code for step in steps]
