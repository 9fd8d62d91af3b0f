"""Rule M2: the state stays under 16 KB at any point of any match, and does not grow with the balls."""

from typing import Any

import msgspec
import pytest

from scorebox_contract import canonical_state
from scorebox_contract.canonical import STATE_LIMIT_BYTES
from scorebox_cricket import SPORT
from tests.sports.cricket.play import Scorer, out

WIDE_CHARACTER = "\N{CRICKET BAT AND BALL}"


def _sheets(key: str, name: str, squad: int) -> list[dict[str, Any]]:
    """Two sides whose keys and names are as long as they may be."""
    return [
        {
            "key": f"{key}{side}"[-64:],
            "name": name,
            "players": [{"key": f"{key}{side}{number:02}"[-64:], "name": name} for number in range(squad)],
        }
        for side in "AB"
    ]


class LongNames(Scorer):
    """A five-day Test between sides of very long names."""

    def __init__(self, sides: list[dict[str, Any]], **playing: Any) -> None:
        super().__init__(**playing)
        plain = msgspec.to_builtins(self.opening) | {"sides": sides}
        self.opening = msgspec.convert(plain, SPORT.opening)
        assert SPORT.check_opening(self.opening) is None
        self.state = SPORT.initial_state(self.opening)
        self.largest = 0

    def send(self, code: str, **given: Any) -> Any:
        step = super().send(code, **given)
        self.largest = max(self.largest, len(canonical_state(step.state)))
        return step

    def long_innings(self, side: int, overs: int) -> None:
        """Everybody of the fielding side bowls and takes part in run-outs, everybody of the other bats."""
        bowlers = self.state["sides"][1 - side]["keys"]
        for over in range(overs):
            bowler = bowlers[over % len(bowlers)]
            for ball in range(6):
                striker, _ = self.crease()
                given: dict[str, Any] = {"bat": (over + ball) % 7}
                if ball == 5 and over % 9 == 8 and self.state["innings"][-1]["wickets"] < 9:
                    fielders = bowlers[over % 3 :: 3]
                    given = {"wickets": [out("run_out", striker, *fielders, crossed=False)]}
                self.ball(bowler=bowler, **given)
            self.send("over")
        for number in range(6):
            self.send("powerplay", kind="p" * 32, start=f"{number}.1", end=f"{number}.6")
        self.send("innings_end", reason="declared")


@pytest.mark.parametrize(
    ("key", "name", "squad"),
    [
        ("k" * 64, WIDE_CHARACTER * 256, 15),
        ("k" * 64, "n" * 256, 15),
        (WIDE_CHARACTER * 20, WIDE_CHARACTER * 256, 12),
        ("k", "n", 35),
    ],
)
def test_a_five_day_test_of_maximal_names_stays_small(key: str, name: str, squad: int) -> None:
    match = LongNames(_sheets(key, name, squad), innings_a_side=2, follow_on_lead=200, players=11)
    for side in (0, 1, 0):
        match.send("innings", batting=match.state["sides"][side]["key"])
        match.long_innings(side, 90)
    match.send("innings", batting=match.state["sides"][1]["key"])
    match.long_innings(1, 40)
    assert len(match.state["innings"]) == 4
    assert match.largest <= STATE_LIMIT_BYTES


def test_the_state_does_not_grow_with_the_balls() -> None:
    match = LongNames(_sheets("", "n", 11), innings_a_side=2)
    match.send("innings", batting="A")
    sizes = []
    for over in range(450):
        for _ in range(6):
            match.ball("1", bowler=f"B0{over % 2}")
        match.send("over")
        sizes.append(len(canonical_state(match.state)))
    assert match.state["innings"][0]["balls"] == 2700
    assert sizes[-1] - sizes[10] < 64, "only more digits"
