"""Invariants over generated matches: legal and odd play, every kind of command."""

import os
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from scorebox_contract import canonical_state
from scorebox_contract.canonical import STATE_LIMIT_BYTES, unfit
from scorebox_cricket.innings import end_reasons
from scorebox_cricket.target import target_of
from tests.sports.cricket.generated import Generated, replayed
from tests.sports.cricket.typed import MATCH_ENDS, Typed

PROJECT = Path(__file__).resolve().parents[3]
MATCHES_OF_A_SEED, COMMANDS_A_MATCH = 4, 300
SEEDS, COMMANDS = st.integers(0, 2**32), st.integers(1, 500)
BOUNDED = settings(max_examples=60, deadline=None)


def _match(seed: int) -> Generated:
    return Typed(seed) if seed % 2 else Generated(seed)


def _played(seed: int, commands: int) -> Generated:
    match = _match(seed)
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
    match = _match(seed)
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
        assert batted + extras + side.get("unaccounted", 0) == side["runs"]


@BOUNDED
@given(SEEDS, COMMANDS)
def test_at_most_two_batters_are_in_and_places_in_the_order_are_unique(seed: int, commands: int) -> None:
    match = _match(seed)
    for _ in range(commands):
        match.act()
        if match.open:
            batters = match.state["play"]["batters"].values()
            assert sum(1 for batter in batters if batter["status"] == "batting") <= 2
            places = [batter["position"] for batter in batters if batter["position"] is not None]
            assert sorted(places) == list(range(1, len(places) + 1))


@BOUNDED
@given(SEEDS, COMMANDS)
def test_no_figure_is_negative_and_nobody_out_lacks_how(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    for place, values in match.lines.items():
        free = ("target", "unaccounted")
        figures = [value for key, value in values.items() if isinstance(value, int) and key not in free]
        assert min(figures, default=0) >= 0, (place, values)
        assert values.get("status") != "out" or "out_kind" in values, (place, values)


@BOUNDED
@given(SEEDS, COMMANDS)
def test_partnerships_and_falls_grow_with_the_side(seed: int, commands: int) -> None:
    match = _played(seed, commands)
    taken_back = sum(max(-event.input.runs, 0) for event in match.log if event.code == "cricket.penalty")
    for innings in match.tally.innings:
        if innings.times_set:
            continue
        lines = {place: values for place, values in match.lines.items() if place[0] == innings.segment}
        pairs = [values["runs"] for (_, role, _), values in lines.items() if role.startswith("partnership-")]
        assert sum(pairs) <= match.lines[innings.segment, "side", innings.side]["runs"] + taken_back
        falls = sorted(
            (values["fall_wicket"], values["fall_runs"]) for values in lines.values() if "fall_runs" in values
        )
        if not taken_back and not any(event.override for event in match.log):
            assert [runs for _, runs in falls] == sorted(runs for _, runs in falls)


@BOUNDED
@given(SEEDS, COMMANDS)
def test_an_innings_is_open_only_while_its_figures_leave_it_open(seed: int, commands: int) -> None:
    match = _match(seed)
    for _ in range(commands):
        match.act()
        if match.open and match.result is None:
            assert set(end_reasons(match.state)) <= {match.state["play"]["reopened"]}


@BOUNDED
@given(SEEDS, COMMANDS)
def test_everybody_hears_when_the_match_ends_and_when_it_goes_on(seed: int, commands: int) -> None:
    match = _match(seed)
    for _ in range(commands):
        sent = len(match.log)
        match.act()
        assert (match.phase == "over") == (match.result is not None)
        if len(match.log) > sent:
            said = {"match_end", "match_reopened"} & set(match.last.emits)
            assert said == ({MATCH_ENDS[match.ended]} if match.ended in MATCH_ENDS else set())


@BOUNDED
@given(SEEDS, COMMANDS)
def test_every_line_says_what_the_state_says(seed: int, commands: int) -> None:
    match = _match(seed)
    for _ in range(commands):
        match.act()
    for totals in match.state["innings"]:
        side = match.state["sides"][totals["side"]]["key"]
        line = match.lines[totals["segment"], "side", side]
        assert line["target"] == target_of(match.state, totals)
        for figure in ("runs", "wickets", "balls", "penalty", "closed"):
            assert line[figure] == totals[figure]


@BOUNDED
@given(SEEDS, COMMANDS)
def test_refusals_are_sentences_without_words_of_the_code(seed: int, commands: int) -> None:
    for answer in _played(seed, commands).answers:
        if len(answer) == 3 and isinstance(answer[2], str):
            _, _, sentence = answer
            assert not sentence[0].islower(), sentence
            assert sentence[-1] in ".?", sentence
            assert "_" not in sentence, sentence


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
