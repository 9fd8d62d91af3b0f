"""Overs of a Cricsheet innings: their numbers, whether they were called, and how many balls they come to."""

from typing import Any

from sports.readers.cricsheet_file import InningsEntry, OverEntry


def numbered_overs(innings: InningsEntry) -> list[tuple[int, OverEntry]]:
    """The overs of an innings under their numbers from 0; by their order where a number is missing."""
    return [
        (index if over.over is None else over.over, over) for index, over in enumerate(innings.overs or ())
    ]


def over_is_complete(
    innings: InningsEntry, number: int, over: OverEntry, last_number: int, balls_an_over: int
) -> bool:
    """True when the umpire called "over": every over but a last one that play ended in the middle of."""
    if number != last_number or str(number) in (innings.miscounted_overs or {}):
        return True
    legal = sum(ball.is_legal for ball in over.deliveries)
    return legal >= balls_an_over


def balls_of(overs: str, balls_an_over: int) -> int:
    """Balls of an amount of overs as written: "48.5" is 48 overs and 5 balls."""
    whole, _, part = overs.partition(".")
    return int(whole) * balls_an_over + int(part or 0)


def balls_bowled(innings: InningsEntry, conditions: dict[str, Any]) -> int:
    """Balls of an innings with every completed over counted as a full one."""
    overs = numbered_overs(innings)
    if not overs:
        return 0
    number, last = overs[-1]
    balls: int = conditions["balls_an_over"]
    if over_is_complete(innings, number, last, number, balls):
        return (number + 1) * balls
    legal = sum(ball.is_legal for ball in last.deliveries)
    return number * balls + legal
