"""Penalty runs: on a ball, before or after an innings, given late, taken back."""

import pytest

from tests.sports.cricket.play import Scorer

SIX = "1 1 1 1 1 1 /"


def test_they_go_to_the_innings_in_progress() -> None:
    scorer = Scorer().innings("A").play("1")
    scorer.send("penalty", side="A", runs=5)
    assert (scorer.side()["runs"], scorer.side()["penalty"]) == (6, 5)
    assert scorer.line("bowling", "B1")["runs"] == 1
    assert scorer.line("partnership-1", "A")["runs"] == 6


def test_they_wait_for_the_next_innings_of_a_side_that_has_not_batted() -> None:
    scorer = Scorer(overs=1)
    scorer.send("penalty", side="A", runs=10, reason="pitch")
    scorer.innings("A")
    assert scorer.side()["runs"] == 10
    assert scorer.state["pending"] == [0, 0]


def test_given_late_they_change_the_target_of_the_chase() -> None:
    scorer = Scorer(overs=1).innings("A").play(SIX).innings("B").play("1")
    scorer.send("penalty", side="A", runs=5)
    assert scorer.side("A")["runs"] == 11
    assert scorer.side("B", "innings-2")["target"] == 12
    assert ("side", "B") in scorer.changed


def test_given_after_the_win_they_reopen_the_chase() -> None:
    scorer = Scorer(overs=1).innings("A").play(SIX).innings("B").play("6 1")
    assert scorer.text == "Beta won by 10 wickets"
    scorer.send("penalty", side="A", runs=5)
    assert scorer.warnings == ["innings_reopened"]
    assert scorer.result is None
    scorer.play("6")
    assert scorer.text == "Beta won by 10 wickets"


def test_a_chase_that_ended_short_is_won_by_penalty_runs() -> None:
    """Law 16.7."""
    scorer = Scorer(overs=1).innings("A").play(SIX).innings("B").play("1 1 1 1 0 0 /")
    assert scorer.text == "Alpha won by 2 runs"
    scorer.send("penalty", side="B", runs=5)
    assert scorer.text == "Beta won by penalty runs"
    assert "result_changed" in scorer.last.emits


def test_to_a_closed_innings_by_its_number() -> None:
    scorer = Scorer(innings_a_side=2).innings("A").play("4")
    scorer.send("innings_end", reason="declared")
    scorer.innings("B").play("4").send("innings_end", reason="declared")
    scorer.innings("A")
    scorer.send("penalty", side="A", runs=5, innings=1)
    assert scorer.scores[0] == "9/0d & 0/0"
    refusal = scorer.check("penalty", side="A", runs=5, innings=2)
    assert refusal is not None
    assert refusal.code == "wrong_side"
    refusal = scorer.check("penalty", side="A", runs=5, innings=4)
    assert refusal is not None
    assert refusal.code == "no_such_innings"


def test_no_more_is_taken_back_than_was_given() -> None:
    scorer = Scorer().innings("A")
    scorer.send("penalty", side="A", runs=5)
    scorer.send("penalty", side="A", runs=-5)
    assert scorer.side()["runs"] == 0
    refusal = scorer.check("penalty", side="A", runs=-1)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("penalty_taken_back", False)


def test_a_revised_target_stays_and_the_scorer_is_told() -> None:
    scorer = Scorer(overs=1).innings("A").play(SIX).innings("B").play("1")
    scorer.send("revise", target=5, method="DLS")
    scorer.send("penalty", side="A", runs=5)
    assert scorer.warnings == ["target_given"]
    assert scorer.show["target"] == 5


@pytest.mark.parametrize("side", ["A", "B"])
def test_in_a_super_over_they_stay_within_it(side: str) -> None:
    scorer = Scorer(overs=1, super_over={}).innings("A").play(SIX).innings("B").play(SIX)
    scorer.innings("B", super_over=True, bowler="A3")
    scorer.send("penalty", side=side, runs=5)
    assert scorer.scores == ["6/0", "6/0"]
    scorer.play("0 0 0 0 0 0 /").innings("A", super_over=True, bowler="B3")
    assert scorer.side("A", "super-over-2")["runs"] == (5 if side == "A" else 0)
    assert scorer.side("B", "super-over-1")["runs"] == (5 if side == "B" else 0)
