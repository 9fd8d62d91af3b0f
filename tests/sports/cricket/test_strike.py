"""Who faces next, and warnings where the typed batters are others."""

import pytest

from tests.sports.cricket.play import Scorer, out


@pytest.mark.parametrize(
    ("word", "faces"),
    [
        *[("0", "A1"), ("1", "A2"), ("2", "A1"), ("3", "A2"), ("4", "A1"), ("5", "A2"), ("7", "A2")],
        *[("W", "A1"), ("W2", "A2"), ("W5", "A1"), ("N+0", "A1"), ("N+1", "A2")],
        *[("b1", "A2"), ("lb2", "A1")],
    ],
)
def test_odd_runs_change_the_striker(word: str, faces: str) -> None:
    scorer = Scorer().innings("A")
    scorer.ball(word)
    assert scorer.crease()[0] == faces


def test_runs_beyond_the_penalty_for_a_no_ball_count_for_the_strike() -> None:
    scorer = Scorer(no_ball_runs=2).innings("A")
    scorer.ball(no_balls=3)
    assert scorer.crease()[0] == "A2"


def test_ends_change_at_the_over() -> None:
    scorer = Scorer().innings("A").play("0 0 0 0 0 0 /")
    assert scorer.crease() == ("A2", "A1")
    scorer.play("1")
    assert scorer.warnings == []


def test_in_the_hundred_ends_change_every_ten_balls() -> None:
    scorer = Scorer(balls_an_over=5, overs_an_end=2, overs_in_a_row=2).innings("A")
    scorer.play("0 0 0 0 0").send("over")
    assert scorer.crease() == ("A1", "A2")
    scorer.play("0 0 0 0 0").send("over")
    assert scorer.crease() == ("A2", "A1")


@pytest.mark.parametrize(
    ("old_law", "crossed", "faces"),
    [(False, True, "A3"), (False, False, "A3"), (True, True, "A2"), (True, False, "A3")],
)
def test_a_catch_leaves_the_strike_to_the_new_batter_but_for_the_old_law(
    old_law: bool, crossed: bool, faces: str
) -> None:
    """Law 18.11 of 2022: the new batter faces; before, batters who had crossed stayed crossed."""
    scorer = Scorer(crossing_on_catch=old_law).innings("A")
    scorer.ball(wickets=[out("caught", "A1", "B4", crossed=crossed)])
    assert scorer.crease()[0] == faces


def test_a_wicket_on_the_last_ball_leaves_the_new_batter_at_his_end() -> None:
    scorer = Scorer().innings("A").play("0 0 0 0 0 wkt /")
    assert scorer.crease() == ("A2", "A3")


@pytest.mark.parametrize(
    ("runs", "who", "crossed", "faces"),
    [
        (0, "A1", False, "A3"),
        (0, "A1", True, "A2"),
        (0, "A2", False, "A1"),
        (0, "A2", True, "A3"),
        (1, "A1", False, "A2"),
        (1, "A2", False, "A3"),
        (1, "A1", True, "A3"),
        (2, "A2", True, "A3"),
    ],
)
def test_a_run_out_leaves_the_ends_by_completed_runs_and_crossing(
    runs: int, who: str, crossed: bool, faces: str
) -> None:
    scorer = Scorer().innings("A")
    scorer.ball(bat=runs, wickets=[out("run_out", who, crossed=crossed)])
    assert scorer.crease()[0] == faces


def test_the_wrong_striker_is_taken_as_typed_with_a_warning() -> None:
    scorer = Scorer().innings("A").play("1")
    scorer.ball("1", striker="A1", non_striker="A2")
    assert scorer.warnings == ["strike"]
    assert "A 2" in scorer.cautions[0].sentence
    assert scorer.line("batting", "A1")["runs"] == 2
    scorer.ball("0")
    assert scorer.warnings == []


def test_the_new_batter_was_to_face() -> None:
    scorer = Scorer().innings("A").play("wkt")
    scorer.ball("0", striker="A2", non_striker="A3")
    assert scorer.warnings == ["strike"]
    assert "the new batter" in scorer.cautions[0].sentence


def test_nobody_is_warned_when_it_was_not_said_whether_they_crossed() -> None:
    scorer = Scorer().innings("A")
    scorer.ball(wickets=[out("run_out", "A1")])
    scorer.ball("0", striker="A2", non_striker="A3")
    assert scorer.warnings == []


def test_another_batter_than_the_one_who_was_in_counts_as_a_change() -> None:
    scorer = Scorer().innings("A").play("0")
    scorer.ball("1", striker="A3", non_striker="A2")
    assert scorer.warnings == ["batter_left"]
    assert scorer.line("batting", "A1")["status"] == "retired not out"
    assert scorer.line("batting", "A3")["position"] == 3
    scorer.ball("0", striker="A1", non_striker="A3")
    assert scorer.line("batting", "A1")["status"] == "batting"
    assert scorer.line("batting", "A1")["balls"] == 2


def test_a_non_striker_who_was_not_typed_is_kept() -> None:
    scorer = Scorer().innings("A").play("0")
    scorer.ball("1", non_striker=None)
    assert scorer.warnings == ["non_striker"]
    assert scorer.crease() == ("A2", "A1")


def test_a_non_striker_who_was_not_typed_is_kept_when_the_strike_was_wrong() -> None:
    scorer = Scorer().innings("A").play("0")
    scorer.ball("1", striker="A2", non_striker=None)
    assert scorer.warnings == ["non_striker", "strike"]
    assert scorer.line("batting", "A1")["status"] == "batting"
    assert scorer.crease() == ("A1", "A2")


def test_a_side_may_bat_on_with_one_batter() -> None:
    scorer = Scorer(players=2).innings("A").play("0")
    scorer.ball(wickets=[out("run_out", "A2", crossed=False)])
    assert scorer.side()["closed"] == "all_out"
    for word in ("1", "2"):
        scorer.ball(word, striker="A1", non_striker=None, override=("innings_closed",))
    assert scorer.warnings == []
    assert scorer.line("batting", "A1")["runs"] == 3
