"""A made-up Test match of any length, as commands: what the benchmarks score."""

import random
from collections.abc import Iterator
from typing import Any

PLAYERS_A_SIDE = 11
BALLS_AN_OVER = 6
RUNS = (0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 4, 4, 6)
WICKET_ODDS = 1 / 66
"""Chance of a wicket on a ball: some 660 balls an innings, 2,700 over four."""

Tap = tuple[str, dict[str, Any]]


def opening(names: int = 20) -> dict[str, Any]:
    """The opening of a five-day Test; players' names have `names` characters."""
    return {
        "sides": [
            {
                "key": side,
                "name": f"Side {side}",
                "players": [
                    {"key": f"{side}{n}", "name": f"Player {side}{n} ".ljust(names, "x")}
                    for n in range(1, PLAYERS_A_SIDE + 1)
                ],
            }
            for side in "AB"
        ],
        "first_day": "2026-06-01",
        "format": {"name": "Test", "innings_a_side": 2, "follow_on_lead": 200},
    }


def taps(seed: int) -> Iterator[Tap]:
    """Four innings of legal play, ball by ball. An innings ends at ten wickets, the last one never."""
    chance = random.Random(seed)
    for number in range(4):
        batting, fielding = ("A", "B") if number % 2 == 0 else ("B", "A")
        yield "cricket.innings", {"batting": batting}
        if number == 3:
            # So that it goes on as it began, however long the benchmark is.
            yield "cricket.revise", {"target": 9_999}
        yield from _innings(chance, batting, fielding, last=number == 3)


def _innings(chance: random.Random, batting: str, fielding: str, *, last: bool) -> Iterator[Tap]:
    striker, non_striker, next_in, over = f"{batting}1", f"{batting}2", 3, 0
    while True:
        bowler = f"{fielding}{PLAYERS_A_SIDE - (over % 2) - 2 * (over // 12 % 3)}"
        for _ in range(BALLS_AN_OVER):
            ball: dict[str, Any] = {"striker": striker, "non_striker": non_striker, "bowler": bowler}
            if chance.random() < WICKET_ODDS and not last:
                ball["wickets"] = [{"kind": "bowled", "out": striker}]
                yield "cricket.delivery", ball
                if next_in > PLAYERS_A_SIDE:
                    return
                striker, next_in = f"{batting}{next_in}", next_in + 1
                continue
            runs = chance.choice(RUNS)
            yield "cricket.delivery", ball | {"bat": runs}
            if runs % 2:
                striker, non_striker = non_striker, striker
        yield "cricket.over", {}
        striker, non_striker = non_striker, striker
        over += 1
