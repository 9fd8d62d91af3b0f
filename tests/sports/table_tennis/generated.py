"""Matches made up by a seed: legal and odd play, every kind of command; what the log says they come to."""

import random
from typing import Any

from tests.sports.table_tennis.play import Scorer

REASON = "made up"


class Generated(Scorer):
    """A match that plays itself, command by command."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        super().__init__(
            pairs=self.random.random() < 0.5,
            games=self.random.choice([1, 3, 5, 7, 9]),
            points=self.random.choice([11, 11, 11, 21]),
        )
        self.refused = 0

    def act(self) -> None:
        """One command, taken or refused."""
        code, given = self._command()
        override = ("match_over", "begun") if self.random.random() < 0.3 else ()
        refusal = self.check(code, override=override, **given)
        if refusal is None:
            self.send(code, override=override, **given)
        else:
            assert refusal.sentence.endswith("."), refusal
            self.refused += 1

    def _command(self) -> tuple[str, dict[str, Any]]:
        draw = self.random.random()
        if draw < 0.9:
            given: dict[str, Any] = {"winner": self._side()}
            if self.random.random() < 0.1:
                given["server"] = self._player()
            if self.random.random() < 0.02:
                given["returns"] = self.random.randrange(16)
            return "point", given
        commands: list[tuple[str, dict[str, Any]]] = [
            ("let", {}),
            ("service", {"server": self._player(), "receiver": self._player()}),
            ("service", {"server": self._player()}),
            ("ends", {"left": self._side()}),
            ("expedite", {"in_play": self.random.random() < 0.5, "requested": True}),
            ("time_out", {"side": self._side()}),
            ("card", {"side": self._side(), "kind": self.random.choice(["yellow", "yellow_red"])}),
            ("medical", {"side": self._side()}),
            ("interval", {"kind": "towel", "resumed": self.random.random() < 0.5}),
            ("toss", {"winner": self._side(), "choice": "serve", "left": self._side()}),
            ("officials", {"umpire": "U"}),
            self._set_score(),
            self._ending(),
        ]
        return self.random.choice(commands)

    def _set_score(self) -> tuple[str, dict[str, Any]]:
        points = self.state["format"]["points"]
        games = []
        for _ in range(self.random.randrange(self.state["format"]["games"])):
            score = [points, self.random.randrange(points - 1)]
            self.random.shuffle(score)
            games.append({"first": score[0], "second": score[1]})
        now = {"first": self.random.randrange(points), "second": self.random.randrange(points)}
        given: dict[str, Any] = {"games": games, "points": now, "reason": REASON}
        if self.random.random() < 0.5:
            given["server"] = self._player()
        return "set_score", given

    def _ending(self) -> tuple[str, dict[str, Any]]:
        if self.random.random() < 0.7:
            return "let", {}
        code = self.random.choice(["retire", "walkover", "disqualify", "abandon"])
        return code, {} if code == "abandon" else {"side": self._side()}

    def _side(self) -> str:
        return self.random.choice("AB")

    def _player(self) -> str:
        numbers = range(1, len(self.opening.sides[0].players) + 1)
        return f"{self._side()}{self.random.choice(numbers)}"


def points_by_log(match: Scorer) -> dict[str, int]:
    """Points of each side by what the log says, apart from the sport's code."""
    points = {"A": 0, "B": 0}
    penalties = {"A": 0, "B": 0}
    for event in match.log:
        code, given = event.code.removeprefix("table_tennis."), event.input
        if code == "point":
            points[given.winner] += 1
        elif code == "card" and given.kind == "yellow_red":
            penalties[given.side] += 1
            other = "B" if given.side == "A" else "A"
            points[other] += 1 if penalties[given.side] == 1 else 2
        elif code == "set_score":
            scores = [*given.games, given.points]
            points = {"A": sum(game.first for game in scores), "B": sum(game.second for game in scores)}
    return points
