"""Players join, are replaced, and substitutes field."""

import pytest

from scorebox_contract import Joined
from tests.sports.cricket.play import Scorer, out


def test_a_player_joins_and_plays() -> None:
    scorer = Scorer().innings("A")
    scorer.send("player", side="B", key="B77", name="Late Comer")
    assert scorer.last.joined == (Joined("B", "B77", "Late Comer"),)
    scorer.ball("4", bowler="B77")
    assert scorer.line("bowling", "B77")["runs"] == 4


@pytest.mark.parametrize("key", ["A1", "B1", "A"])
def test_a_key_in_use_is_refused(key: str) -> None:
    refusal = Scorer().check("player", side="A", key=key, name="Nobody")
    assert refusal is not None
    assert (refusal.code, refusal.field) == ("key_taken", "key")


def test_sheets_are_not_filled_past_what_the_state_holds() -> None:
    scorer = Scorer()
    for number in range(200):
        if refusal := scorer.check("player", side="A", key=f"J{number}", name="J"):
            assert refusal.code == "sheets_full"
            return
        scorer.send("player", side="A", key=f"J{number}", name="J")
    pytest.fail("200 players joined")


def test_a_batter_who_is_replaced_is_retired_and_may_come_back() -> None:
    scorer = Scorer().innings("A").play("1 1")
    scorer.send("replacement", side="A", player_in="A12", player_out="A1", reason="concussion_substitute")
    assert scorer.line("batting", "A1")["status"] == "retired not out"
    assert scorer.side()["wickets"] == 0
    scorer.ball("4", striker="A12", non_striker="A2")
    assert scorer.warnings == []
    scorer.ball(wickets=[out("bowled", "A12")])
    scorer.ball("1", striker="A1", non_striker="A2")
    assert scorer.warnings == []
    assert scorer.line("batting", "A1")["runs"] == 2


def test_a_replaced_player_who_bats_or_bowls_first_afterwards_is_a_warning() -> None:
    scorer = Scorer()
    scorer.send("replacement", side="A", player_in="A12", player_out="A2", reason="impact_player")
    scorer.send("replacement", side="B", player_in="B12", player_out="B1", reason="impact_player")
    scorer.innings("A")
    scorer.ball("0")
    assert scorer.warnings == ["replaced", "replaced"]


@pytest.mark.parametrize(("replaced", "warnings"), [(False, ["too_many_batters"]), (True, [])])
def test_one_batter_too_many_unless_somebody_was_replaced(replaced: bool, warnings: list[str]) -> None:
    scorer = Scorer(players=3).innings("A").play("1 1")
    scorer.send("retire", batter="A1", kind="hurt")
    if replaced:
        scorer.send("replacement", side="A", player_in="A4", player_out="A1", reason="concussion_substitute")
    scorer.ball("0", striker="A3", non_striker="A2")
    scorer.send("retire", batter="A3", kind="hurt")
    scorer.ball("0", striker="A4", non_striker="A2")
    assert scorer.warnings == warnings


def test_a_replacement_without_who_leaves() -> None:
    scorer = Scorer().innings("A")
    scorer.send("replacement", side="B", player_in="B12", reason="supersub")
    assert scorer.last.emits == ("replacement",)


def test_a_replacement_must_be_on_the_sheet() -> None:
    refusal = Scorer().check("replacement", side="A", player_in="Z", player_out="A1", reason="injury")
    assert refusal is not None
    assert (refusal.code, refusal.field) == ("unknown_player", "player_in")
    refusal = Scorer().check("replacement", side="A", player_in="A1", player_out="A1", reason="injury")
    assert refusal is not None
    assert refusal.code == "same_player"


def test_a_batter_is_replaced_in_his_role() -> None:
    scorer = Scorer().innings("A").play("1 1")
    scorer.send("role_replacement", role="batter", player_in="A5", player_out="A1", reason="injury")
    assert scorer.line("batting", "A1")["status"] == "retired not out"
    assert scorer.crease() == ("A5", "A2")
    scorer.ball("1")
    assert scorer.warnings == []


def test_a_batter_is_replaced_who_was_not_in() -> None:
    scorer = Scorer().innings("A").play("1")
    scorer.send("role_replacement", role="batter", player_in="A5", player_out="A4", reason="injury")
    assert scorer.warnings == ["was_away", "no_open_place"]


def test_a_batter_who_is_out_does_not_replace() -> None:
    scorer = Scorer().innings("A").play("wkt")
    refusal = scorer.check("role_replacement", role="batter", player_in="A1", reason="injury")
    assert refusal is not None
    assert refusal.code == "already_out"


def test_a_substitute_with_a_key_joins_and_has_a_line() -> None:
    scorer = Scorer().innings("A")
    scorer.send("substitute", side="B", name="Sub Fielder", player="SUB", player_out="B9")
    assert scorer.last.joined == (Joined("B", "SUB", "Sub Fielder"),)
    fielder = {"player": "SUB", "substitute": True}
    scorer.ball(wickets=[{"kind": "caught", "out": "A1", "fielders": [fielder]}])
    assert scorer.line("fielding", "SUB")["catches"] == 1


def test_a_substitute_by_name_is_only_logged() -> None:
    scorer = Scorer().innings("A")
    before = scorer.state
    scorer.send("substitute", side="B", name="Sub Fielder")
    assert scorer.state == before
    assert scorer.last.emits == ("substitute",)


def test_a_substitute_of_the_other_side_is_refused() -> None:
    refusal = Scorer().check("substitute", side="B", name="X", player="A4")
    assert refusal is not None
    assert refusal.code == "wrong_side"
