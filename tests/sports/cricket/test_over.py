"""Overs: who may bowl, when they end, maidens, quotas."""

from typing import Any

import pytest

from tests.sports.cricket.play import Scorer

OVER = "0 0 0 0 0 0"


def test_no_bowler_bowls_two_overs_running_unless_the_umpire_lets_him() -> None:
    scorer = Scorer().innings("A").play(OVER)
    scorer.send("over")
    given: dict[str, Any] = {"striker": "A2", "non_striker": "A1", "bowler": "B1"}
    refusal = scorer.check("delivery", **given)
    assert refusal is not None
    assert (refusal.code, refusal.overridable, refusal.field) == ("overs_running", True, "bowler")
    assert scorer.check("bowler_change", bowler="B1") is not None
    scorer.ball("0", override=("overs_running",))
    scorer.play("0 0 0 0 0").send("over")
    assert scorer.line("bowling", "B1")["maidens"] == 2


def test_a_bowler_who_finished_an_over_may_not_have_bowled_the_last() -> None:
    scorer = Scorer().innings("A").play(OVER).play("/ 0 0")
    refusal = scorer.check("role_replacement", role="bowler", player_in="B1", reason="injury")
    assert refusal is not None
    assert refusal.code == "overs_running"


def test_fives_of_the_hundred_may_be_two_running_and_no_more() -> None:
    scorer = Scorer(balls_an_over=5, overs_an_end=2, overs_in_a_row=2, overs=20).innings("A")
    for _ in range(2):
        scorer.play("0 0 0 0 0").send("over")
    assert scorer.line("bowling", "B1")["overs"] == "2"
    refusal = scorer.check("delivery", striker="A2", non_striker="A1", bowler="B1")
    assert refusal is not None
    assert refusal.code == "overs_running"


def test_another_bowler_mid_over_without_a_change_is_a_warning() -> None:
    scorer = Scorer().innings("A").play("0 0")
    scorer.ball("0", bowler="B2")
    assert scorer.warnings == ["bowler_changed"]
    scorer.ball("0", bowler="B2")
    assert scorer.warnings == []


@pytest.mark.parametrize("code", ["bowler_change", "role_replacement"])
def test_a_change_of_bowler_is_no_warning(code: str) -> None:
    scorer = Scorer().innings("A").play("0 0")
    given: dict[str, Any] = (
        {"bowler": "B2"} if code == "bowler_change" else {"role": "bowler", "player_in": "B2"}
    )
    scorer.send(code, reason="excluded", **given)
    scorer.ball("0", bowler="B2")
    assert scorer.warnings == []
    assert scorer.show["bowler"]["key"] == "B2"


def test_a_further_ball_of_an_over_that_was_not_called_is_a_warning() -> None:
    scorer = Scorer().innings("A").play(OVER)
    scorer.ball("0")
    assert scorer.warnings == ["over_length"]
    assert scorer.side()["overs"] == "0.7"
    scorer.over()
    assert scorer.side()["overs"] == "1"


def test_a_quota_counts_overs_so_sixty_one_balls_may_be_bowled() -> None:
    scorer = Scorer(overs=50, bowler_overs=10).innings("A")
    for number in range(10):
        scorer.bowler = "B1"
        scorer.play(OVER + (" 0 /" if number == 0 else " /"))
        scorer.bowler = "B2"
        scorer.play(OVER + " /")
    assert scorer.line("bowling", "B1")["balls"] == 61
    assert scorer.line("bowling", "B1")["overs"] == "10"
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B1")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("bowler_quota", True)


def test_bowlers_overs_add_up_from_parts() -> None:
    scorer = Scorer().innings("A").play("0 0 0 0")
    scorer.send("bowler_change", bowler="B2")
    scorer.bowler = "B2"
    scorer.play("0 0").send("over")
    scorer.bowler = "B3"
    scorer.play(OVER).send("over")
    scorer.bowler = "B4"
    scorer.play("0 0 0").send("bowler_change", bowler="B1")
    scorer.bowler = "B1"
    scorer.play("0 0 0").send("over")
    assert scorer.line("bowling", "B1")["overs"] == "1.1"
    assert scorer.line("bowling", "B2")["overs"] == "0.2"


def test_an_over_without_a_ball_counts_with_a_warning() -> None:
    scorer = Scorer().innings("A").play(OVER + " /")
    scorer.send("over")
    assert scorer.warnings == ["over_empty", "over_length"]
    assert scorer.side()["overs"] == "2"
    assert ("bowling", "B2") not in scorer.changed


def test_an_over_of_wides_alone_is_no_maiden_and_one_of_byes_is() -> None:
    scorer = Scorer().innings("A").play("b4 b4 lb1 0 0 0 /")
    assert scorer.line("bowling", "B1")["maidens"] == 1
    scorer.play("N+0 0 0 0 0 0 0 /")
    assert scorer.line("bowling", "B2")["maidens"] == 0


def test_penalty_runs_do_not_break_a_maiden() -> None:
    scorer = Scorer().innings("A")
    scorer.ball("0", penalty=5)
    scorer.play("0 0 0 0 0 /")
    assert scorer.line("bowling", "B1")["maidens"] == 1
    assert "maiden" in scorer.last.emits


def test_a_wicket_on_the_sixth_ball_that_ends_the_innings_completes_the_over() -> None:
    scorer = Scorer(players=2, overs=20).innings("A").play("0 0 0 0 0 wkt")
    assert scorer.side()["closed"] == "all_out"
    assert scorer.side()["overs"] == "1"
    assert scorer.line("bowling", "B1")["maidens"] == 1
    scorer.send("over")
    assert scorer.warnings == ["over_counted"]
    assert scorer.side()["overs"] == "1"


def test_an_over_is_not_called_after_an_innings_that_ended_within_it() -> None:
    scorer = Scorer(players=2, overs=20).innings("A").play("0 0 wkt")
    assert scorer.side()["overs"] == "0.3"
    refusal = scorer.check("over")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("innings_closed", True)
    scorer.send("over", override=("innings_closed",))
    assert scorer.side()["overs"] == "1"


def test_there_is_no_over_without_an_innings() -> None:
    refusal = Scorer().check("over")
    assert refusal is not None
    assert refusal.code == "no_innings"
