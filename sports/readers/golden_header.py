"""The head of a golden match: its name, its format, its sides and their players.

cricket scorebook 1
match England v New Zealand
competition World Cup
first day 2019-07-14
format ODI, 1 innings a side, 50 overs, 10 overs a bowler, super over of 1 over and 2 wickets
side A England
  Roy = JJ Roy
"""

import re
from dataclasses import dataclass, field
from typing import Any

from sports.readers.errors import LineFault, UnwritableMatch
from sports.readers.golden_text import free_text, key_and_name, key_text, read_text, take_word, word_text

FIRST_LINE = "cricket scorebook 1"
"""The notation and its version."""
NUMBERS = {
    "innings_a_side": "{} innings a side",
    "overs": "{} overs",
    "balls_an_over": "{} balls an over",
    "overs_an_end": "{} overs an end",
    "overs_in_a_row": "{} overs in a row",
    "bowler_overs": "{} overs a bowler",
    "no_ball_runs": "no-ball worth {}",
    "wide_runs": "wide worth {}",
    "players": "{} players",
    "follow_on_lead": "follow-on at {}",
}
"""Field of the format → its phrase."""
FLAGS = {"free_hit": "free hit", "crossing_on_catch": "crossing on a catch"}
SUPER_OVER = "super over"

_phrases = {
    name: re.compile(re.escape(phrase).replace(r"\{\}", r"(\d{1,9})")) for name, phrase in NUMBERS.items()
}
_super_over = re.compile(r"super over(?: of (\d{1,9}) overs? and (\d{1,9}) wickets?)?")
_name = re.compile(r'("(?:[^"\\]|\\.)*"|[^",]*)(?:,\s*(.*))?')


@dataclass(slots=True)
class Header:
    """What a head says; `opening` is the input of `match.open`."""

    name: str | None = None
    competition: str | None = None
    first_day: str | None = None
    format: dict[str, Any] | None = None
    sides: list[dict[str, Any]] = field(default_factory=list)

    def read(self, line: str) -> bool:
        """Takes in a line; false for one that is not of a head.

        Raises:
            LineFault: the line cannot be understood.
        """
        word, _, rest = line.partition(" ")
        if word == "match":
            self.name = read_text(rest.strip())
        elif word == "competition":
            self.competition = read_text(rest.strip())
        elif line.startswith("first day "):
            self.first_day = line.removeprefix("first day ").strip()
        elif word == "format":
            self.format = read_format(rest.strip())
        elif word == "side":
            key, name = take_word(rest.strip())
            if key is None or not name:
                raise LineFault("a side needs a key and a name", "write it as: side KEY NAME")
            self.sides.append({"key": key, "name": read_text(name.strip()), "players": []})
        elif (named := key_and_name(line)) is not None:
            self._player(*named)
        else:
            return False
        return True

    def opening(self) -> dict[str, Any]:
        """The whole opening.

        Raises:
            LineFault: a line of the head is missing.
        """
        for line, value in (("match", self.name), ("first day", self.first_day), ("format", self.format)):
            if not value:
                raise LineFault(
                    f"the line {line!r} is missing in the head", f"write it before play: {line} …"
                )
        return {"sides": self.sides, "first_day": self.first_day, "format": self.format}

    def _player(self, key: str, name: str) -> None:
        if not self.sides:
            raise LineFault(f"{key} is of no side", "write a line before it: side KEY NAME")
        self.sides[-1]["players"].append({"key": key, "name": name})


def read_format(text: str) -> dict[str, Any]:
    """The playing conditions of a line.

    Raises:
        LineFault: a phrase is not known.
    """
    found = _name.fullmatch(text)
    if found is None or not found[1].strip():
        raise LineFault("the format has no name", "write it as: format NAME, 1 innings a side, 20 overs, …")
    conditions: dict[str, Any] = {"name": read_text(found[1].strip())}
    for phrase in filter(None, map(str.strip, (found[2] or "").split(","))):
        conditions |= _read_phrase(phrase)
    return conditions


def _read_phrase(phrase: str) -> dict[str, Any]:
    for name, words in FLAGS.items():
        if phrase == words:
            return {name: True}
    for name, pattern in _phrases.items():
        if found := pattern.fullmatch(phrase):
            return {name: int(found[1])}
    if found := _super_over.fullmatch(phrase):
        overs, wickets = found.groups()
        return {"super_over": {"overs": int(overs), "wickets": int(wickets)} if overs else {}}
    known = ", ".join([*(words.format("N") for words in NUMBERS.values()), *FLAGS.values()])
    raise LineFault(
        f"{phrase!r} is no playing condition", f"write one of: {known}, super over of N over and N wickets"
    )


def write_header(name: str, competition: str | None, opening: dict[str, Any]) -> list[str]:
    """The lines of a head.

    Raises:
        UnwritableMatch: the opening has a field that the notation has no words for.
    """
    lines = [FIRST_LINE, f"match {free_text(name)}"]
    if competition:
        lines.append(f"competition {free_text(competition)}")
    lines += [f"first day {opening['first_day']}", f"format {_write_format(opening['format'])}"]
    for side in opening["sides"]:
        lines.append(f"side {word_text(side['key'])} {free_text(side['name'])}")
        for player in side.get("players", ()):
            lines.append(f"  {key_text(player['key'])} = {free_text(player['name'])}")
    header = Header()
    for line in lines[1:]:
        header.read(line.strip())
    if header.opening() != _plain(opening):
        raise UnwritableMatch("the opening has fields that the notation has no words for")
    return lines


def _write_format(conditions: dict[str, Any]) -> str:
    name = free_text(conditions["name"])
    phrases = [name if "," not in name or name.startswith('"') else f'"{name}"']
    numbers = {field: conditions[field] for field in NUMBERS if conditions.get(field) is not None}
    phrases += [NUMBERS[field].format(number) for field, number in numbers.items()]
    phrases += [words for field, words in FLAGS.items() if conditions.get(field)]
    given = conditions.get("super_over")
    if given is not None:
        super_over = {"overs": 1, "wickets": 2} | given
        overs = "over" if super_over["overs"] == 1 else "overs"
        wickets = "wicket" if super_over["wickets"] == 1 else "wickets"
        phrases.append(f"{SUPER_OVER} of {super_over['overs']} {overs} and {super_over['wickets']} {wickets}")
    return ", ".join(phrases)


def _plain(opening: dict[str, Any]) -> dict[str, Any]:
    """The opening as it is read: what says the same as if it were absent is left out."""
    conditions = {
        name: value for name, value in opening["format"].items() if value is not None and value is not False
    }
    if "super_over" in conditions:
        conditions["super_over"] = {"overs": 1, "wickets": 2} | conditions["super_over"]
    sides = [{**side, "players": side.get("players", [])} for side in opening["sides"]]
    return {**opening, "format": conditions, "sides": sides}
