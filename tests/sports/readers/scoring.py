"""Scores a match that was read, in this process: the sport's own code without a server."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import msgspec

from scorebox_contract import EventSport, Refusal
from scorebox_contract.canonical import canonical_state
from scorebox_contract.events import Event
from sports.readers.steps import Heard, Step


@dataclass(slots=True)
class Scored:
    """What came of it: the document, what was sent, and what had to be overridden or was warned of."""

    document: dict[str, Any]
    sent: list[Step] = field(default_factory=list)
    overrides: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    largest_state_bytes: int = 0


class Stopped(AssertionError):
    """A command was refused for good."""


class Playable(Protocol):
    """A match as any reader gives it."""

    @property
    def opening(self) -> dict[str, Any]: ...

    @property
    def steps(self) -> tuple[Step, ...]: ...


def score(sport: EventSport, match: Playable) -> Scored:
    """Sends every step that is due to the sport; refusals are overridden, as on the umpire's word."""
    opening = msgspec.convert(match.opening, sport.opening)
    refusal = sport.check_opening(opening)
    if refusal is not None:
        raise Stopped(refusal.sentence)
    state = sport.initial_state(opening)
    names = {one["key"]: one["name"] for side in match.opening["sides"] for one in (side, *side["players"])}
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    scored = Scored({})
    heard = Heard()
    for number, step in enumerate(match.steps):
        if not heard.due(step):
            continue
        given = msgspec.convert(step.input, sport.commands[step.code].input)
        event = Event(step.code, given, frozenset(step.override))
        event = _checked(sport, state, event, number, scored)
        done = sport.step(state, event)
        state = done.state
        scored.sent.append(replace(step, override=tuple(event.override)))
        scored.largest_state_bytes = max(scored.largest_state_bytes, len(canonical_state(state)))
        heard.answered(step, done.emits)
        names |= {joined.key: joined.name for joined in done.joined}
        for line in done.lines:
            lines[line.segment, line.role, line.subject] = line.values
        for warning in done.warnings:
            scored.warnings[warning.code] += 1
            scored.sentences.append(f"step {number} {step.code} warned: {warning.sentence}")
    parts: dict[str, Any] = {}
    for (segment, role, subject), values in lines.items():
        part = parts.setdefault(segment, {"lines": []})
        part["lines"].append({"subject": subject, "role": role, "values": values})
    summary = msgspec.to_builtins(sport.summary(state))
    scored.document = {"head": {"names": names, **summary}, "parts": parts}
    return scored


def _checked(sport: EventSport, state: Any, event: Event, number: int, scored: Scored) -> Event:
    """The event with whatever it has to override."""
    while True:
        refusal: Refusal | None = sport.check(state, event)
        if refusal is None:
            return event
        place = f"step {number} {event.code} {event.input}"
        if not refusal.overridable or refusal.code in event.override:
            raise Stopped(f"{place} was refused: {refusal.sentence}")
        scored.overrides[refusal.code] += 1
        scored.sentences.append(f"{place} overrides: {refusal.sentence}")
        event = Event(event.code, event.input, event.override | {refusal.code})
