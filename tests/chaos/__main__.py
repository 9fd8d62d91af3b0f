"""`python -m tests.chaos --seed 1 --minutes 10`: a run, a table of its faults, and whether all held."""

import argparse
import shutil
import sys

import trio

from tests.chaos.plan import LONG, SHORT
from tests.chaos.report import summary, table
from tests.chaos.run import LARGE, SMALL, run
from tests.chaos.stage import run_folder


def main() -> int:
    """Exit code 0 when nothing was violated, else 1; then the logs are kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--detail", action="store_true", help="print every count of the run")
    parser.add_argument("--short", action="store_true", help="fewer matches, faults close upon each other")
    given = parser.parse_args()
    pace, size = (SHORT, SMALL) if given.short else (LONG, LARGE)
    folder = run_folder()
    failed = True
    try:
        report = trio.run(run, given.seed, given.minutes * 60, pace, size, folder)
        print(table(report), summary(report), sep="\n\n")
        if given.detail:
            print(dict(sorted(report.tallies.items())), dict(report.missed), sep="\n")
        failed = bool(report.violations)
        for sentence in report.violations:
            print(f"VIOLATED: {sentence}")
    finally:
        if failed:
            numbers = f"--seed {given.seed} --minutes {given.minutes:g}"
            again = f"{sys.executable} -m tests.chaos {numbers}{' --short' if given.short else ''}"
            print(f"seed {given.seed}, again: {again}\nlogs: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
