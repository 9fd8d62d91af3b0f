"""The score set by hand after a mishap: play goes on from it, and every sum can be explained."""

from typing import Any

import pytest

from scorebox_cricket import SPORT
from tests.sports.cricket.play import Scorer

OVER = "0 0 0 0 0 0 /"
WHY: dict[str, Any] = {"reason": "the tablet was lost"}


def test_play_goes_on_from_the_score_that_was_set() -> None:
    scorer = Scorer(overs=50).innings("A").play("4 1 2")
    scorer.send("set_score", runs=112, wickets=3, overs="23.4", **WHY)
    side = scorer.side()
    assert (side["runs"], side["wickets"], side["balls"], side["overs"]) == (112, 3, 142, "23.4")
    assert (side["unaccounted"], side["set"]) == (105, 1)
    assert set(scorer.last.emits) == {"score_set"}
    assert {(line.role, line.subject) for line in scorer.last.lines} == {("side", "A")}
    assert scorer.scores[0] == "112/3"
    assert scorer.show["balls_left"] == 300 - 142
    scorer.ball("4", striker="A5", non_striker="A6")
    assert (scorer.side()["runs"], scorer.side()["overs"]) == (116, "23.5")
    assert scorer.side()["unaccounted"] == 105
    assert scorer.line("batting", "A5")["runs"] == 4


def test_warnings_say_what_is_not_explained() -> None:
    scorer = Scorer(overs=50).innings("A").play("4")
    scorer.send("set_score", runs=9, wickets=0, overs="1", **WHY)
    assert scorer.warnings == ["unaccounted", "who_is_in"]
    assert "5 runs" in scorer.cautions[0].sentence
    scorer.send("set_score", runs=4, wickets=0, overs="1", **WHY)
    assert scorer.warnings == ["who_is_in"]
    assert (scorer.side()["unaccounted"], scorer.side()["set"]) == (0, 2)


def test_a_score_below_what_was_counted_leaves_a_minus() -> None:
    scorer = Scorer(overs=50).innings("A").play("4 6 wkt")
    scorer.send("set_score", runs=4, wickets=0, overs="0.3", **WHY)
    assert (scorer.side()["runs"], scorer.side()["unaccounted"], scorer.side()["wickets"]) == (4, -6, 0)


def test_who_is_in_is_unknown_until_typed() -> None:
    scorer = Scorer(overs=50).innings("A").play("1 4")
    scorer.send("set_score", runs=30, wickets=1, overs="4.1", **WHY)
    assert [scorer.show[who] for who in ("striker", "non_striker", "bowler")] == [None] * 3
    assert scorer.line("batting", "A1")["status"] == "batting"
    scorer.ball("0", striker="A1", non_striker="A4", bowler="B7")
    # A2 was in when the score was lost; nothing says how he left.
    assert scorer.warnings == ["batter_left"]
    show = scorer.show
    assert (show["striker"]["key"], show["bowler"]["key"]) == ("A1", "B7")


def test_an_over_that_was_set_in_its_middle_is_nobodys_maiden() -> None:
    scorer = Scorer(overs=50).innings("A").play("0 0")
    scorer.send("set_score", runs=0, wickets=0, overs="3.4", **WHY)
    scorer.bowler = "B5"
    scorer.play("0 0 /")
    assert (scorer.line("bowling", "B5")["overs"], scorer.line("bowling", "B5")["maidens"]) == ("0.2", 0)
    assert scorer.side()["overs"] == "4"
    scorer.bowler = "B6"
    scorer.play(OVER)
    assert (scorer.line("bowling", "B6")["overs"], scorer.line("bowling", "B6")["maidens"]) == ("1", 1)


def test_an_over_from_its_first_ball_is_whole() -> None:
    scorer = Scorer(overs=50).innings("A").play("0 0")
    scorer.send("set_score", runs=9, wickets=0, overs="4", **WHY)
    scorer.bowler = "B5"
    scorer.play(OVER)
    assert (scorer.line("bowling", "B5")["overs"], scorer.line("bowling", "B5")["maidens"]) == ("1", 1)


def test_only_the_runs_are_mended_and_the_over_goes_on() -> None:
    scorer = Scorer(overs=50).innings("A").play("0 1 0")
    scorer.send("set_score", runs=2, wickets=0, overs="0.3", **WHY)
    scorer.play("0 0 0 /")
    assert scorer.line("bowling", "B1")["overs"] == "1"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"runs": 7, "wickets": 0, "overs": "0.4"}, "target"),
        ({"runs": 3, "wickets": 10, "overs": "0.4"}, "all_out"),
        ({"runs": 3, "wickets": 2, "overs": "1"}, "overs"),
    ],
)
def test_figures_that_end_the_innings_end_it(given: dict[str, Any], reason: str) -> None:
    scorer = Scorer(overs=1).innings("A").play("1 1 1 1 1 1 /").innings("B").play("1")
    scorer.send("set_score", **given, **WHY)
    assert scorer.side("B", "innings-2")["closed"] == reason
    assert scorer.result is not None


def test_an_earlier_innings_is_set_by_its_number_and_the_chase_follows() -> None:
    scorer = Scorer(overs=1).innings("A").play("1 1 1 1 1 1 /").innings("B").play("1")
    scorer.send("set_score", innings=1, runs=9, wickets=2, overs="1", **WHY)
    assert scorer.warnings == ["unaccounted", "closed_stays"]
    assert scorer.side("B", "innings-2")["target"] == scorer.show["target"] == 10
    assert scorer.show["striker"] is not None
    assert scorer.scores == ["9/2", "1/0"]


def test_a_chase_that_was_won_goes_on_when_it_was_not() -> None:
    scorer = Scorer(overs=2).innings("A").play("1 0 0 0 0 0 / 0 0 0 0 0 0 /").innings("B").play("2")
    assert scorer.result is not None
    scorer.send("set_score", runs=1, wickets=0, overs="0.1", **WHY)
    assert scorer.result is None
    assert "match_reopened" in scorer.last.emits


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"overs": "3.6"}, "overs", "overs"),
        ({"overs": "3.05"}, "overs", "overs"),
        ({"wickets": 11}, "wickets", "wickets"),
        ({"innings": 2}, "no_such_innings", "innings"),
    ],
)
def test_what_cannot_be_is_refused_with_its_field(given: dict[str, Any], code: str, field: str) -> None:
    scorer = Scorer(overs=50).innings("A")
    typed: dict[str, Any] = {"runs": 1, "wickets": 0, "overs": "1"} | given | WHY
    refusal = scorer.check("set_score", **typed)
    assert refusal is not None
    assert (refusal.code, refusal.field, refusal.overridable) == (code, field, False)


def test_there_is_nothing_to_set_before_the_first_innings() -> None:
    refusal = Scorer().check("set_score", runs=1, wickets=0, overs="0", **WHY)
    assert refusal is not None
    assert refusal.code == "no_innings"


def test_a_side_that_was_never_set_has_no_such_figures() -> None:
    assert not {"set", "unaccounted"} & set(Scorer().innings("A").play("4").side())
    assert {"set", "unaccounted"} <= set(SPORT.keys["side"])
