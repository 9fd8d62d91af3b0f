"""Ways out, on which ball they can be, and who gets credit."""

from typing import Any

import pytest

from tests.sports.cricket.play import Scorer, out

CREDITED = ("bowled", "caught", "caught_and_bowled", "lbw", "stumped", "hit_wicket")
OTHERS = ("run_out", "hit_the_ball_twice", "obstructing_the_field", "handled_the_ball")


@pytest.fixture
def scorer() -> Scorer:
    return Scorer(free_hit=True).innings("A")


@pytest.mark.parametrize("kind", CREDITED + OTHERS)
def test_the_bowler_gets_credit_for_his_wickets_only(scorer: Scorer, kind: str) -> None:
    scorer.ball(wickets=[out(kind, "A1", "B4")])
    line = scorer.line("batting", "A1")
    assert line["status"] == "out"
    assert line["out_kind"] == kind
    assert line["out_bowler"] == ("B1" if kind in CREDITED else None)
    assert scorer.line("bowling", "B1")["wickets"] == (kind in CREDITED)
    assert scorer.side()["wickets"] == 1
    assert "wicket" in scorer.last.emits


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("caught", {"catches": 1, "stumpings": 0, "run_outs": 0}),
        ("stumped", {"catches": 0, "stumpings": 1, "run_outs": 0}),
        ("run_out", {"catches": 0, "stumpings": 0, "run_outs": 1}),
    ],
)
def test_fielders_have_lines(scorer: Scorer, kind: str, line: dict[str, int]) -> None:
    scorer.ball(wickets=[out(kind, "A1", "B4")])
    assert scorer.line("fielding", "B4") == line


def test_a_catch_by_the_bowler_is_his(scorer: Scorer) -> None:
    scorer.ball(wickets=[out("caught_and_bowled", "A1")])
    assert scorer.line("fielding", "B1")["catches"] == 1


def test_everybody_named_has_a_run_out_and_only_the_catcher_a_catch(scorer: Scorer) -> None:
    scorer.ball(wickets=[out("run_out", "A1", "B4", "B5", crossed=False)])
    scorer.ball(wickets=[out("caught", scorer.crease()[0], "B6", "B7")])
    assert [scorer.line("fielding", key)["run_outs"] for key in ("B4", "B5")] == [1, 1]
    assert scorer.line("fielding", "B6")["catches"] == 1
    assert ("innings-1", "fielding", "B7") not in scorer.lines


def test_a_substitute_by_name_or_unnamed_has_no_line(scorer: Scorer) -> None:
    fielders = [{"name": "Gary Pratt", "substitute": True}, {"substitute": True}]
    scorer.ball(wickets=[{"kind": "run_out", "out": "A1", "fielders": fielders}])
    assert scorer.line("batting", "A1")["out_fielders"] == ["Gary Pratt", None]
    assert not any(role == "fielding" for _, role, _ in scorer.lines)


def test_an_unknown_fielder_is_refused(scorer: Scorer) -> None:
    given: dict[str, Any] = {"striker": "A1", "non_striker": "A2", "bowler": "B1"}
    for key, code in (("Z", "unknown_player"), ("A4", "wrong_side")):
        refusal = scorer.check("delivery", wickets=[out("caught", "A1", key)], **given)
        assert refusal is not None
        assert (refusal.code, refusal.field) == (code, "wickets[0].fielders[0].player")


@pytest.mark.parametrize(
    ("ball", "allowed"),
    [
        ({"wides": 1}, {"stumped", "run_out", "hit_wicket", "obstructing_the_field", "handled_the_ball"}),
        ({"no_balls": 1}, {"run_out", "hit_the_ball_twice", "obstructing_the_field", "handled_the_ball"}),
        ({"dead": True}, set(OTHERS)),
        ({}, set(CREDITED + OTHERS)),
    ],
)
def test_which_dismissals_can_be_on_which_ball(
    scorer: Scorer, ball: dict[str, Any], allowed: set[str]
) -> None:
    """Laws 21.18 and 22.9."""
    for kind in CREDITED + OTHERS:
        refusal = scorer.check(
            "delivery", striker="A1", non_striker="A2", bowler="B1", wickets=[out(kind, "A1")], **ball
        )
        assert (refusal is None) == (kind in allowed), (kind, refusal)
        if refusal is not None:
            assert refusal.overridable == ("dead" not in ball)


@pytest.mark.parametrize("kind", [*CREDITED, "hit_the_ball_twice"])
def test_the_non_striker_cannot_be_out_like_a_striker(scorer: Scorer, kind: str) -> None:
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B1", wickets=[out(kind, "A2")])
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("striker_only", True)


def test_only_who_is_at_the_crease_can_be_out_and_only_once(scorer: Scorer) -> None:
    given: dict[str, Any] = {"striker": "A1", "non_striker": "A2", "bowler": "B1"}
    refusal = scorer.check("delivery", wickets=[out("run_out", "A3")], **given)
    assert refusal is not None
    assert refusal.code == "not_at_the_crease"
    refusal = scorer.check("delivery", wickets=[out("run_out", "A1"), out("run_out", "A1")], **given)
    assert refusal is not None
    assert refusal.code == "out_twice"


def test_who_is_out_does_not_bat_again(scorer: Scorer) -> None:
    scorer.play("wkt")
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B1")
    assert refusal is not None
    assert (refusal.code, refusal.overridable, refusal.field) == ("already_out", True, "striker")


def test_the_fall_of_a_wicket_has_the_total_after_the_whole_delivery(scorer: Scorer) -> None:
    scorer.play("4 1 0")
    scorer.ball("1", wickets=[out("run_out", "A1", crossed=False)], penalty=5)
    line = scorer.line("batting", "A1")
    assert (line["fall_runs"], line["fall_wicket"], line["fall_over"]) == (11, 1, "0.4")
    assert scorer.show["last_wicket"]["batter"] == "A1"
    assert scorer.show["last_wicket"]["runs"] == 11


def test_two_wickets_on_one_ball(scorer: Scorer) -> None:
    scorer.ball(wickets=[out("caught", "A1", "B4"), out("run_out", "A2", "B5")])
    assert scorer.side()["wickets"] == 2
    assert [scorer.line("batting", key)["fall_wicket"] for key in ("A1", "A2")] == [1, 2]
    assert scorer.state["play"]["crease"] == [None, None]
    scorer.ball("1")
    assert [scorer.line("batting", key)["position"] for key in ("A3", "A4")] == [3, 4]


def test_the_non_striker_run_out_before_the_ball_is_no_ball(scorer: Scorer) -> None:
    """Law 38.3: the ball has not been bowled."""
    scorer.ball(wickets=[out("run_out", "A2", "B1", crossed=False)], dead=True)
    assert scorer.side()["balls"] == 0
    assert scorer.side()["wickets"] == 1
    assert scorer.line("batting", "A1")["balls"] == 0
    assert scorer.line("fielding", "B1")["run_outs"] == 1


def test_five_wickets_are_said_once(scorer: Scorer) -> None:
    said = [word for _ in range(6) for word in scorer.ball("wkt").emits]
    assert said.count("five_wickets") == 1
    assert said.count("wicket") == 6
