"""Faults that were found in these rules, each named after what went wrong."""

from typing import Any

import msgspec
import pytest

from scorebox_contract import Event
from scorebox_cricket import SPORT
from scorebox_cricket.commands import Innings
from tests.sports.cricket.play import Scorer, out

DOTS = "0 0 0 0 0 0 /"
SIX = "6 0 0 0 0 0 /"


def _two_innings(first: str, second: str, **playing: Any) -> Scorer:
    return Scorer(overs=1, **playing).innings("A").play(first).innings("B").play(second)


def test_a_last_batter_who_batted_on_was_never_ended_by_the_overs() -> None:
    scorer = Scorer(players=2, overs=1).innings("A").play("wkt")
    scorer.ball("1", striker="A2", non_striker=None, override=("innings_closed",))
    assert scorer.side()["closed"] is None
    for _ in range(4):
        scorer.ball("0", striker="A2", non_striker=None)
    scorer.over()
    assert scorer.side()["closed"] == "overs"


def test_a_chase_won_off_the_last_ball_of_its_overs_went_on_when_the_target_rose() -> None:
    scorer = _two_innings("1 1 1 1 1 1 /", "1 1 1 1 1 2")
    assert scorer.text == "Beta won by 10 wickets"
    scorer.send("penalty", side="A", runs=5)
    assert scorer.warnings == ["target_missed"]
    assert scorer.side("B", "innings-2")["closed"] == "overs"
    assert scorer.text == "Alpha won by 4 runs"
    assert "result_changed" in scorer.last.emits


def test_penalty_runs_taken_back_made_a_later_partnership_negative() -> None:
    scorer = Scorer().innings("A").play("1")
    scorer.send("penalty", side="A", runs=5)
    scorer.play("wkt 1").send("penalty", side="A", runs=-5)
    assert scorer.side()["runs"] == 2
    assert scorer.line("partnership-2", "A")["runs"] == 1


def test_a_late_penalty_against_a_given_result_went_without_a_word() -> None:
    scorer = _two_innings(SIX, "5 0 0 0 0 0 /")
    scorer.send("result", kind="won", winner="A")
    assert scorer.warnings == []
    scorer.send("penalty", side="B", runs=5)
    assert scorer.warnings == ["result_contradicts"]
    assert "Beta won by penalty runs" in scorer.cautions[0].sentence
    assert scorer.text == "Alpha won by 1 run"


def test_an_innings_was_ended_when_the_other_side_forfeited() -> None:
    scorer = Scorer(innings_a_side=2).innings("A").play("1")
    refusal = scorer.check("innings_end", reason="forfeited", batting="B")
    assert refusal is not None
    assert (refusal.code, refusal.field) == ("wrong_side", "batting")
    assert "Alpha" in refusal.sentence
    scorer.send("innings_end", reason="declared", batting="A")


def test_a_super_over_followed_on() -> None:
    scorer = _two_innings(DOTS, DOTS, super_over={})
    refusal = scorer.check("innings", batting="B", super_over=True, follow_on=True, override=("follow_on",))
    assert refusal is not None
    assert (refusal.code, refusal.field, refusal.overridable) == ("follow_on", "follow_on", False)


def test_a_super_over_before_the_match_broke_the_rules() -> None:
    event = Event(
        "cricket.innings", Innings(batting="A", super_over=True), frozenset({"not_tied", "no_super_over"})
    )
    refusal = SPORT.check(Scorer().state, event)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("not_tied", False)


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "draw", "runs": 3},
        {"kind": "tie", "wickets": 3},
        {"kind": "no_result", "innings": 1},
        {"kind": "won", "winner": "A", "runs": 3, "wickets": 2},
        {"kind": "won", "winner": "A", "innings": 1, "wickets": 2},
    ],
)
def test_a_margin_that_no_match_has_was_taken(given: dict[str, Any]) -> None:
    refusal = Scorer().check("result", **given)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("margin", False)


def test_a_side_won_by_no_runs() -> None:
    refusal = Scorer().check("result", kind="won", winner="A", runs=0)
    assert refusal is not None
    assert (refusal.code, refusal.field, refusal.overridable) == ("no_margin", "runs", True)


def test_a_side_was_all_out_without_its_concussion_substitute() -> None:
    scorer = Scorer().innings("A").play("1 1")
    scorer.send("absent", batter="A11")
    scorer.send("replacement", side="A", player_in="A12", player_out="A11", reason="concussion_substitute")
    scorer.play("wkt " * 9)
    assert scorer.side()["closed"] is None
    scorer.ball("wkt", striker="A12")
    assert scorer.side()["closed"] == "all_out"


def test_a_bowler_whom_the_umpire_let_change_was_refused_on_his_first_ball() -> None:
    scorer = Scorer().innings("A").play(DOTS)
    scorer.send("bowler_change", bowler="B1", override=("overs_running",))
    scorer.ball("0", bowler="B1")
    assert scorer.warnings == []


def test_an_innings_ended_by_a_target_that_was_not_reached() -> None:
    scorer = _two_innings(SIX, "1")
    refusal = scorer.check("innings_end", reason="target")
    assert refusal is not None
    assert (refusal.code, refusal.field) == ("target_not_reached", "reason")


def test_a_target_that_was_not_reached_ended_the_innings_when_it_was_insisted_on() -> None:
    scorer = _two_innings(SIX, "1")
    scorer.send("innings_end", reason="target", override=("target_not_reached",))
    assert scorer.warnings == ["innings_reopened"]
    assert scorer.phase == "play"


def test_a_penalty_after_the_target_was_revised_and_before_the_chase_went_without_a_word() -> None:
    scorer = Scorer(overs=1).innings("A").play(SIX)
    scorer.send("revise", target=5, method="DLS")
    scorer.send("penalty", side="A", runs=5)
    assert scorer.warnings == ["target_given"]
    scorer.innings("B").send("penalty", side="B", runs=1)
    assert scorer.warnings == []


def test_who_retired_out_in_a_super_over_batted_in_the_next() -> None:
    scorer = _two_innings(DOTS, DOTS, super_over={}).innings("B", super_over=True, bowler="A3").play("0")
    scorer.send("retire", batter="B1", kind="out")
    scorer.play("0 0 0 0 0 /").innings("A", super_over=True, bowler="B3").play(DOTS)
    scorer.innings("A", super_over=True, bowler="B4").play(DOTS).innings("B", super_over=True, bowler="A4")
    scorer.ball("0", striker="B1", non_striker="B2")
    assert scorer.warnings == ["super_over_batter"]


def test_the_second_wicket_of_a_ball_made_sure_of_a_crossing_nobody_had_told() -> None:
    scorer = Scorer().innings("A")
    wickets = [out("run_out", "A1"), out("obstructing_the_field", "A2", crossed=True)]
    scorer.ball(wickets=wickets)
    assert scorer.state["play"]["unsure"] is True


def test_a_free_hit_was_lost_when_a_won_chase_went_on() -> None:
    scorer = Scorer(overs=1, free_hit=True).innings("A").play(DOTS).innings("B").play("N+0")
    assert scorer.text == "Beta won by 10 wickets"
    scorer.send("penalty", side="A", runs=5)
    assert scorer.show["free_hit"] is True


def test_a_ball_took_a_wicket_more_than_the_side_had() -> None:
    scorer = Scorer(players=3).innings("A").play("wkt")
    striker, other = scorer.crease()
    wickets = [out("run_out", striker), out("run_out", other)]
    refusal = scorer.check("delivery", striker=striker, non_striker=other, bowler="B1", wickets=wickets)
    assert refusal is not None
    assert (refusal.code, refusal.field, refusal.overridable) == ("all_out", "wickets[1]", True)


def test_a_fielder_named_twice_had_two_run_outs() -> None:
    scorer = Scorer().innings("A")
    scorer.ball(wickets=[out("run_out", "A1", "B4", "B5", "B4")])
    assert scorer.line("fielding", "B4")["run_outs"] == 1
    assert scorer.line("batting", "A1")["out_fielders"] == ["B4", "B5", "B4"]


@pytest.mark.parametrize("overs", ["4.05", "0", "0.0"])
def test_overs_that_are_no_amount_were_taken(overs: str) -> None:
    refusal = Scorer(overs=20).innings("A").check("revise", overs=overs)
    assert refusal is not None
    assert (refusal.code, refusal.field) == ("overs", "overs")


@pytest.mark.parametrize("overs", ["\N{FULLWIDTH DIGIT FOUR}", "5\n", " 5", "-1", ""])
def test_overs_were_read_from_what_is_no_number(overs: str) -> None:
    with pytest.raises(msgspec.ValidationError, match="overs"):
        Scorer(overs=20).innings("A").check("revise", overs=overs)


def test_a_key_ended_with_a_line_feed() -> None:
    with pytest.raises(msgspec.ValidationError, match="key"):
        Scorer().check("player", side="A", key="A1\n", name="Twice")


def test_more_overs_did_not_reopen_the_chase_that_fewer_had_ended() -> None:
    scorer = Scorer(overs=2).innings("A").play(SIX + " " + DOTS).innings("B").play("0 0")
    scorer.send("revise", overs="0.2")
    assert scorer.text == "Alpha won by 6 runs"
    scorer.send("revise", overs="2")
    assert scorer.warnings == ["innings_reopened"]
    assert "match_reopened" in scorer.last.emits
    assert scorer.show["overs_limit"] == "2"
    scorer.play("6 1")
    assert scorer.text == "Beta won by 10 wickets"


def test_a_batter_replaced_himself_in_his_role_or_came_in_twice() -> None:
    scorer = Scorer().innings("A").play("0")
    refusal = scorer.check("role_replacement", role="batter", player_in="A1", player_out="A1", reason="x")
    assert refusal is not None
    assert refusal.code == "same_player"
    scorer.send("role_replacement", role="batter", player_in="A2", player_out="A1", reason="x")
    assert scorer.warnings == ["was_not_away"]


def test_a_conceded_super_over_was_decided_by_its_figures() -> None:
    scorer = _two_innings(DOTS, DOTS, super_over={})
    scorer.innings("B", super_over=True, bowler="A1").play("4 0 0 0 0 0 /")
    scorer.innings("A", super_over=True, bowler="B1").play("1").send("innings_end", reason="conceded")
    assert scorer.result is None


@pytest.mark.parametrize("runs", ["bat", "byes", "leg_byes"])
def test_runs_off_a_ball_that_bowled_the_batter_went_without_a_word(runs: str) -> None:
    scorer = Scorer().innings("A")
    given: dict[str, Any] = {"bat": 0, runs: 1}
    scorer.ball(**given, wickets=[out("bowled", "A1")])
    assert scorer.warnings == ["runs_off_a_wicket"]
    scorer.ball(bat=1, wickets=[out("run_out", scorer.crease()[0])])
    assert scorer.warnings == []


def test_a_super_over_of_two_wickets_was_shown_as_all_out_without_them() -> None:
    scorer = _two_innings(DOTS, DOTS, super_over={})
    scorer.innings("B", super_over=True, bowler="A1").play("4 wkt wkt")
    assert scorer.show["innings"][-1]["score"] == "4/2"


def test_a_batter_nobody_waited_for_retired() -> None:
    scorer = Scorer().innings("A").play("0")
    scorer.send("retire", batter="A7", kind="hurt")
    assert scorer.warnings == ["no_open_place"]


def test_a_batter_was_timed_out_after_the_match() -> None:
    scorer = _two_innings(DOTS, "1")
    refusal = scorer.check("timed_out", batter="B3")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("innings_closed", True)


def test_an_innings_of_eleven_began_with_one_batter() -> None:
    scorer = Scorer().innings("A")
    scorer.ball("0", non_striker=None)
    assert scorer.warnings == ["non_striker"]


def test_a_method_was_written_with_a_small_letter() -> None:
    scorer = Scorer()
    scorer.send("result", kind="won", winner="A", method="DLS method")
    assert scorer.text == "Alpha won (DLS method)"


def test_a_replaced_bowler_was_still_expected_in_his_over() -> None:
    scorer = Scorer().innings("A").play("0 0")
    scorer.send("replacement", side="B", player_in="B12", player_out="B1", reason="concussion_substitute")
    scorer.ball("0", bowler="B12")
    assert scorer.warnings == []


@pytest.mark.parametrize("code", ["penalty", "revise"])
def test_the_line_of_the_chase_kept_its_old_target_during_a_super_over(code: str) -> None:
    scorer = _two_innings(SIX, SIX, super_over={}).innings("B", super_over=True, bowler="A2")
    if code == "penalty":
        scorer.send("penalty", side="A", runs=5, innings=1)
    else:
        scorer.send("revise", target=12)
    assert scorer.side("B", "innings-2")["target"] == 12


def test_play_in_a_super_over_went_on_in_a_match_that_was_decided() -> None:
    scorer = _two_innings(DOTS, DOTS, super_over={}).innings("B", super_over=True, bowler="A1").play("1")
    scorer.send("penalty", side="A", runs=5, innings=1)
    assert (scorer.text, scorer.phase) == ("Alpha won by 5 runs", "over")
    refusal = scorer.check("delivery", striker="B2", non_striker="B1", bowler="A1")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("match_over", True)


def test_nobody_heard_that_a_tied_match_went_on() -> None:
    scorer = _two_innings(DOTS, DOTS)
    assert "match_end" in scorer.last.emits
    scorer.innings("B", super_over=True, override=("match_over", "no_super_over"))
    assert "match_reopened" in scorer.last.emits


def test_nobody_heard_that_a_revision_took_a_given_result_back() -> None:
    scorer = Scorer(overs=2).innings("A").play("1")
    scorer.send("result", kind="no_result")
    scorer.send("revise", overs="1", override=("match_over",))
    assert "match_reopened" in scorer.last.emits
