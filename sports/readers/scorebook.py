"""Reads a match written as a scorer's book: one line an over, one mark a ball.

    T20 2024-05-01 overs 20
    A Reds: Ann Ash, Bea Birch, …
    B Blues: Cat Cole, …
    toss A bat
    innings A A1 A2
    B5 | 1 . 4 w1 lb1 ./b>A3
    super B B1 B3

An innings names its opening pair, a line its bowler. A mark is the runs off the bat ("." none), or `w2`
(all runs of a wide), `n1+4`, `n1+b2`, `n1+lb1` (a no-ball and what came with it), `b4`, `lb1`. A wicket
follows behind a slash: how (b c cb lbw st ro hw), `:` fielders joined by `+` (`~Dan_Dale` for a
substitute), `*` when the batters had crossed, `@` who is out where it is not the striker, `>` the next
batter. Who faces follows by the Laws.
"""

import re
from dataclasses import dataclass
from typing import Any

from sports.readers.errors import UnreadableMatch
from sports.readers.steps import Step

KINDS = {
    "b": "bowled",
    "c": "caught",
    "cb": "caught_and_bowled",
    "lbw": "lbw",
    "st": "stumped",
    "ro": "run_out",
    "hw": "hit_wicket",
}
WIDE_RUNS = 1
BALLS_AN_OVER = 6
BOWLERS_AN_INNINGS = 5

_RUNS = re.compile(
    r"(?:(?P<bat>\.|\d)|w(?P<wides>\d)|n(?P<no_balls>\d)(?:\+(?P<with>(?:b|lb)?\d))?|(?P<extra>(?:b|lb)\d))"
)
_WICKET = re.compile(
    r"(?P<kind>[a-z]+)(?::(?P<fielders>[^*@>]+))?(?P<crossed>\*)?(?:@(?P<out>\w+))?(?:>(?P<next>\w+))?"
)


@dataclass(frozen=True, slots=True)
class BookMatch:
    """A match as read: the input of `match.open`, and the commands in order."""

    name: str
    opening: dict[str, Any]
    steps: tuple[Step, ...]

    @property
    def deliveries(self) -> int:
        """How many deliveries it has."""
        return sum(step.code == "cricket.delivery" for step in self.steps)


def read_book(text: str, name: str = "scorebook") -> BookMatch:
    """Reads a book; `name` is its name in errors.

    Raises:
        UnreadableMatch: a line that cannot be understood; says which.
    """
    book = _Book()
    for number, line in enumerate(text.strip().splitlines(), 1):
        try:
            book.read(line.strip())
        except (ValueError, KeyError, IndexError) as error:
            raise UnreadableMatch(
                name, f"line {number} cannot be understood ({line.strip()!r}: {error})", "mend that line"
            ) from error
    return book.match()


class _Book:
    def __init__(self) -> None:
        self._sides: list[dict[str, Any]] = []
        self._day = ""
        self._format: dict[str, Any] = {}
        self._steps: list[Step] = []
        self._crease: list[str] = []
        self._innings = 0

    def read(self, line: str) -> None:
        """One line of the book."""
        word, _, rest = line.partition(" ")
        if not self._day:
            day, limit, overs = rest.split()
            if limit != "overs":
                raise ValueError("the first line is: format, day, overs, their number")
            quota = -(-int(overs) // BOWLERS_AN_INNINGS)
            self._day = day
            self._format = {
                "name": word,
                "innings_a_side": 1,
                "overs": int(overs),
                "bowler_overs": quota,
                "free_hit": True,
                "crossing_on_catch": True,
            }
        elif "|" in line:
            bowler, _, marks = line.partition("|")
            self._over(bowler.strip(), marks.split())
        elif word in ("innings", "super"):
            self._begin(rest.split(), super_over=word == "super")
        elif word == "toss":
            winner, decision = rest.split()
            self._add("cricket.toss", winner=winner, decision=decision)
        elif line:
            team, _, players = rest.partition(":")
            named = [player.strip() for player in players.split(",")]
            sheet = [{"key": f"{word}{place}", "name": player} for place, player in enumerate(named, 1)]
            self._sides.append({"key": word, "name": team.strip(), "players": sheet})

    def match(self) -> BookMatch:
        """What was read."""
        self._end()
        opening = {"sides": self._sides, "first_day": self._day, "format": self._format}
        return BookMatch(" v ".join(side["name"] for side in self._sides), opening, tuple(self._steps))

    def _add(self, code: str, unless_emitted: str | None = None, **fields: Any) -> None:
        self._steps.append(Step(code, fields, unless_emitted))

    def _begin(self, words: list[str], *, super_over: bool) -> None:
        self._end()
        side, striker, non_striker = words
        self._crease = [striker, non_striker]
        self._innings += 1
        if super_over:
            self._format["super_over"] = {"overs": 1, "wickets": 2}
            self._add("cricket.innings", batting=side, super_over=True)
        else:
            self._add("cricket.innings", batting=side)

    def _end(self) -> None:
        if self._innings:
            self._add("cricket.innings_end", "innings_end", reason="overs")

    def _over(self, bowler: str, marks: list[str]) -> None:
        legal = 0
        for mark in marks:
            ball = self._ball(bowler, mark)
            legal += "wides" not in ball and "no_balls" not in ball
        if legal >= BALLS_AN_OVER:
            self._add("cricket.over", "innings_end")
            self._crease.reverse()

    def _ball(self, bowler: str, mark: str) -> dict[str, Any]:
        runs_text, _, wicket_text = mark.partition("/")
        striker, non_striker = self._crease
        ball: dict[str, Any] = {"striker": striker, "non_striker": non_striker, "bowler": bowler}
        run = _write_runs(ball, runs_text)
        swapped = run % 2 == 1
        out = following = None
        if wicket_text:
            wicket, following = _wicket(wicket_text, striker)
            ball["wickets"] = [wicket]
            out = wicket["out"]
            swapped ^= wicket.get("crossed", False)
        if swapped:
            self._crease.reverse()
        if out is not None and following is not None:
            self._crease[self._crease.index(out)] = following
        self._add("cricket.delivery", **ball)
        return ball


def _write_runs(ball: dict[str, Any], text: str) -> int:
    """Writes the runs of a mark into the ball; how many of them were run or reached the boundary."""
    found = _RUNS.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no mark for runs")
    if found["wides"]:
        ball["wides"] = int(found["wides"])
        return int(found["wides"]) - WIDE_RUNS
    if found["no_balls"]:
        ball["no_balls"] = int(found["no_balls"])
    scored = found["bat"] or found["with"] or found["extra"]
    if scored is None or scored == ".":
        return 0
    amount = int(scored[-1])
    kind = {"b": "byes", "lb": "leg_byes"}.get(scored[:-1], "bat")
    if amount:
        ball[kind] = amount
    return amount


def _wicket(text: str, striker: str) -> tuple[dict[str, Any], str | None]:
    """The wicket of a mark, and who comes in."""
    found = _WICKET.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no mark for a wicket")
    wicket: dict[str, Any] = {"kind": KINDS[found["kind"]], "out": found["out"] or striker}
    if found["fielders"]:
        wicket["fielders"] = [_fielder(fielder) for fielder in found["fielders"].split("+")]
    if wicket["kind"] in ("caught", "caught_and_bowled", "run_out"):
        wicket["crossed"] = found["crossed"] is not None
    return wicket, found["next"]


def _fielder(text: str) -> dict[str, Any]:
    if text.startswith("~"):
        return {"substitute": True, "name": text[1:].replace("_", " ")}
    return {"player": text}
