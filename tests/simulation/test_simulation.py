"""Histories with faults, each from one seed: the short form of `make simulation`."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulation.faults import KINDS
from tests.simulation.history import Outcome, run_history

ROOT = Path(__file__).parents[2]
SEEDS = 150
FOUND = {
    37: "a correction was refused for what another node had done since",
    98: "a revert was refused for what another node had done since",
    617: "a void was refused for what another node had done since",
    867: "an undo was refused for what another node had done since",
}
"""Seeds that once found a fault of the product."""


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [run_history(seed) for seed in range(SEEDS)]


def test_no_history_is_violated(outcomes: list[Outcome]) -> None:
    failed = [outcome for outcome in outcomes if outcome.violations]
    assert not failed, failed[0].told()


def test_every_kind_of_fault_strikes(outcomes: list[Outcome]) -> None:
    counts: Counter[str] = Counter()
    for outcome in outcomes:
        counts += outcome.faults
    assert counts.keys() == set(KINDS)


@pytest.mark.parametrize("seed", FOUND, ids=FOUND.get)
def test_a_seed_that_found_a_fault_holds(seed: int) -> None:
    outcome = run_history(seed)
    assert not outcome.violations, outcome.told()


@pytest.mark.parametrize("seed", [3, 12, 35, 112])
def test_the_same_seed_gives_the_same_history(seed: int) -> None:
    first, again = run_history(seed), run_history(seed)
    assert first.trace == again.trace
    assert first.digest == again.digest
    assert first.faults == again.faults


def test_another_process_with_another_hash_seed_gives_the_same_history() -> None:
    command = [sys.executable, "-m", "tests.simulation", "--seeds", "3", "--trace"]
    ran = subprocess.run(
        command, env={"PYTHONHASHSEED": "77"}, cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = [line.split()[-1] for line in ran.stdout.splitlines() if line.startswith("seed ")]
    assert told == [run_history(seed).digest for seed in range(3)]


def test_another_seed_gives_another_history() -> None:
    assert run_history(1).digest != run_history(2).digest


def test_a_failing_seed_tells_how_to_see_it_again() -> None:
    outcome = Outcome(7, ["a row is missing"], "d", [(0.5, "s1", "accepted")])
    told = outcome.told()
    assert "a row is missing" in told
    assert "0.5 s1 accepted" in told
    assert "python -m tests.simulation --seeds 1 --start 7 --trace" in told
