"""Invariants over generated matches: legal and odd play, every kind of command."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from scorebox_contract import canonical_state
from scorebox_contract.canonical import STATE_LIMIT_BYTES, unfit
from tests.sports.cricket.generated import Generated, replayed

PROJECT = Path(__file__).resolve().parents[3]
MATCHES_OF_A_SEED, COMMANDS_A_MATCH = 4, 300
SEEDS, COMMANDS = st.integers(0, 2**32), st.integers(1, 500)
BOUNDED = settings(max_examples=60, deadline=None)


def _played(seed: int, commands: int) -> Generated:
    match = Generated(seed)
    for _ in range(commands):
        match.act()
    return match


@BOUNDED
@given(SEEDS, COMMANDS)
def test_totals_and_lines_equal_the_sum_of_the_events(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    assert match.tally.differences(match.lines) == []


@BOUNDED
@given(SEEDS, COMMANDS)
def test_the_state_fits_the_contract_and_is_small(seed: int, commands: int) -> None:
    match = Generated(seed)
    for _ in range(commands):
        match.act()
        assert unfit(match.last.state) is None
        assert len(canonical_state(match.state)) <= STATE_LIMIT_BYTES


@BOUNDED
@given(SEEDS, COMMANDS)
def test_a_replay_of_the_log_gives_the_same_state(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    assert replayed(match.log, match) == canonical_state(match.state)


@BOUNDED
@given(SEEDS, COMMANDS)
def test_the_batters_of_a_side_add_up_to_its_total(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    for innings in match.tally.innings:
        side = match.lines[innings.segment, "side", innings.side]
        batted = sum(
            values["runs"]
            for (segment, role, _), values in match.lines.items()
            if segment == innings.segment and role == "batting"
        )
        extras = sum(side[extra] for extra in ("byes", "leg_byes", "wides", "no_balls", "penalty"))
        assert batted + extras == side["runs"]


@BOUNDED
@given(SEEDS, COMMANDS)
def test_at_most_two_batters_are_in_and_places_in_the_order_are_unique(seed: int, commands: int) -> None:
    match = Generated(seed)
    for _ in range(commands):
        match.act()
        if match.open:
            batters = match.state["play"]["batters"].values()
            assert sum(1 for batter in batters if batter["status"] == "batting") <= 2
            places = [batter["position"] for batter in batters if batter["position"] is not None]
            assert sorted(places) == list(range(1, len(places) + 1))


def test_two_hash_seeds_give_the_same_answers() -> None:
    def said(hash_seed: str) -> str:
        command = [sys.executable, "-m", "tests.sports.cricket.generated"]
        paths = os.pathsep.join(str(PROJECT / part) for part in (".", "sports/contract", "sports/cricket"))
        done = subprocess.run(
            [*command, str(MATCHES_OF_A_SEED), str(COMMANDS_A_MATCH)],
            cwd=PROJECT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return done.stdout

    first = said("1")
    assert len(first.split()) == MATCHES_OF_A_SEED
    assert said("4242") == first
