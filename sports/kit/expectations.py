"""Golden matches come to what is known of them, in between and at the end."""

import msgspec

from scorebox_contract import EventSport, decode
from sports.kit.golden import Golden, Mark, missing
from sports.kit.play import Play, event_of
from sports.kit.refusals import mark_step
from sports.kit.report import Check


def check_expectations(sport: EventSport, goldens: list[Golden], check: Check) -> None:
    """Every mark at its moment, then the finished match."""
    for golden in goldens:
        play = Play(sport, golden)
        marks: dict[int, list[Mark]] = {}
        for mark in golden.marks:
            marks.setdefault(mark.after, []).append(mark)
        for done in range(len(golden.steps) + 1):
            for mark in marks.get(done, ()):
                check.count += 1
                for sentence in _missed(sport, play, mark):
                    check.fail(f"{mark.where}: {sentence}")
            if done < len(golden.steps):
                play.next()
        check.count += 1
        for sentence in golden.differences(play.document()):
            check.fail(f"{golden.name} at its end: {sentence}")


def _missed(sport: EventSport, play: Play, mark: Mark) -> list[str]:
    said = mark.values
    if mark.kind == "summary":
        return missing(said, msgspec.to_builtins(decode(play.summary())), "summary")
    if mark.kind == "line":
        place = said["segment"], said["role"], said["subject"]
        values = decode(play.lines[place]) if place in play.lines else {}
        return missing(said["values"], values, f"{said['subject']} {said['role']} {said['segment']}")
    if mark.kind == "warned":
        codes = [warning.code for warning in play.last.warnings] if play.last else []
        return missing(sorted(said["codes"]), sorted(codes), "warnings")
    step = mark_step(said["step"])
    refusal = sport.check(decode(play.state), event_of(sport, step))
    return missing(said["code"], None if refusal is None else refusal.code, f"the refusal of {step.code}")
