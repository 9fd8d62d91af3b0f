"""`python -m tests.chaos --seed 1 --minutes 10`: a run, a table of its faults, and whether all held."""

import argparse
import shutil
import sys

import trio

from tests.chaos.kinds import KINDS
from tests.chaos.plan import LONG, SHORT
from tests.chaos.report import summary, table
from tests.chaos.run import LARGE, SMALL, Report, run
from tests.chaos.stage import run_folder


def main() -> int:
    """Exit code 0 when nothing was violated, else 1; then the logs are kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--detail", action="store_true", help="print every count of the run")
    parser.add_argument("--short", action="store_true", help="fewer matches, faults close upon each other")
    parser.add_argument(
        "--light", action="store_true", help="one server from start to end: no fault ends it or its database"
    )
    given = parser.parse_args()
    kinds = [kind for kind in KINDS if kind.lane == "light" or not given.light]
    pace, size = (SHORT, SMALL) if given.short else (LONG, LARGE)
    folder, report, failed = run_folder(), Report(given.seed), True
    try:
        trio.run(run, report, given.minutes * 60, pace, size, folder, kinds)
        failed = bool(report.violations)
    finally:
        print(table(report), summary(report), sep="\n\n")
        if given.detail:
            print(dict(sorted(report.tallies.items())), dict(report.missed), sep="\n")
        for sentence in report.violations:
            print(f"VIOLATED: {sentence}")
        if failed:
            numbers = f"--seed {given.seed} --minutes {given.minutes:g}"
            flags = f"{' --short' if given.short else ''}{' --light' if given.light else ''}"
            again = f"{sys.executable} -m tests.chaos {numbers}{flags}"
            print(f"seed {given.seed}, again: {again}\nlogs: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
