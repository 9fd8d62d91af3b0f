"""Batters who retire, come back, are absent or late."""

from typing import Any

import pytest

from tests.sports.cricket.play import Scorer, out


@pytest.fixture
def scorer() -> Scorer:
    return Scorer().innings("A")


def test_the_order_is_that_of_coming_in(scorer: Scorer) -> None:
    scorer.ball("wkt", striker="A7", non_striker="A1")
    scorer.ball("0", striker="A9", non_striker="A1")
    assert [scorer.line("batting", key)["position"] for key in ("A7", "A1", "A9")] == [1, 2, 3]


def test_retired_not_out_is_no_wicket_and_comes_back_when_typed(scorer: Scorer) -> None:
    scorer.play("1 1").send("retire", batter="A1", kind="not_out")
    scorer.play("0")
    assert scorer.warnings == []
    scorer.ball(wickets=[out("bowled", "A3")])
    scorer.ball("4", striker="A1", non_striker="A2")
    assert scorer.line("batting", "A1")["runs"] == 5
    assert scorer.line("batting", "A1")["position"] == 1


def test_retired_out_needs_consent_to_come_back(scorer: Scorer) -> None:
    scorer.play("1 1").send("retire", batter="A1", kind="out")
    refusal = scorer.check("delivery", striker="A1", non_striker="A2", bowler="B1")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("retired_out", True)
    scorer.ball("1", striker="A1", non_striker="A2", override=("retired_out",))
    assert scorer.side()["wickets"] == 0
    assert "out_kind" not in scorer.line("batting", "A1")


def test_who_is_out_cannot_retire_or_resume_or_be_timed_out_or_absent(scorer: Scorer) -> None:
    scorer.play("wkt")
    commands: list[tuple[str, dict[str, Any]]] = [
        ("retire", {"kind": "hurt"}),
        ("resume", {}),
        ("timed_out", {}),
        ("absent", {}),
    ]
    for code, given in commands:
        refusal = scorer.check(code, batter="A1", **given)
        assert refusal is not None
        assert (refusal.code, refusal.overridable) == ("already_out", code == "resume")


def test_who_is_in_is_not_timed_out_or_absent(scorer: Scorer) -> None:
    scorer.play("0")
    for code in ("timed_out", "absent"):
        refusal = scorer.check(code, batter="A2")
        assert refusal is not None
        assert refusal.code == "at_the_crease"


def test_retiring_twice_is_warned_about(scorer: Scorer) -> None:
    scorer.play("0").send("retire", batter="A1", kind="hurt")
    scorer.send("retire", batter="A1", kind="hurt")
    assert scorer.warnings == ["was_away"]


def test_a_batter_may_retire_before_he_faced(scorer: Scorer) -> None:
    scorer.play("wkt").send("retire", batter="A3", kind="hurt")
    assert scorer.line("batting", "A3")["position"] == 3
    scorer.ball("0", striker="A4", non_striker="A2")
    assert scorer.warnings == []


def test_resuming_fills_the_open_place(scorer: Scorer) -> None:
    scorer.play("0").send("retire", batter="A1", kind="hurt")
    scorer.play("0 wkt")
    scorer.send("resume", batter="A1")
    assert scorer.crease() == ("A1", "A2")
    assert scorer.line("batting", "A1")["status"] == "batting"
    scorer.play("1")
    assert scorer.warnings == []


def test_resuming_without_an_open_place_waits(scorer: Scorer) -> None:
    scorer.play("0").send("retire", batter="A1", kind="hurt")
    scorer.play("0").send("resume", batter="A1")
    assert scorer.warnings == ["no_open_place"]
    assert scorer.line("batting", "A1")["status"] == "retired hurt"


def test_absent_batters_make_a_side_all_out_early() -> None:
    scorer = Scorer(overs=20).innings("A")
    scorer.send("absent", batter="A11", reason="injured")
    scorer.play("wkt wkt wkt wkt wkt wkt wkt wkt wkt")
    assert scorer.side()["closed"] == "all_out"
    assert scorer.scores[0] == "0"
    assert scorer.line("batting", "A11")["status"] == "absent"
    assert scorer.line("batting", "A11")["position"] is None


def test_nine_down_with_one_retired_hurt_ends_when_he_will_not_bat_on() -> None:
    scorer = Scorer().innings("A").play("1 1")
    scorer.send("retire", batter="A1", kind="hurt")
    scorer.play("wkt wkt wkt wkt wkt wkt wkt wkt wkt")
    assert scorer.side()["closed"] is None
    scorer.send("absent", batter="A1")
    assert scorer.side()["closed"] == "all_out"
    assert scorer.side()["wickets"] == 9
    assert scorer.line("batting", "A1")["status"] == "retired hurt"


def test_an_absent_batter_who_bats_after_all_counts_again(scorer: Scorer) -> None:
    scorer.send("absent", batter="A3")
    scorer.play("wkt")
    scorer.ball("0", striker="A3", non_striker="A2")
    assert scorer.warnings == ["was_absent"]
    assert scorer.line("batting", "A3")["position"] == 3
    scorer.play("wkt wkt wkt wkt wkt wkt wkt wkt")
    assert scorer.side()["closed"] is None
    scorer.play("wkt")
    assert scorer.side()["closed"] == "all_out"


def test_a_timed_out_opener(scorer: Scorer) -> None:
    scorer.send("timed_out", batter="A1")
    scorer.play("0")
    assert scorer.side()["wickets"] == 1
    assert scorer.line("batting", "A2")["position"] == 2


def test_a_retirement_on_the_ball_that_ended_the_innings() -> None:
    scorer = Scorer(overs=1).innings("A").play("0 0 0 0 0 0 /").innings("B").play("6")
    assert scorer.text == "Beta won by 10 wickets"
    scorer.send("retire", batter="B1", kind="hurt")
    assert scorer.line("batting", "B1", "innings-2")["status"] == "retired hurt"
    assert scorer.text == "Beta won by 10 wickets"


def test_partnerships_go_by_pair_and_wicket(scorer: Scorer) -> None:
    scorer.play("4 W 1")
    first = scorer.line("partnership-1", "A")
    assert first == {"batters": ["A1", "A2"], "runs": 6, "balls": 2, "wicket": 1, "unbroken": True}
    scorer.send("retire", batter="A2", kind="hurt")
    scorer.play("2 wkt 1")
    assert scorer.line("partnership-1", "A")["unbroken"] is False
    assert scorer.line("partnership-2", "A")["wicket"] == 1
    assert scorer.line("partnership-2", "A")["runs"] == 2
    assert scorer.line("partnership-3", "A")["wicket"] == 2
