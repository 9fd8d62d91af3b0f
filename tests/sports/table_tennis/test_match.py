"""Games, matches and ends (Laws 2.11 to 2.13), conduct, and matches that end otherwise."""

from typing import Any

import msgspec
import pytest

from scorebox_table_tennis import SPORT
from tests.sports.table_tennis.play import Scorer


def test_a_game_is_won_at_eleven_two_clear():
    match = Scorer().to(10, 10).play("ABABA")
    assert match.games == []
    match.play("A")
    assert match.games == [[14, 12]]
    assert "game_end" in match.last.emits
    assert match.lines["game-1", "side", "A"]["won"] is True
    assert match.lines["game-1", "side", "B"]["points"] == 12
    assert match.phase == "interval"


def test_most_games_win_the_match():
    match = Scorer(games=3).game("A").to(4, 10).play("B").game("A")
    assert match.text == "Alpha won 2–1 (11–0, 4–11, 11–0)"
    assert match.result is not None
    assert match.result.margin == {"games": 2, "against": 1}
    assert "match_end" in match.last.emits
    refusal = match.check("point", winner="B")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("match_over", True)
    assert match.check("officials", umpire="C") is None


def test_a_decided_match_may_be_played_out_but_not_beyond_its_games():
    match = Scorer(games=3).game("A").game("A")
    match.point("B", override=("match_over",))
    assert match.text is not None
    assert match.text.startswith("Alpha won 2–0")
    for _ in range(10):
        match.point("B", override=("match_over",))
    refusal = match.check("point", winner="B", override=("match_over",))
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("no_game_left", False)


def test_ends_change_after_each_game_and_at_five_in_the_last():
    match = Scorer(games=3)
    match.send("toss", winner="B", choice="end", serves="A", left="B")
    assert match.show["left"] == "B"
    match.game("A")
    assert match.show["left"] == "A"
    match.game("B")
    assert match.show["left"] == "B"
    match.to(4, 4)
    assert match.show["left"] == "B"
    match.point("B")
    assert match.show["left"] == "A"
    match.point("A")
    assert match.last.emits == ()
    assert match.show["left"] == "A", "once only"


def test_in_games_to_21_the_last_game_changes_ends_at_ten():
    match = Scorer(games=1, points=21).to(9, 9)
    match.point("A")
    assert match.last.emits == ("ends",)


def test_the_toss_tells_the_first_server():
    match = Scorer()
    match.send("toss", winner="A", choice="receive")
    assert match.service == ("B1", "A1")
    refusal = match.check("toss", winner="A", choice="receive", serves="A")
    assert refusal is not None
    assert refusal.code == "toss_contradicts"
    match.play("A")
    late = match.check("toss", winner="A", choice="serve")
    assert late is not None
    assert late.overridable


def test_a_let_changes_nothing_but_is_told():
    match = Scorer().play("AB")
    before = match.state
    match.send("let")
    assert match.last.emits == ("let",)
    assert match.state == before


def test_one_time_out_a_side():
    match = Scorer().play("A")
    match.send("time_out", side="A")
    assert match.phase == "interval"
    assert match.show["time_outs_left"] == {"A": 0, "B": 1}
    match.play("B")
    assert match.phase == "play"
    refusal = match.check("time_out", side="A")
    assert refusal is not None
    assert refusal.overridable
    match.send("time_out", side="A", override=("time_out_taken",))
    assert match.lines["match", "match", "A"]["time_outs"] == 2


def test_cards_warn_then_give_one_point_then_two():
    match = Scorer().play("A")
    match.send("card", side="A", kind="yellow", player="A1")
    assert match.warnings == []
    assert match.score == [1, 0]
    match.send("card", side="A", kind="yellow_red")
    assert match.score == [1, 1]
    match.send("card", side="A", kind="yellow_red")
    assert match.score == [1, 3]
    assert match.lines["game-1", "side", "B"]["penalty"] == 3
    assert match.lines["match", "match", "A"]["yellow_red_cards"] == 2
    match.send("card", side="A", kind="red")
    assert match.text == "Beta won 0–0 (3–1), Alpha disqualified"


def test_penalty_points_that_a_game_does_not_need_go_to_the_next():
    match = Scorer().to(0, 10)
    match.send("card", side="A", kind="yellow_red")
    assert match.warnings == ["not_warned"]
    assert match.games == [[0, 11]]
    match.to(0, 10)
    match.send("card", side="A", kind="yellow_red")
    assert match.games == [[0, 11], [0, 11]]
    assert match.score == [0, 1]
    assert match.lines["game-2", "side", "B"]["penalty"] == 1
    assert match.lines["game-3", "side", "B"]["penalty"] == 1


def test_a_coach_is_carded_apart():
    match = Scorer().play("A")
    before = match.state
    match.send("card", side="A", kind="red", coach=True)
    assert match.state == before
    refusal = match.check("card", side="A", kind="yellow_red", coach=True)
    assert refusal is not None
    assert not refusal.overridable


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("retire", "Beta won 0–1 (0–11, 0–1), Alpha retired"),
        ("disqualify", "Beta won 0–1 (0–11, 0–1), Alpha disqualified"),
    ],
)
def test_who_does_not_go_on_loses_and_the_score_stays(code: str, text: str):
    match = Scorer().game("A").play("A")
    match.send(code, side="A")
    assert match.text == text
    assert match.games == [[11, 0]]
    assert match.score == [1, 0]
    match.point("B", override=("match_over",))
    assert "match_reopened" in match.last.emits
    assert match.result is None


def test_a_walkover_has_no_score():
    match = Scorer()
    match.send("walkover", side="B")
    assert match.text == "Alpha won, walkover"
    assert match.result is not None
    assert match.result.margin == {}
    assert [side.score for side in SPORT.summary(match.state).sides] == ["", ""]
    begun = Scorer().play("A").check("walkover", side="B")
    assert begun is not None
    assert begun.overridable


def test_an_abandoned_match_ranks_nobody():
    match = Scorer().play("AAB")
    match.send("abandon")
    assert match.text == "Abandoned (2–1)"


def test_a_match_abandoned_before_its_first_point_was_nil_nil():
    match = Scorer()
    assert [side.score for side in SPORT.summary(match.state).sides] == ["0", "0"]
    match.send("abandon")
    assert match.text == "Abandoned"
    assert [side.score for side in SPORT.summary(match.state).sides] == ["", ""]
    begun = Scorer().play("A")
    begun.send("abandon")
    assert [side.score for side in SPORT.summary(begun.state).sides] == ["0", "0"]


def test_strangers_are_refused_for_good():
    match = Scorer()
    commands: tuple[tuple[str, dict[str, Any]], ...] = (
        ("point", {"winner": "C"}),
        ("point", {"winner": "A", "server": "C1"}),
        ("time_out", {"side": "C"}),
        ("card", {"side": "A", "kind": "yellow", "player": "B1"}),
        ("service", {"server": "A1", "receiver": "A1"}),
    )
    for code, given in commands:
        refusal = match.check(code, **given)
        assert refusal is not None, code
        assert not refusal.overridable


def test_undo_across_a_game_boundary_by_replay_gives_the_server_and_the_ends():
    match = Scorer(games=3)
    match.send("toss", winner="A", choice="serve", left="A")
    match.to(10, 7)
    before, service, left = match.state, match.service, match.show["left"]
    match.point("A")
    assert match.service != service
    assert match.show["left"] != left
    again = Scorer(games=3)
    for event in match.log[:-1]:
        again.send(event.code.removeprefix("table_tennis."), **_plain(event.input))
    assert again.state == before
    assert (again.service, again.show["left"]) == (service, left)


def _plain(given: Any) -> dict[str, Any]:
    return {key: value for key, value in msgspec.to_builtins(given).items() if value is not None}
