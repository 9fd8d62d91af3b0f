"""Golden matches: real ones, and one made up for a mishap, played through cricket's own code and compared."""

from pathlib import Path

import pytest

from scorebox_contract.canonical import STATE_LIMIT_BYTES
from scorebox_cricket import SPORT
from sports.readers.golden import GoldenMatch, read_golden
from sports.readers.golden_writer import write_golden
from tests.sports.readers.scoring import score

FOLDER = Path(__file__).parents[3] / "sports" / "cricket" / "golden"
FILES = sorted(FOLDER.glob("*.scorebook"))
AT_LEAST = 6
REMARK = "Facts of the match: Cricsheet (cricsheet.org)."
MADE_UP = {
    "made-up-ashbourne-v-millbrook": "A made-up match: the tablet is lost in the third over, "
    "the score typed from the paper book."
}
"""Matches without a source, and what they say of themselves."""


@pytest.fixture(params=FILES, ids=lambda file: file.stem)
def golden(request: pytest.FixtureRequest) -> GoldenMatch:
    return read_golden(request.param)


def test_every_figure_is_as_expected(golden: GoldenMatch):
    scored = score(SPORT, golden)
    assert golden.expected.differences(scored.document) == []
    assert scored.overrides == {}, scored.sentences
    assert scored.largest_state_bytes < STATE_LIMIT_BYTES


def test_every_innings_batter_bowler_and_the_result_is_expected(golden: GoldenMatch):
    scored = score(SPORT, golden).document
    expected = {(line.segment, line.role, line.subject) for line in golden.expected.lines}
    played = {
        (segment, line["role"], line["subject"])
        for segment, part in scored["parts"].items()
        for line in part["lines"]
        if line["role"] in ("side", "bowling") or (line["role"] == "batting" and line["values"]["balls"])
    }
    assert played <= expected
    assert golden.expected.result is not None
    assert golden.expected.figures > 100


def test_the_file_is_as_the_writer_writes_it(golden: GoldenMatch):
    assert (
        write_golden(golden, remarks=(MADE_UP.get(golden.id, REMARK),))
        == (FOLDER / f"{golden.id}.scorebook").read_text()
    )


def test_one_run_more_is_a_difference(golden: GoldenMatch):
    place, step = next((n, step) for n, step in enumerate(golden.steps) if step.input.get("bat") == 1)
    step.input["bat"] = 2
    assert golden.steps[place].input["bat"] == 2
    assert golden.expected.differences(score(SPORT, golden).document)


def test_they_are_of_every_kind():
    matches = [read_golden(file) for file in FILES]
    assert len(matches) >= AT_LEAST
    formats = {match.opening["format"]["name"] for match in matches}
    assert formats >= {"T20", "ODI", "Test", "The Hundred"}
    codes = {step.code.removeprefix("cricket.") for match in matches for step in match.steps}
    assert codes >= {
        "penalty",
        "replacement",
        "role_replacement",
        "retire",
        "timed_out",
        "revise",
        "bowl_out",
        "set_score",
    }
    assert any(step.input.get("super_over") for match in matches for step in match.steps)


def test_they_name_their_source():
    assert "cricsheet.org" in (FOLDER / "README.md").read_text()
    for file in FILES:
        source = "made-up" if file.stem in MADE_UP else file.stem.split("-", 1)[0]
        assert file.stem.removeprefix(f"{source}-").replace("-", " ") in (
            read_golden(file).name.lower().replace("’", "")
        )
