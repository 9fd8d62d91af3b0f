"""Faults seen in other scoring programs, each named after what went wrong (law numbers of the 2017 code)."""

import pytest

from tests.sports.cricket.play import Scorer, out


@pytest.fixture
def scorer() -> Scorer:
    return Scorer(overs=20, free_hit=True).innings("A")


@pytest.mark.parametrize(("crossed", "faces"), [(True, "A3"), (False, "A1")])
def test_run_out_on_the_third_run_could_not_be_entered(scorer: Scorer, crossed: bool, faces: str) -> None:
    """Law 18.12: the completed runs count, and who crossed tells who faces."""
    scorer.ball("2", wickets=[out("run_out", "A2", "B5", crossed=crossed)])
    assert scorer.line("batting", "A1")["runs"] == 2
    assert scorer.line("batting", "A2")["out_kind"] == "run_out"
    assert scorer.line("bowling", "B1")["wickets"] == 0
    assert scorer.side()["runs"] == 2
    assert scorer.crease()[0] == faces


def test_a_retirement_was_counted_as_a_ball_and_a_wicket(scorer: Scorer) -> None:
    """Law 25.4: retired hurt is no ball and no wicket, and the innings goes on where it stopped."""
    scorer.play("1 1")  # A1 has faced one ball, and is to face
    scorer.send("retire", batter="A1", kind="hurt")
    assert (scorer.side()["wickets"], scorer.side()["balls"]) == (0, 2)
    assert scorer.line("batting", "A1")["status"] == "retired hurt"
    scorer.ball("wkt", striker="A2", non_striker="A3")
    scorer.send("resume", batter="A1")
    scorer.ball("2", striker="A1", non_striker="A3")
    assert scorer.side()["wickets"] == 1
    assert scorer.line("batting", "A1")["balls"] == 2
    assert scorer.line("batting", "A1")["runs"] == 3
    assert scorer.line("batting", "A1")["status"] == "batting"


def test_a_retired_out_batter_was_no_wicket(scorer: Scorer) -> None:
    """Law 25.4.3: retired out is a wicket of no bowler."""
    scorer.play("1 1").send("retire", batter="A1", kind="out")
    assert scorer.side()["wickets"] == 1
    assert scorer.line("bowling", "B1")["wickets"] == 0
    assert scorer.line("batting", "A1")["status"] == "out"
    assert scorer.line("batting", "A1")["out_kind"] == "retired_out"


@pytest.mark.parametrize(("balls", "maidens"), [("0 0 b1 0 lb2 0", 1), ("0 0 0 0 0 W 0", 0)])
def test_byes_broke_a_maiden(scorer: Scorer, balls: str, maidens: int) -> None:
    """Only what the bowler concedes breaks a maiden (Law 23.3, 22.7)."""
    scorer.play(balls + " /")
    assert scorer.line("bowling", "B1")["maidens"] == maidens
    assert scorer.side()["overs"] == "1"


def test_the_delivery_number_was_taken_for_legal_balls(scorer: Scorer) -> None:
    """Law 17.3: wides and no-balls are no balls of the over; a no-ball is faced and a wide is not."""
    scorer.play("W N+0 1 0 0 0 0 0")
    assert scorer.side()["balls"] == 6
    scorer.over()
    assert scorer.warnings == []
    assert scorer.side()["overs"] == "1"
    assert scorer.line("bowling", "B1")["overs"] == "1"
    faced = scorer.line("batting", "A1")["balls"] + scorer.line("batting", "A2")["balls"]
    assert faced == 7


@pytest.mark.parametrize("balls", [5, 7])
def test_the_engine_insisted_on_six_balls(scorer: Scorer, balls: int) -> None:
    """Law 17.5: the umpire's count stands; economy goes by balls."""
    scorer.play("0 " * balls + "/")
    assert scorer.warnings == ["over_length"]
    assert scorer.side()["overs"] == "1"
    assert scorer.side()["balls"] == balls
    assert scorer.line("bowling", "B1")["balls"] == balls
    assert scorer.line("bowling", "B1")["overs"] == "1"


def test_a_penalty_was_lost_because_totals_were_sums_of_balls() -> None:
    """Law 41.18: runs for the fielding side that has not batted start its innings."""
    scorer = Scorer(overs=1).innings("A")
    scorer.send("penalty", side="B", runs=5)
    scorer.play("0 0 0 0 0 0 /")
    scorer.innings("B")
    assert scorer.scores == ["0/0", "5/0"]
    assert scorer.side("B", "innings-2")["penalty"] == 5


def test_an_injured_bowler_mid_over_got_a_maiden_and_his_replacement_the_next_over(scorer: Scorer) -> None:
    """Law 17.8: who finishes an over bowled neither in the last one nor bowls in the next."""
    scorer.play("0 0 0").send("bowler_change", bowler="B2", reason="injury")
    scorer.bowler = "B2"
    scorer.play("0 0 0").send("over")
    assert scorer.line("bowling", "B1")["maidens"] == scorer.line("bowling", "B2")["maidens"] == 0
    assert scorer.line("bowling", "B1")["overs"] == scorer.line("bowling", "B2")["overs"] == "0.3"
    refusal = scorer.check("delivery", striker="A2", non_striker="A1", bowler="B2")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("overs_running", True)


def test_a_part_over_did_not_count_toward_the_quota() -> None:
    """ICC playing conditions: a part over is a full over toward a bowler's allowance."""
    scorer = Scorer(overs=20, bowler_overs=1).innings("A")
    scorer.play("0 0 0").send("bowler_change", bowler="B2")
    scorer.play("0").bowler = "B2"
    scorer.play("0 0 /").bowler = "B3"
    scorer.play("0 0 0 0 0 0").send("over")
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B1")
    assert refusal is not None
    assert refusal.code == "bowler_quota"


def test_a_free_hit_was_lost_after_a_wide(scorer: Scorer) -> None:
    """The ball after a no-ball is a free hit, and stays one through wides and no-balls."""
    scorer.play("N+0 W")
    assert scorer.show["free_hit"] is True
    striker, _ = scorer.crease()
    bowled = [out("bowled", striker)]
    refusal = scorer.check("delivery", striker=striker, non_striker="A2", bowler="B1", wickets=bowled)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("free_hit", True)
    scorer.ball("0")
    assert scorer.side()["wickets"] == 0
    assert scorer.side()["runs"] == 2
    assert scorer.show["free_hit"] is False


def test_a_run_out_on_a_free_hit_was_refused(scorer: Scorer) -> None:
    """Law 21.18: run out stands on a no-ball and on a free hit."""
    scorer.play("N+0")
    scorer.ball("1", wickets=[out("run_out", "A2", "B3")])
    assert scorer.side()["wickets"] == 1
    assert scorer.side()["runs"] == 2
    assert scorer.line("batting", "A1")["runs"] == 1


def test_a_timed_out_batter_was_a_ball_or_a_bowlers_wicket(scorer: Scorer) -> None:
    """Law 40: a wicket, no ball, no bowler."""
    scorer.play("wkt").send("timed_out", batter="A3")
    scorer.ball("0", striker="A4", non_striker="A2")
    assert scorer.side()["wickets"] == 2
    assert scorer.line("bowling", "B1")["wickets"] == 1
    assert scorer.line("bowling", "B1")["balls"] == 2
    assert scorer.line("batting", "A3")["out_kind"] == "timed_out"
    assert scorer.line("batting", "A3")["balls"] == 0
    assert scorer.line("batting", "A4")["position"] == 4


def test_the_order_of_innings_was_fixed() -> None:
    """Laws 14 and 15: declaration and follow-on; the side that followed on loses by an innings."""
    scorer = Scorer(innings_a_side=2, follow_on_lead=200).innings("A")
    scorer.play("6 6 6 6 6 6 / " * 11 + "4 wkt wkt wkt wkt wkt wkt")
    assert scorer.scores[0] == "400/6"
    scorer.send("innings_end", reason="declared")
    scorer.innings("B").play("6 6 6 6 6 6 / 6 6 6 6 6 6 / 6 6 6 6 6 6 / 6 6 6 6 6 6 / 6 wkt")
    scorer.send("innings_end", reason="all_out")
    scorer.innings("B", follow_on=True, bowler="A3")
    assert scorer.warnings == []
    scorer.play("6 6 6 6 6 6 / " * 6 + "6 6 6 6 wkt")
    scorer.send("innings_end", reason="all_out")
    assert scorer.scores == ["400/6d", "150 & 240 (f/o)"]
    assert scorer.text == "Alpha won by an innings and 10 runs"
    assert scorer.phase == "over"
