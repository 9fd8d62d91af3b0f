"""`python -m tests.chaos --seed 1 --minutes 10`: a run, a table of its faults, and whether all held."""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import trio

from tests.chaos.plan import LONG
from tests.chaos.report import summary, table
from tests.chaos.run import LARGE, run


def main() -> int:
    """Exit code 0 when nothing was violated, else 1; then the logs are kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--detail", action="store_true", help="print every count of the run")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="scorebox-chaos-"))
    # postgres runs as another user where we are root, and has to reach its folder.
    os.chmod(folder, 0o711)
    failed = True
    try:
        report = trio.run(run, given.seed, given.minutes * 60, LONG, LARGE, folder)
        print(table(report), summary(report), sep="\n\n")
        if given.detail:
            print(dict(sorted(report.tallies.items())), dict(report.missed), sep="\n")
        failed = bool(report.violations)
        for sentence in report.violations:
            print(f"VIOLATED: {sentence}")
    finally:
        if failed:
            print(
                f"seed {given.seed}: make chaos SEED={given.seed} MINUTES={given.minutes:g}\nlogs: {folder}",
                file=sys.stderr,
            )
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
