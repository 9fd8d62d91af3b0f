"""Writes a golden match from the facts of a Cricsheet file.

`python sports/cricket/make_golden.py FILE.json golden/NAME.scorebook`: names, play and figures are taken as
facts, under keys of our own. What is expected is what the file adds up to, apart from the engine.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "contract"), str(HERE.parent.parent)]

import msgspec  # noqa: E402

from scorebox_contract import Event  # noqa: E402
from scorebox_cricket import SPORT  # noqa: E402
from sports.readers.cricsheet import CricsheetMatch, read_cricsheet  # noqa: E402
from sports.readers.cricsheet_expected import expected_of  # noqa: E402
from sports.readers.expected import HOLD_KEYS, Expected, ExpectedLine  # noqa: E402
from sports.readers.golden import GoldenMatch  # noqa: E402
from sports.readers.golden_writer import write_golden  # noqa: E402
from sports.readers.steps import Heard, Step  # noqa: E402

ATTRIBUTION = "Facts of the match: Cricsheet (cricsheet.org)."
USUAL = {"balls_an_over": 6, "no_ball_runs": 1, "players": 11}
"""Playing conditions that need not be said."""
KEY_FIELDS = frozenset(
    {
        "winner",
        "batting",
        "side",
        "key",
        "striker",
        "non_striker",
        "bowler",
        "out",
        "player",
        "batter",
        "by",
        "player_in",
        "player_out",
    }
)
"""Fields of commands that hold a key."""


def golden_of(match: CricsheetMatch, id: str) -> GoldenMatch:
    """The match under readable keys, with the commands as the sport accepts them."""
    keys = _readable_keys(match)
    conditions = {
        name: value
        for name, value in match.opening["format"].items()
        if value is not False and USUAL.get(name) != value
    }
    sides = [_rekeyed_side(side, keys) for side in match.opening["sides"]]
    opening = {**match.opening, "format": conditions, "sides": sides}
    steps = [Step(step.code, _rekeyed(step.input, keys), step.unless_emitted) for step in match.steps]
    return GoldenMatch(
        id=id,
        name=match.name,
        competition=match.competition,
        opening=opening,
        steps=tuple(accepted(opening, steps)),
        expected=_rekeyed_expected(expected_of(match), keys),
    )


def accepted(opening: dict[str, Any], steps: list[Step]) -> list[Step]:
    """The steps that are due, each with the refusals it had to pass over.

    Raises:
        ValueError: a step is refused for good.
    """
    state = SPORT.initial_state(msgspec.convert(opening, SPORT.opening))
    heard = Heard()
    sent = []
    for step in steps:
        if not heard.due(step):
            continue
        given = msgspec.convert(step.input, SPORT.commands[step.code].input)
        override: tuple[str, ...] = ()
        while (refusal := SPORT.check(state, Event(step.code, given, frozenset(override)))) is not None:
            if not refusal.overridable or refusal.code in override:
                raise ValueError(f"{step.code} {step.input}: {refusal.sentence}")
            override += (refusal.code,)
        done = SPORT.step(state, Event(step.code, given, frozenset(override)))
        state = done.state
        heard.answered(step, done.emits)
        sent.append(Step(step.code, step.input, override=override))
    return sent


def _readable_keys(match: CricsheetMatch) -> dict[str, str]:
    """Key → key a scorer would write: a side's initials, a surname, the whole name where two share one."""
    keys = {side: _initials(team) for team, side in match.sides.items()}
    surnames = Counter(_surname(name) for _, name in match.keys)
    names = Counter(name for _, name in match.keys)
    for (team, name), key in match.keys.items():
        surname = _surname(name)
        taken = surnames[surname] > 1 or surname in keys.values()
        readable = "".join(name.split()) if taken else surname
        keys[key] = f"{readable}-{keys[match.sides[team]]}" if names[name] > 1 else readable
    return keys


def _initials(team: str) -> str:
    words = team.split()
    return team if len(words) == 1 else "".join(word[0].upper() for word in words)


def _surname(name: str) -> str:
    first, *others = name.split()
    return "".join(others) if others and first.isupper() else (others or [first])[-1]


def _rekeyed_side(side: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    players = [{"key": keys[player["key"]], "name": player["name"]} for player in side["players"]]
    return {"key": keys[side["key"]], "name": side["name"], "players": players}


def _rekeyed(given: dict[str, Any], keys: dict[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, list):
            fields[name] = [_rekeyed(part, keys) if isinstance(part, dict) else part for part in value]
        else:
            fields[name] = keys[value] if name in KEY_FIELDS else value
    return fields


def _rekeyed_expected(expected: Expected, keys: dict[str, str]) -> Expected:
    def under(value: Any) -> Any:
        return [keys.get(each, each) for each in value] if isinstance(value, list) else keys.get(value, value)

    def rekeyed(values: dict[str, Any]) -> dict[str, Any]:
        return {name: under(value) if name in HOLD_KEYS else value for name, value in values.items()}

    lines = (
        ExpectedLine(line.segment, line.role, keys[line.subject], rekeyed(line.values))
        for line in expected.lines
    )
    return Expected(tuple(lines), expected.result and rekeyed(expected.result))


if __name__ == "__main__":
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    text = write_golden(golden_of(read_cricsheet(source), target.stem), remarks=(ATTRIBUTION,))
    target.write_text(text, encoding="utf-8")
