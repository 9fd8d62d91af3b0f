"""Results: computed where the figures decide, given where they do not."""

from typing import Any

import pytest

from tests.sports.cricket.play import Scorer

OVER = " 0 0 0 0 0 0 /"


def _one_over_each(first: str, second: str, **playing: Any) -> Scorer:
    return Scorer(overs=1, **playing).innings("A").play(first).innings("B").play(second)


def test_won_by_wickets() -> None:
    scorer = _one_over_each("1 1 1 1 1 1 /", "wkt 4 wkt 4")
    assert scorer.text == "Beta won by 8 wickets"
    assert scorer.result is not None
    assert scorer.result.winner == "B"
    assert scorer.result.margin == {"wickets": 8}


@pytest.mark.parametrize(("runs", "text"), [("5", "Alpha won by 1 run"), ("4", "Alpha won by 2 runs")])
def test_won_by_runs(runs: str, text: str) -> None:
    assert _one_over_each("6 0 0 0 0 0 /", f"{runs} 0 0 0 0 0 /").text == text


def test_a_last_wicket_pair_wins_by_one_wicket() -> None:
    scorer = _one_over_each("0 0 0 0 0 0 /", "wkt 1", players=3)
    assert scorer.text == "Beta won by 1 wicket"


def test_a_tie_ranks_both_first() -> None:
    scorer = _one_over_each("6 0 0 0 0 0 /", "6 0 0 0 0 0 /")
    assert scorer.text == "Match tied"
    assert scorer.phase == "over"


def test_all_out_level_is_a_tie_and_all_out_short_a_loss() -> None:
    assert _one_over_each("1 0 0 0 0 0 /", "1 wkt", players=2).text == "Match tied"
    assert _one_over_each("2 0 0 0 0 0 /", "1 wkt", players=2).text == "Alpha won by 1 run"


def test_nothing_is_decided_by_an_innings_that_time_ended() -> None:
    scorer = Scorer(overs=2).innings("A").play(OVER * 2).innings("B").play("0")
    scorer.send("innings_end", reason="time")
    assert (scorer.result, scorer.phase) == (None, "interval")
    scorer.send("result", kind="no_result")
    assert scorer.text == "No result"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"kind": "draw"}, "Match drawn"),
        ({"kind": "no_result"}, "No result"),
        ({"kind": "abandoned"}, "Match abandoned"),
        ({"kind": "tie"}, "Match tied"),
        ({"kind": "tie", "winner": "A"}, "Match tied (Alpha won)"),
        (
            {"kind": "tie", "winner": "B", "method": "Boundary count"},
            "Match tied (Beta won, boundary count)",
        ),
        ({"kind": "won", "winner": "A", "method": "Awarded"}, "Alpha won (awarded)"),
        ({"kind": "won", "winner": "B", "method": "Conceded"}, "Beta won (conceded)"),
        ({"kind": "won", "winner": "A", "runs": 1, "method": "VJD"}, "Alpha won by 1 run (VJD method)"),
        (
            {"kind": "won", "winner": "A", "innings": 1, "runs": 46},
            "Alpha won by an innings and 46 runs",
        ),
        ({"kind": "won", "winner": "B", "method": "Lost fewer wickets"}, "Beta won (lost fewer wickets)"),
        ({"kind": "won", "winner": "B"}, "Beta won"),
    ],
)
def test_results_that_are_given(given: dict[str, Any], text: str) -> None:
    scorer = Scorer(innings_a_side=2).innings("A").play("1 1")
    scorer.send("result", **given)
    assert scorer.text == text
    assert scorer.phase == "over"
    assert "match_end" in scorer.last.emits
    assert scorer.side()["closed"] == "result"
    assert scorer.line("batting", "A1")["status"] == "not out"
    assert scorer.warnings == []


def test_a_result_may_be_given_before_a_ball() -> None:
    scorer = Scorer()
    scorer.send("result", kind="abandoned")
    assert (scorer.text, scorer.phase) == ("Match abandoned", "over")


def test_a_given_result_replaces_a_computed_one_with_a_warning() -> None:
    scorer = _one_over_each("6 0 0 0 0 0 /", OVER)
    scorer.send("result", kind="won", winner="B")
    assert scorer.warnings == ["result_contradicts"]
    assert "Alpha won by 6 runs" in scorer.cautions[0].sentence
    assert scorer.text == "Beta won"


def test_a_given_result_that_says_less_keeps_the_computed_margin() -> None:
    scorer = _one_over_each("6 0 0 0 0 0 /", OVER)
    scorer.send("result", kind="won", winner="A")
    assert scorer.warnings == []
    assert scorer.text == "Alpha won by 6 runs"


def test_a_tie_decided_by_a_given_method_is_no_contradiction() -> None:
    scorer = _one_over_each("6 0 0 0 0 0 /", "6 0 0 0 0 0 /")
    scorer.send("result", kind="won", winner="B", method="Lost fewer wickets")
    assert scorer.warnings == []
    assert scorer.text == "Beta won (lost fewer wickets)"


def test_play_after_a_given_result_needs_the_umpires_word() -> None:
    scorer = Scorer(overs=2).innings("A").play("1")
    scorer.send("result", kind="no_result")
    refusal = scorer.check("delivery", striker="A2", non_striker="A1", bowler="B1")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("match_over", True)
    scorer.ball("1", override=("match_over",))
    assert scorer.result is None
    assert scorer.side()["runs"] == 2
    assert scorer.phase == "play"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"kind": "won"}, "winner_missing"),
        ({"kind": "draw", "winner": "A"}, "no_winner"),
        ({"kind": "won", "winner": "C"}, "unknown_side"),
    ],
)
def test_results_that_cannot_be(given: dict[str, Any], code: str) -> None:
    refusal = Scorer().check("result", **given)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == (code, False)


def _two_innings(*innings: tuple[str, str, str]) -> Scorer:
    scorer = Scorer(innings_a_side=2, players=3)
    for side, balls, ending in innings:
        scorer.innings(side, override=("follow_on",), bowler="B3" if side == "A" else "A3").play(balls)
        if ending:
            scorer.send("innings_end", reason=ending)
    return scorer


@pytest.mark.parametrize(
    ("innings", "text"),
    [
        (
            [("A", "6", "declared"), ("B", "1 wkt wkt", ""), ("B", "2 wkt wkt", "")],
            "Alpha won by an innings and 3 runs",
        ),
        (
            [("A", "2", "declared"), ("B", "6", "declared"), ("A", "1 wkt wkt", "")],
            "Beta won by an innings and 3 runs",
        ),
        (
            [("A", "6", "declared"), ("B", "1 wkt wkt", ""), ("A", "1 wkt wkt", ""), ("B", "6 wkt 0", "")],
            None,
        ),
        (
            [("A", "6", "declared"), ("B", "1 wkt wkt", ""), ("A", "1 wkt wkt", ""), ("B", "5 wkt wkt", "")],
            "Alpha won by 1 run",
        ),
        (
            [("A", "6", "declared"), ("B", "1 wkt wkt", ""), ("A", "1 wkt wkt", ""), ("B", "6 wkt wkt", "")],
            "Match tied",
        ),
        (
            [("A", "6", "declared"), ("B", "1 wkt wkt", ""), ("A", "1 wkt wkt", ""), ("B", "6 wkt 1", "")],
            "Beta won by 1 wicket",
        ),
    ],
)
def test_two_innings_a_side(innings: list[tuple[str, str, str]], text: str | None) -> None:
    assert _two_innings(*innings).text == text


def test_a_match_awarded_while_ahead_keeps_the_scores() -> None:
    scorer = _two_innings(("A", "6", "declared"), ("B", "6 2", ""))
    scorer.send("result", kind="won", winner="A", method="Awarded")
    assert scorer.scores == ["6/0d", "8/0"]
    assert scorer.text == "Alpha won (awarded)"
