"""A scorer for tests: plays cricket through the sport's public interface, in a scorer's short notation.

Sides are "A" (A1 to A12) and "B" (B1 to B12). Balls are words:

    0 … 7    runs off the bat            W, W3    a wide, with its runs
    N, N+2   a no-ball, with bat runs    b1, lb2  byes, leg byes
    wkt      the striker is bowled       /        the umpire calls "over"
"""

from typing import Any

import msgspec

from scorebox_contract import Caution, Event, Line, Refusal, Result, State, Step, canonical_state, decode
from scorebox_cricket import SPORT

Values = dict[str, Any]


class Refused(AssertionError):
    """A command was refused that the test expected to pass."""


def opening(*, squad: int = 12, first: str = "A", second: str = "B", **playing: Any) -> dict[str, Any]:
    """An opening as plain data; `playing` are fields of the format."""
    return {
        "sides": [
            {
                "key": key,
                "name": {"A": "Alpha", "B": "Beta"}.get(key, key),
                "players": [{"key": f"{key}{n}", "name": f"{key} {n}"} for n in range(1, squad + 1)],
            }
            for key in (first, second)
        ],
        "first_day": "2024-06-01",
        "format": {"name": "T20", "innings_a_side": 1, **playing},
    }


class Scorer:
    """A match in play: its state, the lines as they stand, and what the last command answered."""

    def __init__(self, squad: int = 12, **playing: Any) -> None:
        self.opening = msgspec.convert(opening(squad=squad, **playing), SPORT.opening)
        self.state: State = SPORT.initial_state(self.opening)
        self.lines: dict[tuple[str, str, str], Values] = {}
        self.last: Step = Step(self.state)
        self.log: list[Event] = []
        self.bowler = ""

    def check(self, code: str, *, override: tuple[str, ...] = (), **given: Any) -> Refusal | None:
        """What the sport says to a command, without playing it."""
        return SPORT.check(self.state, self.event(code, override, given))

    def event(self, code: str, override: tuple[str, ...], given: dict[str, Any]) -> Event:
        """The typed event of a command."""
        code = f"cricket.{code}"
        return Event(code, msgspec.convert(given, SPORT.commands[code].input), frozenset(override))

    def send(self, code: str, *, override: tuple[str, ...] = (), **given: Any) -> Step:
        """Plays a command that must pass. The state goes through its canonical bytes, as it does live."""
        event = self.event(code, override, given)
        refusal = SPORT.check(self.state, event)
        if refusal is not None:
            raise Refused(f"{code} {given}: {refusal}")
        before = canonical_state(self.state)
        step = SPORT.step(self.state, event)
        assert canonical_state(self.state) == before, "the step changed the state it was given"
        self.state = decode(canonical_state(step.state))
        for line in step.lines:
            self.lines[line.segment, line.role, line.subject] = line.values
        self.log.append(event)
        self.last = step
        return step

    def innings(self, side: str = "A", *, bowler: str | None = None, **given: Any) -> "Scorer":
        """Starts an innings; the other side's first player bowls."""
        override = given.pop("override", ())
        self.send("innings", override=override, batting=side, **given)
        self.bowler = bowler or ("B1" if side == "A" else "A1")
        return self

    def ball(self, word: str = "0", *, override: tuple[str, ...] = (), **given: Any) -> Step:
        """One ball by the batters the state expects, new ones in the order of the sheet."""
        striker, non_striker = self.crease()
        fields: dict[str, Any] = {"striker": striker, "non_striker": non_striker, "bowler": self.bowler}
        fields |= ball_fields(word, given.get("striker", striker))
        return self.send("delivery", override=override, **(fields | given))

    def play(self, words: str) -> "Scorer":
        """Balls and overs in short notation; after an over the bowlers X1 and X2 take turns."""
        for word in words.split():
            if word == "/":
                self.over()
            else:
                self.ball(word)
        return self

    def over(self) -> Step:
        """The umpire calls over; another bowler has the next."""
        step = self.send("over")
        side, number = self.bowler[0], int(self.bowler[1:])
        self.bowler = f"{side}{2 if number == 1 else 1}"
        return step

    def crease(self) -> tuple[str, str]:
        """Who is expected to face and to back up; open places get the next of the sheet."""
        side = self.state["sides"][self.state["innings"][-1]["side"]]
        play = self.state["play"]
        used = set(play["batters"]) | {number for number in play["crease"] if number is not None}
        new = (str(number) for number in range(len(side["keys"])) if str(number) not in used)
        batters = [next(new) if number is None else number for number in play["crease"]]
        return side["keys"][int(batters[0])], side["keys"][int(batters[1])]

    def line(self, role: str, subject: str, segment: str = "innings-1") -> Values:
        """A line as it stands."""
        return self.lines[segment, role, subject]

    def side(self, subject: str = "A", segment: str = "innings-1") -> Values:
        """A side's line."""
        return self.line("side", subject, segment)

    @property
    def warnings(self) -> list[str]:
        """Codes of the last answer's warnings."""
        return [caution.code for caution in self.last.warnings]

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """The last answer's warnings."""
        return self.last.warnings

    @property
    def changed(self) -> dict[tuple[str, str], Line]:
        """The last answer's lines by role and subject."""
        return {(line.role, line.subject): line for line in self.last.lines}

    @property
    def result(self) -> Result | None:
        """The match's result."""
        return SPORT.summary(self.state).result

    @property
    def text(self) -> str | None:
        """The result as a reader sees it."""
        return None if self.result is None else self.result.text

    @property
    def scores(self) -> list[str]:
        """Both sides' scores."""
        return [side.score for side in SPORT.summary(self.state).sides]

    @property
    def show(self) -> dict[str, Any]:
        """What screens show."""
        return SPORT.summary(self.state).show

    @property
    def phase(self) -> str:
        """The summary's phase."""
        return SPORT.summary(self.state).phase


def ball_fields(word: str, striker: str) -> dict[str, Any]:
    """The fields of a delivery in short notation."""
    if word == "wkt":
        return {"wickets": [{"kind": "bowled", "out": striker}]}
    if word.startswith("W"):
        return {"wides": int(word[1:] or 1)}
    if word.startswith("N"):
        return {"no_balls": 1, "bat": int(word[2:] or 0)}
    if word.startswith("lb"):
        return {"leg_byes": int(word[2:])}
    if word.startswith("b"):
        return {"byes": int(word[1:])}
    return {"bat": int(word)}


def out(kind: str, who: str, *fielders: str, **given: Any) -> dict[str, Any]:
    """A wicket; fielders by key."""
    return {"kind": kind, "out": who, "fielders": [{"player": key} for key in fielders], **given}
