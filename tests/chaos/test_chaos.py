"""A short run with a fixed seed: nothing is lost, nothing doubled, all watchers end alike, nothing leaks."""

import re
import subprocess
import sys
from pathlib import Path

SEED = 1
MINUTES = 0.25
FAULTS_LEAST = 20
KINDS_LEAST = 15
LIMIT_S = 300.0
"""It takes half a minute where nothing else goes on."""
ROOT = Path(__file__).parent.parent.parent


def test_a_short_run_of_chaos() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos", "--short", "--seed", f"{SEED}", "--minutes", f"{MINUTES}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"\*\*in all\*\* \| (\d+) kinds \| \*\*(\d+)\*\*", done.stdout)
    assert found is not None
    kinds, faults = map(int, found.groups())
    assert kinds >= KINDS_LEAST
    assert faults >= FAULTS_LEAST
