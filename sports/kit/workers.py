"""Runs the kit on a sport's folder in processes of their own, under two hash seeds."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from threading import Timer
from typing import Any

from sports.kit.errors import KitFault
from sports.kit.folder import SportFolder
from sports.kit.golden import Golden
from sports.kit.report import Check, Report, read_report
from sports.kit.worker import golden_data

HASH_SEEDS = ("1", "4711")
PROGRAM = "sports.kit.worker"
JOB_LIMIT_S = 600
"""A job that takes longer hangs."""
STDERR_SHOWN_CHARACTERS = 2000


def check_folder(
    folder: SportFolder,
    goldens: Sequence[Golden],
    *,
    told: Callable[[str], None] = lambda name: None,
    program: str = PROGRAM,
) -> Report:
    """All checks of a folder's sport, and that two hash seeds bring the same; `program` is what runs.

    Raises:
        KitFault: the package cannot be run.
    """
    stored = folder.manifest
    job = {
        "package": folder.package,
        "manifest": None if stored is None else stored.decode(errors="replace"),
        "goldens": [golden_data(golden) for golden in goldens],
    }
    answer = _ask(folder, {"job": "check", **job}, HASH_SEEDS[0], told, program)
    report = read_report(answer["report"])
    expected = next(check for check in report.checks if check.name == "expectations")
    for golden, document in zip(goldens, answer["documents"], strict=True):
        for sentence in golden.differences(document) if document is not None else ():
            expected.fail(f"{golden.name} at its end: {sentence}")
    told("two hash seeds")
    traces = [_ask(folder, {"job": "trace", **job}, seed, told, program)["traces"] for seed in HASH_SEEDS]
    report.checks.append(_compare(goldens, *traces))
    return report


def _compare(goldens: Sequence[Golden], first: list[list[str]], second: list[list[str]]) -> Check:
    check = Check("two hash seeds", "commands")
    for golden, one, other in zip(goldens, first, second, strict=True):
        check.count += len(one)
        parted = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
        if parted is None and len(one) != len(other):
            parted = min(len(one), len(other))
        if parted is not None:
            code = golden.steps[parted].code if parted < len(golden.steps) else "its end"
            check.fail(
                f"{golden.name}, command {parted + 1} ({code}) comes out otherwise under another hash seed; "
                "sort sets before their order matters"
            )
    return check


def _ask(
    folder: SportFolder, job: dict[str, Any], seed: str, told: Callable[[str], None], program: str
) -> dict[str, Any]:
    # The sport's folder first: it may be another version of a package that is installed here.
    path = [str(folder.root.resolve()), *(entry for entry in sys.path if entry)]
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONHASHSEED": seed,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as errors:
        json.dump(job, given)
        given.seek(0)
        with subprocess.Popen(
            [sys.executable, "-P", "-m", program],
            env=environment,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            limit = Timer(JOB_LIMIT_S, process.kill)
            limit.start()
            try:
                last = _answers(process.stdout or (), told)
            finally:
                limit.cancel()
        if process.returncode == 0 and last is not None:
            return last
        errors.seek(0)
        said = errors.read().strip()[-STDERR_SHOWN_CHARACTERS:]
        if process.returncode == -signal.SIGKILL:
            said = f"it was killed: out of memory, or not done within {JOB_LIMIT_S} s\n{said}"
        raise KitFault(f"{folder.package} cannot be run (exit code {process.returncode}):\n{said}")


def _answers(lines: Iterable[str], told: Callable[[str], None]) -> dict[str, Any] | None:
    """Passes on what is told; returns the last answer."""
    for line in lines:
        answer: dict[str, Any] = json.loads(line)
        if "told" not in answer:
            return answer
        told(answer["told"])
    return None
