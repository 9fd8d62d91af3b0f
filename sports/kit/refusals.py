"""Refusals are sentences, name a field of the command, and what may be overridden can be."""

from scorebox_contract import Event, EventSport, Refusal, decode
from sports.kit.golden import Golden, GoldenStep
from sports.kit.play import Play, event_of
from sports.kit.report import Check

STATES_PROBED = 24
COMMANDS_PROBED = 60
"""Of each match: so many of its states meet so many of its commands, at odds with the order of play."""
OVERRIDES_MOST = 20
"""A command that meets more refusals than these in a row does not end."""


def check_refusals(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """Every command of a match is asked at moments at which it was not sent."""
    for golden in goldens:
        states = _states(sport, golden)
        steps = list({(step.code, str(step.input)): step for step in golden.steps}.values())
        steps += [mark_step(mark.values["step"]) for mark in golden.marks if mark.kind == "refused"]
        steps = steps[:: max(len(steps) // COMMANDS_PROBED, 1)]
        for state in states:
            for step in steps:
                _probe(sport, state, step, golden.name, check)


def mark_step(said: dict[str, object]) -> GoldenStep:
    """The command of a `refused` mark."""
    given, override = said["input"], said["override"]
    assert isinstance(given, dict)
    assert isinstance(override, list | tuple)
    return GoldenStep(str(said["code"]), given, tuple(override))


def _states(sport: EventSport, golden: Golden) -> list[bytes]:
    play = Play(sport, golden)
    states = [play.state]
    every = max(len(golden.steps) // STATES_PROBED, 1)
    for number, _ in enumerate(golden.steps, 1):
        play.next()
        if number % every == 0 or number == len(golden.steps):
            states.append(play.state)
    return states


def _probe(sport: EventSport, state: bytes, step: GoldenStep, name: str, check: Check) -> None:
    event = event_of(sport, step)
    passed_over: set[str] = set()
    where = f"{name}: {step.code} {step.input}"
    try:
        for _ in range(OVERRIDES_MOST):
            asked = Event(event.code, event.input, event.override | passed_over)
            refusal = sport.check(decode(state), asked)
            if refusal is None:
                sport.step(decode(state), asked)
                return
            check.count += 1
            for problem in problems(refusal, set(type(event.input).__struct_fields__)):
                check.fail(f"{where}: {problem}")
            if not refusal.overridable:
                return
            if refusal.code in asked.override:
                check.fail(f"{where}: {refusal.code} is refused although it was overridden")
                return
            passed_over.add(refusal.code)
        check.fail(f"{where}: meets more than {OVERRIDES_MOST} refusals in a row")
    except Exception as error:
        said = f" overriding {', '.join(sorted(passed_over))}" if passed_over else ""
        check.fail(f"{where}{said} at an odd moment fails: {type(error).__name__}: {error}")


def problems(refusal: Refusal, fields: set[str]) -> list[str]:
    """What is wrong with a refusal as a scorer reads it."""
    found = []
    if (
        not refusal.code
        or not refusal.code.replace("_", "").isalnum()
        or refusal.code != refusal.code.lower()
    ):
        found.append(f"the refusal's code {refusal.code!r} must be lower-case words joined by _")
    sentence = refusal.sentence.strip()
    if len(sentence.split()) < 2 or not sentence.endswith((".", "!", "?")):
        found.append(f"{refusal.code} says {refusal.sentence!r}; write a sentence that ends with a full stop")
    head = (refusal.field or "").split(".")[0].split("[")[0]
    if refusal.field is not None and head not in fields:
        found.append(f"{refusal.code} names the field {refusal.field!r}, which the command does not have")
    return found
