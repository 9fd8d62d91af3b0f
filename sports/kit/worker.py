"""The program of the kit's worker: `python -m sports.kit.worker`, the job as JSON on standard input.

The job {job, package, manifest, goldens} is "check" (all checks; then each finished match's document) or
"trace" (a digest of all that each command brought). Answers are lines of JSON on standard output: {told},
at last {report, documents} or {traces}.
"""

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from scorebox_contract import EventSport, canonical
from sports.kit.checks import check_sport
from sports.kit.golden import Golden, GoldenStep, Mark
from sports.kit.play import Play
from sports.kit.report import Check

DIGEST_CHARACTERS = 16


Tried = Callable[[], str | None]
"""What the sport tried that it must not, as a sentence."""


def unguarded() -> Tried:
    """No guard: whoever runs the kit from elsewhere may have none."""
    return lambda: None


def main(guard: Callable[[], Tried] = unguarded) -> None:
    """Does the job. `guard` is put up before anything of the sport runs."""
    # What the sport prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    job = json.load(sys.stdin)

    def answer(data: dict[str, Any]) -> None:
        answers.write(f"{json.dumps(data)}\n")
        answers.flush()

    tried = guard()
    sport: EventSport = importlib.import_module(job["package"]).SPORT
    goldens = [read_golden(each) for each in job["goldens"]]
    if job["job"] == "trace":
        answer({"traces": [trace(sport, golden) for golden in goldens]})
        return
    stored = None if job["manifest"] is None else job["manifest"].encode()
    report = check_sport(sport, goldens, stored_manifest=stored, told=lambda name: answer({"told": name}))
    if (sentence := tried()) is not None:
        check = Check("nothing forbidden", "jobs", count=1)
        check.fail(sentence)
        report.checks.append(check)
    answer({"report": report.data(), "documents": [document(sport, golden) for golden in goldens]})


def golden_data(golden: Golden) -> dict[str, Any]:
    """A golden match as JSON, but for what is said of its finished document."""
    return {
        "name": golden.name,
        "opening": golden.opening,
        "steps": [[step.code, step.input, list(step.override)] for step in golden.steps],
        "marks": [[mark.after, mark.kind, mark.values, mark.where] for mark in golden.marks],
    }


def read_golden(data: dict[str, Any]) -> Golden:
    """The golden match of `golden_data`."""
    steps = tuple(GoldenStep(code, given, tuple(override)) for code, given, override in data["steps"])
    return Golden(data["name"], data["opening"], steps, tuple(Mark(*mark) for mark in data["marks"]))


def trace(sport: EventSport, golden: Golden) -> list[str]:
    """A digest for every command: of state, lines, emits, warnings and summary. Ends where play fails."""
    digests = []
    try:
        play = Play(sport, golden)
        for _ in golden.steps:
            done = play.next()
            digest = hashlib.sha256(play.state + play.summary())
            for line in done.lines:
                place = f"{line.subject} {line.role} {line.segment}".encode()
                digest.update(place + canonical(line.values))
            told = [*done.emits, *(f"{each.code} {each.sentence}" for each in done.warnings)]
            digest.update(canonical(told))
            digests.append(digest.hexdigest()[:DIGEST_CHARACTERS])
    except Exception as error:
        digests.append(str(error))
    return digests


def document(sport: EventSport, golden: Golden) -> dict[str, Any] | None:
    """The finished match's document; None for one that cannot be played (the report says why)."""
    try:
        play = Play(sport, golden)
        for _ in golden.steps:
            play.next()
        return play.document()
    except Exception:
        return None


if __name__ == "__main__":
    main()
