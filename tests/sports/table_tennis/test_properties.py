"""Invariants over generated matches: legal and odd play, every kind of command."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scorebox_contract import canonical, canonical_state, unfit
from scorebox_table_tennis import SPORT
from tests.sports.table_tennis.generated import Generated, points_by_log

PROJECT = Path(__file__).resolve().parents[3]
STATE_BYTES_USUAL = 2048
SEEDS, COMMANDS = st.integers(0, 2**32), st.integers(1, 250)
BOUNDED = settings(max_examples=80, deadline=None)


def _played(seed: int, commands: int) -> Generated:
    match = Generated(seed)
    for _ in range(commands):
        match.act()
    return match


@BOUNDED
@given(SEEDS, COMMANDS)
def test_points_in_the_lines_are_those_of_the_log(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    expected = points_by_log(match)
    penalties_cut = any(event.code.endswith("card") for event in match.log)
    for side in ("A", "B"):
        line = match.lines.get(("match", "match", side), {"points": 0})
        # Penalty points that the match no longer needs fall away: then fewer may stand than were given.
        assert line["points"] == expected[side] or (penalties_cut and line["points"] < expected[side])


@BOUNDED
@given(SEEDS, COMMANDS)
def test_the_lines_of_games_add_up_to_those_of_the_match(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    for side in ("A", "B"):
        games = [values for (_, role, who), values in match.lines.items() if (role, who) == ("side", side)]
        whole = match.lines.get(("match", "match", side))
        if whole is None:
            assert games == []
            continue
        for key in ("points", "serves", "serves_won", "receives_won", "penalty"):
            assert whole[key] == sum(values[key] for values in games), key
        assert whole["games"] == sum(values["won"] for values in games)


@BOUNDED
@given(SEEDS, COMMANDS)
def test_points_of_a_counted_game_are_won_serving_receiving_or_by_penalty(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    for (part, role, who), values in match.lines.items():
        if role == "side" and not values["set"]:
            assert values["points"] == values["serves_won"] + values["receives_won"] + values["penalty"]
            players = [
                line
                for (segment, kind, player), line in match.lines.items()
                if segment == part and kind == "player" and player.startswith(who)
            ]
            assert values["serves"] == sum(line["serves"] for line in players)
            assert all(line["serves_won"] <= line["serves"] for line in players)


@BOUNDED
@given(SEEDS, COMMANDS)
def test_the_state_fits_the_contract_and_is_small(seed: int, commands: int) -> None:
    match = Generated(seed)
    for _ in range(commands):
        match.act()
        assert unfit(match.last.state) is None
        assert len(canonical_state(match.state)) <= STATE_BYTES_USUAL


@BOUNDED
@given(SEEDS, COMMANDS)
def test_server_and_receiver_are_always_of_different_sides(seed: int, commands: int) -> None:
    match = Generated(seed)
    for _ in range(commands):
        match.act()
        if match.result is None:
            server, receiver = match.service
            assert server[0] != receiver[0]
            assert match.show["serving"] == server[0]


@BOUNDED
@given(SEEDS, COMMANDS)
def test_doing_one_more_and_undoing_it_by_replay_is_the_identity(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    before, lines, told = canonical_state(match.state), dict(match.lines), len(match.log)
    summary = SPORT.summary(match.state)
    while len(match.log) == told and match.refused < 100:
        match.act()
    state = SPORT.initial_state(match.opening)
    replayed: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in match.log[:told]:
        assert SPORT.check(state, event) is None
        step = SPORT.step(state, event)
        state = step.state
        replayed |= {(line.segment, line.role, line.subject): line.values for line in step.lines}
    assert canonical_state(state) == before
    assert replayed == lines
    assert SPORT.summary(state) == summary


def test_generated_matches_are_of_every_kind() -> None:
    codes: set[str] = set()
    ended = 0
    for seed in range(60):
        match = _played(seed, 250)
        codes |= {event.code for event in match.log}
        ended += match.result is not None
    assert codes == set(SPORT.commands)
    assert ended > 5


def digests(seeds: range) -> str:
    """The states that matches of these seeds come to, as text."""
    return "\n".join(
        f"{canonical_state(match.state).hex()} {canonical(sorted(map(str, match.lines.items()))).hex()}"
        for match in (_played(seed, 250) for seed in seeds)
    )


def test_two_hash_seeds_give_the_same_states() -> None:
    program = "from tests.sports.table_tennis.test_properties import digests; print(digests(range(6)))"
    folders = (PROJECT, PROJECT / "sports" / "contract", PROJECT / "sports" / "table_tennis")
    outcomes = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(map(str, folders)),
            },
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            check=True,
            timeout=120,
            text=True,
        ).stdout
        for seed in ("1", "4711")
    }
    assert len(outcomes) == 1
    assert len(outcomes.pop()) > 1000
