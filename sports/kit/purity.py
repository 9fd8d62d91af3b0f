"""No input is changed, and all that comes out is JSON of the contract, the state at most 16 KB of it."""

from typing import Any

import msgspec

from scorebox_contract import EventSport, Step, canonical, decode, unfit
from scorebox_contract.canonical import STATE_LIMIT_BYTES
from sports.kit.golden import Golden
from sports.kit.play import Play, event_of
from sports.kit.report import Check


def check_inputs_unchanged(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """`check`, `step` and `summary` leave the state and the event as they were."""
    for golden in goldens:
        play = Play(sport, golden)
        for step in golden.steps:
            event, state = event_of(sport, step), decode(play.state)
            before = canonical(msgspec.to_builtins(event.input))
            where = play.where(step)
            held = play.state
            play.take(step, event, state)
            check.count += 1
            if canonical(state) != held:
                check.fail(f"{where}: the state it was given is changed; make a new one")
            if canonical(msgspec.to_builtins(event.input)) != before:
                check.fail(f"{where}: the input it was given is changed; copy it")
            shown = decode(play.state)
            sport.summary(shown)
            if canonical(shown) != play.state:
                check.fail(f"{where}: the summary changes the state it was given")


def check_json(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """State, lines and summary are JSON without fractions, as the sport hands them out."""
    for golden in goldens:
        play = Play(sport, golden)
        for step in golden.steps:
            where = play.where(step)
            done = play.next()
            check.count += 1
            if (found := _unfit(done)) is not None:
                check.fail(f"{where}: {found}")
            shown = sport.summary(decode(play.state))
            # The summary's own tuples are the contract's; what it shows is the sport's.
            found = unfit(shown.show, "show") or unfit(decode(canonical(shown)), "summary")
            if found is not None:
                check.fail(f"{where}: {found}")


def check_size(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """Canonical states stay under the limit of rule M2."""
    largest = 0
    for golden in goldens:
        play = Play(sport, golden)
        for _ in golden.steps:
            play.next()
            check.count += 1
            largest = max(largest, len(play.state))
    check.remark = f"the largest has {largest:,} of {STATE_LIMIT_BYTES:,} bytes"


def _unfit(done: Step) -> str | None:
    parts: list[tuple[Any, str]] = [(done.state, "state")]
    parts += [(line.values, f"line {line.subject} {line.role} {line.segment}") for line in done.lines]
    parts += [(list(done.emits), "emits")]
    return next((found for part, where in parts if (found := unfit(part, where)) is not None), None)
