"""Facts that belong in the log, and what of them screens show."""

from typing import Any

import pytest

from tests.sports.cricket.play import Scorer


def test_the_toss_is_shown() -> None:
    scorer = Scorer()
    scorer.send("toss", winner="B", decision="field")
    assert scorer.show["toss"] == {"winner": "B", "decision": "field"}
    assert scorer.phase == "before"


def test_a_toss_that_comes_late_is_compared_with_who_bats() -> None:
    scorer = Scorer().innings("A")
    scorer.send("toss", winner="B", decision="bat")
    assert scorer.warnings == ["toss_order"]


def test_officials_are_only_logged() -> None:
    scorer = Scorer()
    before = scorer.state
    scorer.send("officials", umpires=["One", "Two"], referee=["Three"])
    assert scorer.state == before


def test_powerplays_are_shown_and_bounded() -> None:
    scorer = Scorer().innings("A")
    for number in range(9):
        scorer.send("powerplay", kind="mandatory", start=f"{number}.1", end=f"{number}.7")
    assert len(scorer.show["powerplays"]) == 6
    assert scorer.show["powerplays"][-1] == {"kind": "mandatory", "start": "8.1", "end": "8.7"}


def test_a_powerplay_ends_after_it_starts_and_needs_an_innings() -> None:
    refusal = Scorer().innings("A").check("powerplay", kind="batting", start="5.1", end="4.6")
    assert refusal is not None
    assert refusal.code == "powerplay_order"
    refusal = Scorer().check("powerplay", kind="batting", start="0.1", end="4.6")
    assert refusal is not None
    assert refusal.code == "no_innings"


@pytest.mark.parametrize(
    ("given", "lost"),
    [
        ({"decision": "struck_down"}, 1),
        ({"decision": "struck_down", "umpires_call": True}, 0),
        ({"decision": "upheld"}, 0),
    ],
)
def test_reviews_that_are_lost_are_counted(given: dict[str, Any], lost: int) -> None:
    scorer = Scorer().innings("A").play("0")
    scorer.send("review", by="B", batter="A1", **given)
    assert scorer.show["reviews_lost"] == {"A": 0, "B": lost}


def test_a_review_names_who_exists() -> None:
    scorer = Scorer().innings("A")
    unknown: list[dict[str, Any]] = [{"by": "C"}, {"by": "A", "batter": "Z"}]
    for given in unknown:
        refusal = scorer.check("review", decision="upheld", **given)
        assert refusal is not None
        assert refusal.code in ("unknown_side", "unknown_player")
