"""Made-up files of every format: read, scored by cricket's own code, and compared figure by figure."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from scorebox_contract.canonical import STATE_LIMIT_BYTES
from scorebox_cricket import SPORT
from sports.readers.cricsheet import CricsheetMatch, parse_cricsheet
from sports.readers.cricsheet_expected import expected_of
from tests.sports.readers.made_up import made_up
from tests.sports.readers.scoring import score

SEEDS = st.integers(0, 2**32)
EXPECTED_WARNINGS = {"over_length", "replaced"}
"""What an orderly match may be warned of: overs the umpire miscounted, and who was replaced and plays on."""

AFTER_THE_END = {"innings_closed", "match_over"}
"""What may have to be insisted on: a batter timed out after the ball that ended the innings."""


def read(seed: int, *, orderly: bool) -> CricsheetMatch:
    data = json.dumps(made_up(seed, orderly=orderly)).encode()
    return parse_cricsheet(data, f"seed {seed}", id=str(seed))


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_every_figure_of_a_made_up_match_agrees(seed: int):
    match = read(seed, orderly=False)
    scored = score(SPORT, match)
    assert expected_of(match).differences(scored.document) == []
    assert set(scored.overrides) <= AFTER_THE_END, scored.sentences
    assert scored.largest_state_bytes < STATE_LIMIT_BYTES


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_nobody_is_said_to_face_wrongly_where_nobody_does(seed: int):
    scored = score(SPORT, read(seed, orderly=True))
    assert set(scored.warnings) <= EXPECTED_WARNINGS, scored.sentences


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_a_match_is_read_alike_every_time(seed: int):
    assert read(seed, orderly=False) == read(seed, orderly=False)
