"""Targets and limits that are revised, and overs as they are written."""

from typing import Any

import pytest

from scorebox_cricket.target import overs_text, parse_overs
from tests.sports.cricket.play import Scorer


@pytest.mark.parametrize(
    ("text", "balls_an_over", "overs"),
    [("48.5", 6, [48, 5]), ("20", 6, [20, 0]), ("7.3", 6, [7, 3]), ("3.6", 6, None), ("3.5", 5, None)],
)
def test_overs_as_written(text: str, balls_an_over: int, overs: list[int] | None) -> None:
    assert parse_overs(text, balls_an_over) == overs
    if overs is not None:
        assert overs_text(*overs) == text


def test_fractional_overs_end_an_innings_in_the_middle_of_one() -> None:
    scorer = Scorer(overs=3).innings("A").play("0 0 0 0 0 0 / 0 0")
    scorer.send("revise", overs="1.5", reason="rain")
    scorer.play("0 0")
    assert scorer.side()["closed"] is None
    scorer.ball("0")
    assert (scorer.side()["closed"], scorer.side()["overs"]) == ("overs", "1.5")


def test_a_reduction_of_the_first_innings_holds_for_the_second() -> None:
    scorer = Scorer(overs=3).innings("A").play("1 1 1 1 1 1 /")
    scorer.send("revise", overs="2")
    scorer.play("1 1 1 1 1 1 /")
    assert scorer.side()["closed"] == "overs"
    scorer.innings("B")
    assert scorer.show["overs_limit"] == "2"
    assert scorer.show["balls_left"] == 12


def test_a_limit_that_is_past_already_ends_the_innings_at_once() -> None:
    scorer = Scorer(overs=3).innings("A").play("0 0 0 0 0 0 / 0 0")
    scorer.send("revise", overs="1")
    assert scorer.side()["closed"] == "overs"


def test_a_target_is_revised_several_times_and_mid_over() -> None:
    scorer = Scorer(overs=2).innings("A").play("4 4 4 4 4 4 / 0 0 0 0 0 0 /").innings("B").play("1")
    scorer.send("revise", target=20, overs="1.4", method="DLS")
    scorer.play("1")
    assert scorer.show["target"] == 20
    scorer.send("revise", target=5, overs="1.1")
    scorer.play("1")
    assert scorer.phase == "play"
    scorer.ball("2")
    assert scorer.text == "Beta won by 10 wickets (DLS method)"


def test_the_side_batting_first_wins_against_the_revised_target() -> None:
    scorer = Scorer(overs=2).innings("A").play("4 4 4 4 4 4 / 0 0 0 0 0 0 /").innings("B")
    scorer.play("1 1 1 1")
    scorer.send("revise", target=10, overs="0.4", method="D/L")
    assert scorer.text == "Alpha won by 5 runs (D/L method)"
    assert scorer.result is not None
    assert scorer.result.margin == {"runs": 5}


def test_one_short_of_the_revised_target_is_a_tie() -> None:
    scorer = Scorer(overs=2).innings("A").play("4 4 4 4 4 4 / 0 0 0 0 0 0 /").innings("B")
    scorer.play("1 1 1 1").send("revise", target=5, overs="0.4", method="D/L")
    assert scorer.text == "Match tied (D/L method)"


def test_a_target_that_was_reached_and_goes_up_reopens_the_chase() -> None:
    scorer = Scorer(overs=2).innings("A").play("1 1 1 1 1 1 / 0 0 0 0 0 0 /").innings("B").play("6 1")
    assert scorer.phase == "over"
    scorer.send("revise", target=12, method="DLS")
    assert scorer.warnings == ["innings_reopened"]
    assert "match_reopened" in scorer.last.emits
    assert scorer.phase == "play"
    scorer.play("4 1")
    assert scorer.text == "Beta won by 10 wickets (DLS method)"


def test_a_bowlers_overs_are_revised() -> None:
    scorer = Scorer(overs=20, bowler_overs=4).innings("A").play("0 0 0 0 0 0 / 0 0 0 0 0 0 /")
    scorer.send("revise", bowler_overs=1)
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B1")
    assert refusal is not None
    assert refusal.code == "bowler_quota"


@pytest.mark.parametrize(
    ("given", "code"), [({}, "nothing_revised"), ({"overs": "3.6"}, "overs"), ({"overs": "3.9"}, "overs")]
)
def test_a_revision_of_nothing_and_odd_overs_are_refused(given: dict[str, Any], code: str) -> None:
    refusal = Scorer(overs=20).innings("A").check("revise", **given)
    assert refusal is not None
    assert refusal.code == code
