"""Innings begin and end: by word, or by themselves when the figures tell."""

import pytest

from tests.sports.cricket.play import Scorer

ONE_OVER = "1 1 1 1 1 1 /"


def test_an_innings_ends_at_the_over_that_completes_its_limit() -> None:
    scorer = Scorer(overs=2).innings("A").play(ONE_OVER + " 1 1 1 1 1 1")
    assert scorer.side()["closed"] is None
    scorer.over()
    assert scorer.side()["closed"] == "overs"
    assert scorer.last.emits == ("over", "innings_end")
    assert scorer.line("batting", "A1")["status"] == "not out"
    assert scorer.phase == "interval"


def test_all_out_is_one_wicket_fewer_than_players() -> None:
    scorer = Scorer(players=12).innings("A").play("wkt " * 10)
    assert scorer.side()["closed"] is None
    scorer.ball("wkt")
    assert scorer.side()["closed"] == "all_out"


def test_a_chase_ends_with_the_winning_run_and_counts_all_of_a_boundary() -> None:
    scorer = Scorer(overs=1).innings("A").play(ONE_OVER).innings("B").play("4")
    assert scorer.side("B", "innings-2")["target"] == 7
    assert scorer.show["needed"] == 3
    scorer.ball("6")
    assert scorer.side("B", "innings-2")["closed"] == "target"
    assert scorer.scores == ["6/0", "10/0"]
    assert scorer.last.emits == ("six", "innings_end", "match_end")


def test_a_ball_after_the_end_is_refused_and_reopens_on_the_umpires_word() -> None:
    scorer = Scorer(overs=1).innings("A").play(ONE_OVER)
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B2")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("innings_closed", True)
    scorer.ball("4", override=("innings_closed",))
    assert scorer.side()["closed"] is None
    assert scorer.line("batting", "A1")["status"] == "batting"
    scorer.play("0 0 0 0 0 /")
    assert scorer.side()["closed"] is None, "the limit was passed over, so the umpires end it"
    scorer.send("innings_end", reason="overs")
    assert scorer.side()["runs"] == 10


def test_reopening_a_won_chase_takes_the_result_back() -> None:
    scorer = Scorer(overs=1).innings("A").play("0 0 0 0 0 0 /").innings("B").play("1")
    assert scorer.phase == "over"
    scorer.ball("1", override=("innings_closed",))
    assert scorer.side("B", "innings-2")["runs"] == 2


@pytest.mark.parametrize("reason", ["declared", "all_out", "time", "conceded", "closed", "overs"])
def test_an_innings_ends_by_word(reason: str) -> None:
    scorer = Scorer(innings_a_side=2).innings("A").play("4 wkt")
    scorer.send("innings_end", reason=reason)
    assert scorer.side()["closed"] == reason
    assert "innings_end" in scorer.last.emits
    scorer.innings("B")
    assert scorer.phase == "play"


def test_scores_show_declarations_and_forfeits() -> None:
    scorer = Scorer(innings_a_side=2).innings("A").play("4 wkt")
    scorer.send("innings_end", reason="declared")
    scorer.innings("B").play("6")
    scorer.send("innings_end", reason="declared")
    scorer.send("innings_end", reason="forfeited", batting="A")
    assert scorer.scores == ["4/1d & forfeited", "6/0d"]
    assert scorer.text == "Beta won by an innings and 2 runs"


def test_an_ended_innings_is_not_ended_again_by_accident() -> None:
    scorer = Scorer(overs=1).innings("A").play(ONE_OVER)
    refusal = scorer.check("innings_end", reason="closed")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("innings_closed", True)
    scorer.send("innings_end", reason="closed", override=("innings_closed",))
    assert scorer.side()["closed"] == "closed"


def test_a_forfeited_innings_needs_a_side() -> None:
    scorer = Scorer(innings_a_side=2)
    refusal = scorer.check("innings_end", reason="forfeited")
    assert refusal is not None
    assert refusal.field == "batting"
    scorer.send("innings_end", reason="forfeited", batting="A")
    assert scorer.scores == ["forfeited", ""]


def test_an_innings_is_refused_while_one_is_open_and_when_none_is_left() -> None:
    scorer = Scorer(overs=1).innings("A")
    refusal = scorer.check("innings", batting="B")
    assert refusal is not None
    assert refusal.code == "innings_open"
    scorer.play(ONE_OVER)
    refusal = scorer.check("innings", batting="A")
    assert refusal is not None
    assert refusal.code == "no_innings_left"
    refusal = scorer.check("innings", batting="C")
    assert refusal is not None
    assert refusal.code == "unknown_side"


def test_the_toss_and_the_order_of_innings_only_warn() -> None:
    scorer = Scorer(innings_a_side=2)
    scorer.send("toss", winner="A", decision="field")
    scorer.innings("A")
    assert scorer.warnings == ["toss_order"]
    scorer.send("innings_end", reason="declared")
    scorer.innings("A")
    assert scorer.warnings == ["innings_order"]


@pytest.mark.parametrize(("runs", "refused"), [("0", False), ("6", True)])
def test_a_follow_on_needs_its_lead(runs: str, refused: bool) -> None:
    scorer = Scorer(innings_a_side=2, follow_on_lead=8).innings("A").play("4 4")
    scorer.send("innings_end", reason="declared")
    scorer.innings("B").play(runs)
    scorer.send("innings_end", reason="declared")
    refusal = scorer.check("innings", batting="B", follow_on=True)
    assert (refusal is not None) == refused
    if refusal is not None:
        assert (refusal.code, refusal.overridable) == ("follow_on", True)


def test_after_a_follow_on_the_target_counts_both_innings() -> None:
    scorer = Scorer(innings_a_side=2, follow_on_lead=6).innings("A").play("6 4")
    scorer.send("innings_end", reason="declared")
    scorer.innings("B").play("1").send("innings_end", reason="declared")
    scorer.innings("B", follow_on=True, bowler="A3").play("6 6").send("innings_end", reason="all_out")
    scorer.innings("A")
    assert scorer.show["target"] == 4
    scorer.play("4")
    assert scorer.text == "Alpha won by 10 wickets"


def test_an_interval_stops_play_until_it_goes_on() -> None:
    scorer = Scorer().innings("A").play("0")
    scorer.send("interval", kind="rain")
    assert (scorer.phase, scorer.show["interval"]) == ("interval", "rain")
    scorer.send("interval", kind="rain", resumed=True)
    assert scorer.phase == "play"
    scorer.send("interval", kind="tea")
    scorer.play("0")
    assert scorer.phase == "play"
