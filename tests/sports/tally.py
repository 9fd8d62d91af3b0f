"""A sport that is as small as one can be: sides A and B score points, the first to three wins."""

from collections.abc import Mapping
from typing import Any

import msgspec

from scorebox_contract import (
    Command,
    Event,
    Input,
    Line,
    Opening,
    Refusal,
    Result,
    SideScore,
    State,
    Step,
    Summary,
)

ENOUGH = 3


class Point(Input, frozen=True, kw_only=True):
    winner: str
    notes: list[str] = msgspec.field(default_factory=list)


class Tally:
    code = "tally"
    name = "Tally"
    version = "1.0.0"
    opening: type[Opening] = Opening
    commands: Mapping[str, Command] = {
        "tally.point": Command("tally.point", Point, "Point", {"group": "play", "order": 1})
    }
    roles: Mapping[str, str] = {"side": "Side"}
    keys: Mapping[str, Mapping[str, str]] = {"side": {"points": "Points"}}

    def check_opening(self, opening: Any) -> Refusal | None:
        return None

    def initial_state(self, opening: Any) -> State:
        return {"points": {side.key: 0 for side in opening.sides}, "winner": None}

    def check(self, state: State, event: Event) -> Refusal | None:
        if event.input.winner not in state["points"]:
            return Refusal("unknown_side", "There is no such side.", "winner")
        if state["winner"] is not None and "match_over" not in event.override:
            return Refusal("match_over", "The match is over.", overridable=True)
        return None

    def step(self, state: State, event: Event) -> Step:
        side = event.input.winner
        points = {**state["points"], side: state["points"][side] + 1}
        winner = state["winner"] or (side if points[side] >= ENOUGH else None)
        return Step({"points": points, "winner": winner}, self.lines(points, side))

    def lines(self, points: dict[str, int], side: str) -> tuple[Line, ...]:
        return (Line(side, "side", "whole", {"points": points[side]}),)

    def summary(self, state: State) -> Summary:
        winner = state["winner"]
        return Summary(
            phase="play" if winner is None else "over",
            sides=tuple(SideScore(side, str(points)) for side, points in state["points"].items()),
            result=None if winner is None else Result("won", f"{winner} won", winner),
            segment="whole",
        )


SPORT = Tally()
