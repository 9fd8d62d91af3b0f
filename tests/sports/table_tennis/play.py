"""A scorer for tests: plays table tennis through the sport's public interface.

Sides are "A" and "B", their players A1, A2, B1, B2. A rally is the letter of the side that won it.
"""

from typing import Any

import msgspec

from scorebox_contract import Event, Refusal, Result, State, Step, canonical_state, decode
from scorebox_table_tennis import SPORT

Values = dict[str, Any]


class Refused(AssertionError):
    """A command was refused that the test expected to pass."""


def opening(*, pairs: bool = False, **playing: Any) -> Values:
    """An opening as plain data; `playing` are fields of the format."""
    numbers = (1, 2) if pairs else (1,)
    return {
        "sides": [
            {
                "key": key,
                "name": name,
                "players": [{"key": f"{key}{n}", "name": f"{name} {n}"} for n in numbers],
            }
            for key, name in (("A", "Alpha"), ("B", "Beta"))
        ],
        "first_day": "2024-06-01",
        "format": {"name": "Cup", **playing},
    }


class Scorer:
    """A match in play: its state, the lines as they stand, and what the last command answered."""

    def __init__(self, *, pairs: bool = False, **playing: Any) -> None:
        self.opening = msgspec.convert(opening(pairs=pairs, **playing), SPORT.opening)
        self.state: State = SPORT.initial_state(self.opening)
        self.lines: dict[tuple[str, str, str], Values] = {}
        self.last: Step = Step(self.state)
        self.log: list[Event] = []

    def event(self, code: str, override: tuple[str, ...], given: Values) -> Event:
        """The typed event of a command."""
        code = f"table_tennis.{code}"
        return Event(code, msgspec.convert(given, SPORT.commands[code].input), frozenset(override))

    def check(self, code: str, *, override: tuple[str, ...] = (), **given: Any) -> Refusal | None:
        """What the sport says to a command, without playing it."""
        return SPORT.check(self.state, self.event(code, override, given))

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

    def point(self, winner: str, **given: Any) -> Step:
        """One point."""
        return self.send("point", winner=winner, **given)

    def play(self, rallies: str) -> "Scorer":
        """Rallies by their winners; blanks are for the eye."""
        for winner in rallies.replace(" ", ""):
            self.point(winner)
        return self

    def to(self, first: int, second: int) -> "Scorer":
        """Rallies from the present score of the game to this one, the side behind winning first."""
        while [first, second] != self.state["play"]["score"]:
            score = self.state["play"]["score"]
            left = [first - score[0], second - score[1]]
            assert min(left) >= 0, left
            self.point("A" if left[0] and (score[0] <= score[1] or not left[1]) else "B")
        return self

    def game(self, winner: str = "A") -> "Scorer":
        """The rest of a game that one side wins without losing another rally."""
        games = len(self.state["games"])
        while len(self.state["games"]) == games and self.result is None:
            self.point(winner)
        return self

    @property
    def score(self) -> list[int]:
        """The points of the game in play."""
        score: list[int] = self.state["play"]["score"]
        return score

    @property
    def games(self) -> list[list[int]]:
        """The scores of the games that are over."""
        return [game["score"] for game in self.state["games"]]

    @property
    def show(self) -> Values:
        """What screens show."""
        return SPORT.summary(self.state).show

    @property
    def service(self) -> tuple[str, str]:
        """Server and receiver."""
        return self.show["server"], self.show["receiver"]

    @property
    def warnings(self) -> list[str]:
        """Codes of the last answer's warnings."""
        return [caution.code for caution in self.last.warnings]

    @property
    def result(self) -> Result | None:
        """The match's result."""
        return SPORT.summary(self.state).result

    @property
    def text(self) -> str | None:
        """The result as a reader sees it."""
        return None if self.result is None else self.result.text

    @property
    def phase(self) -> str:
        """The summary's phase."""
        return SPORT.summary(self.state).phase
