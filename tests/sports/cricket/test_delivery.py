"""What one ball adds to whom."""

from typing import Any

import pytest

from tests.sports.cricket.play import Scorer, out


@pytest.fixture
def scorer() -> Scorer:
    return Scorer(overs=20).innings("A")


BALLS: list[tuple[dict[str, Any], int, tuple[int, int], tuple[int, int]]] = [
    ({}, 0, (0, 1), (0, 1)),
    ({"bat": 5}, 5, (5, 1), (5, 1)),
    ({"bat": 7}, 7, (7, 1), (7, 1)),
    ({"wides": 1}, 1, (0, 0), (1, 0)),
    ({"wides": 5}, 5, (0, 0), (5, 0)),
    ({"no_balls": 1}, 1, (0, 1), (1, 0)),
    ({"no_balls": 1, "bat": 4}, 5, (4, 1), (5, 0)),
    ({"no_balls": 1, "byes": 2}, 3, (0, 1), (1, 0)),
    ({"no_balls": 1, "leg_byes": 4}, 5, (0, 1), (1, 0)),
    ({"no_balls": 5}, 5, (0, 1), (5, 0)),
    ({"byes": 4}, 4, (0, 1), (0, 1)),
    ({"leg_byes": 1}, 1, (0, 1), (0, 1)),
    ({"bat": 2, "penalty": 5}, 7, (2, 1), (2, 1)),
    ({"wides": 2, "penalty": 5}, 7, (0, 0), (2, 0)),
    ({"leg_byes": 2, "penalty": 5}, 7, (0, 1), (0, 1)),
    ({"dead": True, "penalty": 5}, 5, (0, 0), (0, 0)),
    ({"dead": True, "no_balls": 1}, 1, (0, 0), (1, 0)),
]


@pytest.mark.parametrize(("given", "total", "batter", "bowler"), BALLS)
def test_runs_and_balls_go_to_side_batter_and_bowler(
    scorer: Scorer, given: dict[str, Any], total: int, batter: tuple[int, int], bowler: tuple[int, int]
) -> None:
    scorer.ball(**({"bat": 0} | given))
    side, batting, bowling = scorer.side(), scorer.line("batting", "A1"), scorer.line("bowling", "B1")
    assert side["runs"] == total
    assert (batting["runs"], batting["balls"]) == batter
    assert (bowling["runs"], bowling["balls"]) == bowler
    assert side["balls"] == bowling["balls"]
    for extra in ("wides", "no_balls", "byes", "leg_byes", "penalty"):
        assert side[extra] == given.get(extra, 0)


@pytest.mark.parametrize(
    ("given", "code", "overridable"),
    [
        ({"wides": 1, "bat": 1}, "runs_off_a_wide", True),
        ({"wides": 1, "byes": 1}, "runs_off_a_wide", True),
        ({"wides": 1, "no_balls": 1}, "wide_and_no_ball", True),
        ({"dead": True, "bat": 1}, "dead_ball", False),
        ({"bat": 1, "leg_byes": 1}, "runs_mixed", True),
        ({"byes": 1, "leg_byes": 1}, "runs_mixed", True),
        ({"striker": "A2", "non_striker": "A2"}, "same_batter", False),
        ({"striker": "A99"}, "unknown_player", False),
        ({"striker": "B1"}, "wrong_side", False),
        ({"non_striker": "B1"}, "wrong_side", False),
        ({"bowler": "A3"}, "wrong_side", False),
        ({"bowler": "Z"}, "unknown_player", False),
    ],
)
def test_only_the_impossible_is_refused_for_good(
    scorer: Scorer, given: dict[str, Any], code: str, overridable: bool
) -> None:
    fields = {"striker": "A1", "non_striker": "A2", "bowler": "B1"} | given
    refusal = scorer.check("delivery", **fields)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == (code, overridable)
    assert refusal.sentence.endswith(".")
    assert refusal.field is not None


def test_a_refusal_that_is_overridden_lets_the_ball_count(scorer: Scorer) -> None:
    scorer.ball(bat=1, leg_byes=1, override=("runs_mixed",))
    assert scorer.side()["runs"] == 2


def test_no_ball_before_an_innings() -> None:
    refusal = Scorer().check("delivery", striker="A1", non_striker="A2", bowler="B1")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("no_innings", False)


def test_boundaries_that_were_run_are_no_fours_or_sixes(scorer: Scorer) -> None:
    scorer.ball("4", all_run=True)
    scorer.ball("6", all_run=True)
    assert not scorer.last.emits
    scorer.play("4 6")
    batting, bowling = scorer.line("batting", "A1"), scorer.line("bowling", "B1")
    assert (batting["fours"], batting["sixes"]) == (bowling["fours"], bowling["sixes"]) == (1, 1)
    assert scorer.last.emits == ("six",)


def test_dots_are_what_a_batter_does_not_score_and_a_bowler_does_not_concede(scorer: Scorer) -> None:
    scorer.play("0 lb2 W N+0 0")
    assert scorer.line("batting", "A1")["dots"] == 4
    assert scorer.line("bowling", "B1")["dots"] == 3


def test_fifty_and_hundred_are_said_once(scorer: Scorer) -> None:
    words: list[str] = []
    for _ in range(17):
        words += scorer.ball("6").emits
        if scorer.state["innings"][-1]["part"] == 6:
            scorer.over()
            scorer.ball("1")
    assert words.count("fifty") == words.count("hundred") == 1


def test_a_no_ball_is_worth_what_the_format_says() -> None:
    scorer = Scorer(no_ball_runs=2, wide_runs=2).innings("A")
    scorer.ball(no_balls=1)
    assert scorer.warnings == ["no_ball_runs"]
    scorer.ball(no_balls=2)
    assert scorer.warnings == []
    scorer.ball(wides=1)
    assert scorer.warnings == ["wide_runs"]
    assert scorer.side()["runs"] == 4


def test_penalty_runs_for_the_fielding_side_go_to_its_latest_innings() -> None:
    scorer = Scorer(overs=1).innings("A").play("1 1 1 1 1 1 /").innings("B")
    scorer.ball("0", penalty_fielding=5)
    assert scorer.side("A")["runs"] == 11
    assert scorer.side("B", "innings-2")["target"] == 12
    assert scorer.line("bowling", "A1", "innings-2")["runs"] == 0


def test_only_changed_lines_come_out(scorer: Scorer) -> None:
    scorer.play("1")
    scorer.ball("2")
    assert set(scorer.changed) == {
        ("batting", "A2"),
        ("bowling", "B1"),
        ("side", "A"),
        ("partnership-1", "A"),
    }


def test_the_over_so_far_is_shown_as_a_board_does(scorer: Scorer) -> None:
    scorer.play("0 1 W W3 N+0 N+2 b1 lb4")
    scorer.ball("0", wickets=[out("bowled", scorer.crease()[0])])
    scorer.ball("1", wickets=[out("run_out", "A2")], penalty=5)
    assert scorer.show["over"]["balls"] == ["0", "1", "wd", "3wd", "nb", "3nb", "1b", "4lb", "W", "1W+5p"]


def test_an_endless_over_does_not_grow_the_state(scorer: Scorer) -> None:
    scorer.play("W " * 60)
    assert len(scorer.state["play"]["over"]["texts"]) == 20
    assert scorer.side()["runs"] == 60
