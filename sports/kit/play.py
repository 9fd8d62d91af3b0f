"""A golden match in play: commands decoded, checked and stepped as the worker does it."""

from dataclasses import dataclass
from typing import Any

import msgspec

from scorebox_contract import Event, EventSport, Refusal, State, Step, canonical, canonical_state, decode
from sports.kit.golden import Document, Golden, GoldenStep

Lines = dict[tuple[str, str, str], bytes]
"""(segment, role, subject) → canonical values."""


class Unplayable(Exception):
    """A golden match that the sport refuses or fails at; the sentence says where."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A match after so many commands, in canonical bytes."""

    done: int
    state: bytes
    lines: Lines
    names: dict[str, str]


class Play:
    """One match of a sport. State goes through its canonical bytes at every command, as it does live."""

    def __init__(self, sport: EventSport, golden: Golden, moment: Moment | None = None) -> None:
        self.sport, self.golden = sport, golden
        if moment is None:
            self.done = 0
            self.state = canonical_state(_initial(sport, golden))
            self.lines: Lines = {}
            self.names = {one["key"]: one["name"] for one in _named(golden.opening)}
        else:
            self.done, self.state = moment.done, moment.state
            self.lines, self.names = dict(moment.lines), dict(moment.names)
        self.last: Step | None = None

    def moment(self) -> Moment:
        """The match as it stands."""
        return Moment(self.done, self.state, dict(self.lines), dict(self.names))

    def event(self, step: GoldenStep) -> Event:
        """A command's event, its input decoded anew."""
        return event_of(self.sport, step)

    def next(self) -> Step:
        """Plays the next command.

        Raises:
            Unplayable: the sport refuses it, or fails.
        """
        step = self.golden.steps[self.done]
        return self.take(step, self.event(step))

    def take(self, step: GoldenStep, event: Event, state: State | None = None) -> Step:
        """Plays a command whose event (and state) the caller has decoded."""
        state = decode(self.state) if state is None else state
        try:
            refusal: Refusal | None = self.sport.check(state, event)
            if refusal is not None:
                raise Unplayable(f"{self.where(step)} is refused: {refusal.sentence}")
            done = self.sport.step(state, event)
            self.state = canonical_state(done.state)
        except Unplayable:
            raise
        except Exception as error:
            raise Unplayable(f"{self.where(step)} fails: {type(error).__name__}: {error}") from error
        for line in done.lines:
            self.lines[line.segment, line.role, line.subject] = canonical(line.values)
        self.names |= {joined.key: joined.name for joined in done.joined}
        self.last = done
        self.done += 1
        return done

    def where(self, step: GoldenStep) -> str:
        """A command's place, for sentences."""
        return f"{self.golden.name}, command {self.done + 1} ({step.code})"

    def summary(self) -> bytes:
        """The summary's canonical bytes."""
        return canonical(self.sport.summary(decode(self.state)))

    def document(self) -> Document:
        """The match as viewers get it."""
        parts: dict[str, Any] = {}
        for (segment, role, subject), values in self.lines.items():
            part = parts.setdefault(segment, {"lines": []})
            part["lines"].append({"subject": subject, "role": role, "values": decode(values)})
        return {"head": {"names": self.names, **decode(self.summary())}, "parts": parts}


def event_of(sport: EventSport, step: GoldenStep) -> Event:
    """The event of a command.

    Raises:
        Unplayable: the sport has no such command, or cannot decode its input.
    """
    command = sport.commands.get(step.code)
    if command is None:
        raise Unplayable(f"{step.code} is no command of the sport")
    try:
        given = msgspec.json.decode(canonical(step.input), type=command.input)
    except msgspec.DecodeError as error:
        raise Unplayable(f"{step.code} {step.input}: {error}") from error
    return Event(step.code, given, frozenset(step.override))


def _initial(sport: EventSport, golden: Golden) -> State:
    try:
        opening = msgspec.json.decode(canonical(golden.opening), type=sport.opening)
    except msgspec.DecodeError as error:
        raise Unplayable(f"{golden.name}: the opening cannot be decoded: {error}") from error
    refusal = sport.check_opening(opening)
    if refusal is not None:
        raise Unplayable(f"{golden.name}: the opening is refused: {refusal.sentence}")
    return sport.initial_state(opening)


def _named(opening: dict[str, Any]) -> list[dict[str, str]]:
    return [one for side in opening["sides"] for one in (side, *side.get("players", []))]
