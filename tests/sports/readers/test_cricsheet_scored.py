"""Real files scored by cricket's own code: every figure agrees with what the file adds up to."""

from pathlib import Path

import pytest

from scorebox_contract.canonical import STATE_LIMIT_BYTES
from scorebox_cricket import SPORT
from sports.readers.cricsheet import read_cricsheet
from sports.readers.cricsheet_expected import expected_of
from tests.sports.readers.scoring import score
from tests.sports.readers.shared_files import cricket_parameters

ODD_PER_THOUSAND_BALLS = 15
"""Real files hold a few balls that the wrong batter faced, and miscounted overs."""


@pytest.mark.parametrize("file", cricket_parameters())
def test_every_figure_of_a_file_agrees(file: Path):
    match = read_cricsheet(file)
    scored = score(SPORT, match)
    assert expected_of(match).differences(scored.document) == []
    assert scored.largest_state_bytes < STATE_LIMIT_BYTES


@pytest.mark.parametrize("file", cricket_parameters())
def test_a_file_needs_no_overriding_and_few_warnings(file: Path):
    match = read_cricsheet(file)
    scored = score(SPORT, match)
    assert scored.overrides == {}, scored.sentences
    assert scored.warnings.total() <= max(2, match.deliveries * ODD_PER_THOUSAND_BALLS // 1000), (
        scored.sentences
    )
