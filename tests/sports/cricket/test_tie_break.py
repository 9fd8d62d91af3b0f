"""Super overs, any number of them, and the bowl-out."""

from typing import Any

import pytest

from scorebox_cricket.tie_break import bowl_out_winner
from tests.sports.cricket.play import Scorer


def _tied(**playing: Any) -> Scorer:
    scorer = Scorer(overs=1, **playing).innings("A").play("1 1 1 1 1 1 /")
    return scorer.innings("B").play("1 1 1 1 1 1 /")


def _turn(scorer: Scorer, side: str, balls: str, bowler: int) -> Scorer:
    other = "B" if side == "A" else "A"
    return scorer.innings(side, super_over=True, bowler=f"{other}{bowler}").play(balls)


def test_a_tie_with_super_overs_is_not_over() -> None:
    scorer = _tied(super_over={})
    assert (scorer.result, scorer.phase) == (None, "interval")
    scorer.send("result", kind="tie")
    assert scorer.text == "Match tied"


def test_a_super_over_decides_a_tie() -> None:
    scorer = _tied(super_over={})
    _turn(scorer, "B", "4 1 0 0 0 0 /", 3)
    assert scorer.warnings == []
    _turn(scorer, "A", "4 2", 3)
    assert scorer.text == "Match tied (Alpha won the super over)"
    assert scorer.result is not None
    assert (scorer.result.kind, scorer.result.winner, scorer.result.method) == ("tie", "A", "super over")
    assert scorer.side("A", "super-over-2")["closed"] == "target"
    assert scorer.scores == ["6/0", "6/0"]


def test_the_side_batting_first_wins_a_super_over_it_defends() -> None:
    scorer = _tied(super_over={})
    _turn(scorer, "B", "4 wkt wkt", 3)
    assert scorer.side("B", "super-over-1")["closed"] == "all_out"
    _turn(scorer, "A", "wkt 1 wkt", 3)
    assert scorer.text == "Match tied (Beta won the super over)"


@pytest.mark.parametrize("level", [1, 2, 7])
def test_super_overs_go_on_until_one_decides(level: int) -> None:
    scorer = _tied(super_over={"overs": 1, "wickets": 2})
    first, second = "B", "A"
    for number in range(level):
        _turn(scorer, first, "1 0 0 0 0 0 /", 3 + number % 2)
        _turn(scorer, second, "1 0 0 0 0 0 /", 3 + number % 2)
        assert scorer.result is None
        first, second = second, first
    _turn(scorer, first, "0 0 0 0 0 0 /", 5)
    _turn(scorer, second, "1", 5)
    assert scorer.side(second, f"super-over-{2 * level + 2}")["runs"] == 1
    assert scorer.text is not None
    assert scorer.text.endswith("won the super over)")
    assert len(scorer.show["innings"]) <= 2 + 6


def test_the_order_and_the_players_of_super_overs_only_warn() -> None:
    scorer = _tied(super_over={})
    scorer.innings("A", super_over=True, bowler="B3")
    assert scorer.warnings == ["super_over_order"]
    scorer.play("wkt 1 0 0 0 0 /")
    scorer.innings("B", super_over=True, bowler="A3").play("1 0 0 0 0 0 /")
    scorer.innings("A", super_over=True)
    assert scorer.warnings == ["super_over_order"]
    scorer.ball("1", striker="A1", non_striker="A2", bowler="B3")
    assert scorer.warnings == ["super_over_batter", "super_over_bowler"]


def test_a_side_has_one_turn_in_a_super_over() -> None:
    scorer = _tied(super_over={})
    _turn(scorer, "B", "0 0 0 0 0 0 /", 3)
    refusal = scorer.check("innings", batting="B", super_over=True)
    assert refusal is not None
    assert refusal.code == "super_over_turn"


def test_super_overs_are_for_ties_and_for_matches_that_have_them() -> None:
    scorer = Scorer(overs=1, super_over={}).innings("A").play("0 0 0 0 0 0 /")
    refusal = scorer.check("innings", batting="B", super_over=True)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("not_tied", True)
    scorer = _tied()
    codes = ("match_over", "no_super_over")
    refusal = scorer.check("innings", batting="B", super_over=True, override=codes[:1])
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("no_super_over", True)
    scorer.innings("B", super_over=True, override=codes)
    assert scorer.phase == "play"


def test_after_a_super_over_no_other_innings_follows() -> None:
    scorer = _tied(super_over={}, innings_a_side=1)
    _turn(scorer, "B", "0 0 0 0 0 0 /", 3)
    refusal = scorer.check("innings", batting="A")
    assert refusal is not None
    assert refusal.code == "super_over_begun"


@pytest.mark.parametrize(
    ("tally", "winner"),
    [
        ([[0, 0], [0, 0]], None),
        ([[3, 3], [0, 3]], 0),
        ([[3, 3], [0, 2]], None),
        ([[2, 5], [3, 4]], 1),
        ([[2, 5], [2, 5]], None),
        ([[3, 6], [2, 5]], None),
        ([[3, 6], [2, 6]], 0),
        ([[3, 6], [3, 6]], None),
        ([[3, 7], [4, 7]], 1),
    ],
)
def test_a_bowl_out_is_decided_when_the_other_side_cannot_catch_up(
    tally: list[list[int]], winner: int | None
) -> None:
    assert bowl_out_winner(tally) == winner


def test_a_bowl_out_decides_a_tie() -> None:
    scorer = _tied()
    assert scorer.text == "Match tied"
    for number in (1, 2, 3):
        scorer.send("bowl_out", bowler=f"B{number}", hit=False)
        assert scorer.result is None
        scorer.send("bowl_out", bowler=f"A{number}", hit=True)
    assert scorer.text == "Match tied (Alpha won the bowl-out)"
    assert scorer.show["bowl_out"] == [
        {"side": "A", "hits": 3, "balls": 3},
        {"side": "B", "hits": 0, "balls": 3},
    ]
    refusal = scorer.check("bowl_out", bowler="B4", hit=True)
    assert refusal is not None
    assert refusal.code == "match_over"


def test_a_bowl_out_is_for_ties() -> None:
    scorer = Scorer(overs=1).innings("A")
    refusal = scorer.check("bowl_out", bowler="B1", hit=True)
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("not_tied", True)
    refusal = _tied().check("bowl_out", bowler="Z", hit=True)
    assert refusal is not None
    assert refusal.code == "unknown_player"
