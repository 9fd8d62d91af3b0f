"""Real files: they are read whole, and add up to the scores written beside them."""

import re
from pathlib import Path

import pytest

from sports.readers.cricsheet import read_cricsheet
from sports.readers.cricsheet_tally import tally
from tests.sports.readers.shared_files import cricket_parameters, shared_folder

INNINGS = re.compile(r"(?:^|; )([^;(]*?) (\d+)/(\d+)d? \(([\d.]+|-)\)")


@pytest.mark.parametrize("file", cricket_parameters())
def test_a_file_adds_up_to_the_scores_written_beside_it(file: Path):
    about = (shared_folder() / "data" / "cricket" / "README.md").read_text().split(f"### {file.name}\n")
    if len(about) < 2:
        pytest.skip("no scores are written for this file")
    line = next(line for line in about[1].splitlines() if line.startswith("Innings: "))
    expected = [
        (team, int(runs), int(wickets), "0" if overs == "-" else overs)
        for team, runs, wickets, overs in INNINGS.findall(line.removeprefix("Innings: "))
    ]
    added = tally(read_cricsheet(file).plain)
    assert [(one.team, one.runs, one.wickets, one.overs) for one in added.innings] == expected


@pytest.mark.parametrize("file", cricket_parameters())
def test_every_delivery_of_a_file_becomes_a_command(file: Path):
    match = read_cricsheet(file)
    in_file = sum(
        len(over["deliveries"]) for innings in match.plain["innings"] for over in innings.get("overs", ())
    )
    assert match.deliveries == in_file
    assert match.id == file.stem
