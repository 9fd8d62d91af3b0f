"""A duel: two sides score in rounds of four events. What an event comes to depends on all before it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from scorebox_contract import (
    Caution,
    Command,
    Event,
    Input,
    Joined,
    Line,
    Meta,
    Opening,
    Refusal,
    Result,
    SideScore,
    State,
    Step,
    Summary,
)

ROUND_EVENTS = 4
ENOUGH = 60
"""Points that win."""
CHAIN_MOST = 1_000_003
"""The chain tells one order of the same events from another."""


class Score(Input, frozen=True, kw_only=True):
    """Points for a side; `note` brings a player in."""

    side: str
    points: Annotated[int, Meta(ge=0, le=9)]
    note: Annotated[str, Meta(max_length=10)] = ""


class Steal(Input, frozen=True, kw_only=True):
    """A side takes points from the other, which must have them."""

    side: str
    points: Annotated[int, Meta(ge=1, le=9)]


class Blunder(Input, frozen=True, kw_only=True):
    """The sport's own code fails on it."""


class Duel:
    """The sport."""

    code = "duel"
    name = "Duel"
    version = "1.0.0"
    opening: type[Opening] = Opening
    commands: Mapping[str, Command] = MappingProxyType(
        {
            command.code: command
            for command in (
                Command("duel.score", Score, "Score", {}),
                Command("duel.steal", Steal, "Steal", {}),
                Command("duel.blunder", Blunder, "Blunder", {}),
            )
        }
    )
    roles: Mapping[str, str] = MappingProxyType({"side": "Side"})
    keys: Mapping[str, Mapping[str, str]] = MappingProxyType({"side": {"points": "Points", "chain": "Chain"}})

    def check_opening(self, opening: Opening) -> Refusal | None:
        """Two sides."""
        return None if len(opening.sides) == 2 else Refusal("two_sides", "A duel has two sides.", "sides")

    def initial_state(self, opening: Opening) -> State:
        """Nothing scored."""
        return {"points": {side.key: 0 for side in opening.sides}, "events": 0, "chain": 7, "joined": []}

    def check(self, state: State, event: Event) -> Refusal | None:
        """What cannot be."""
        if event.code == "duel.blunder":
            return None
        value = event.input
        points: dict[str, int] = state["points"]
        if value.side not in points:
            return Refusal("unknown_side", "There is no such side.", "side")
        if max(points.values()) >= ENOUGH and "over" not in event.override:
            return Refusal("over", "The duel is over.", overridable=True)
        if (
            isinstance(value, Steal)
            and min(points[side] for side in points if side != value.side) < value.points
        ):
            return Refusal("too_few", "The other side has not so many.", "points")
        if isinstance(value, Score) and value.note in state["joined"]:
            return Refusal("joined_already", "This player is there already.", "note")
        return None

    def step(self, state: State, event: Event) -> Step:
        """What it comes to."""
        value = event.input
        if isinstance(value, Blunder):
            raise LookupError("a mistake in the rules")
        before: dict[str, int] = state["points"]
        other = next(side for side in before if side != value.side)
        points = {**before, value.side: before[value.side] + value.points}
        changed = [value.side]
        if isinstance(value, Steal):
            points[other] -= value.points
            changed.append(other)
        chain = (state["chain"] * 31 + value.points * 7 + len(changed) + (value.side < other)) % CHAIN_MOST
        note = value.note if isinstance(value, Score) else ""
        new = {
            "points": points,
            "events": state["events"] + 1,
            "chain": chain,
            "joined": [*state["joined"], note] if note else state["joined"],
        }
        emits = ["scored"]
        if (before[value.side] > before[other]) != (points[value.side] > points[other]):
            emits.append("lead")
        segment = f"round-{state['events'] // ROUND_EVENTS + 1}"
        lines = [Line(side, "side", segment, {"points": points[side], "chain": chain}) for side in changed]
        lines.append(Line(value.side, "side", "match", {"points": points[value.side], "chain": chain}))
        return Step(
            new,
            lines=tuple(lines),
            emits=tuple(emits),
            warnings=() if value.points else (Caution("nothing", "Nothing was scored.", "points"),),
            joined=(Joined(value.side, note, note.title()),) if note else (),
        )

    def summary(self, state: State) -> Summary:
        """Who leads; over once a side has enough."""
        points: dict[str, int] = state["points"]
        best = max(points, key=lambda side: points[side])
        over = points[best] >= ENOUGH
        return Summary(
            "over" if over else "play",
            tuple(
                SideScore(side, str(points[side]), (1 if side == best else 2) if over else None)
                for side in points
            ),
            Result("won", f"{best} won.", best) if over else None,
            segment=f"round-{state['events'] // ROUND_EVENTS + 1}",
        )


SPORT = Duel()
