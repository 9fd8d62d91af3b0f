"""The score set by hand: a checkpoint from which play goes on."""

from typing import Any

from tests.sports.table_tennis.play import Scorer


def points(first: int, second: int) -> dict[str, int]:
    return {"first": first, "second": second}


def put(match: Scorer, games: list[tuple[int, int]], now: tuple[int, int], **given: Any) -> None:
    match.send(
        "set_score", games=[points(*game) for game in games], points=points(*now), reason="mishap", **given
    )


def test_play_goes_on_from_the_score_with_the_laws_service():
    match = Scorer()
    match.send("toss", winner="A", choice="serve", left="A")
    put(match, [(11, 7)], (3, 2))
    assert match.games == [[11, 7]]
    assert match.score == [3, 2]
    assert match.service == ("B1", "A1"), "B serves first in game 2, and again after four points"
    assert match.show["left"] == "B"
    match.play("A")
    assert match.score == [4, 2]
    assert match.lines["game-2", "side", "A"] == {
        "points": 4, "serves": 0, "serves_won": 0, "receives_won": 1, "penalty": 0, "won": False, "set": True,
    }  # fmt: skip


def test_what_agrees_with_the_new_score_stays_as_it_was_counted():
    match = Scorer().game("A").play("ABB")
    counted = match.lines["game-1", "side", "A"]
    put(match, [(11, 0)], (2, 2))
    assert match.lines["game-1", "side", "A"] == counted
    assert match.state["games"][0]["set"] is False


def test_games_that_are_gone_stand_at_nothing():
    match = Scorer().game("A").game("B").play("AAA")
    put(match, [], (10, 9))
    for number in (2, 3):
        assert match.lines[f"game-{number}", "side", "A"]["points"] == 0
    assert match.lines["match", "match", "A"]["points"] == 10
    assert match.lines["match", "match", "B"]["games"] == 0


def test_server_receiver_and_ends_can_be_said():
    match = Scorer(pairs=True, games=3)
    put(match, [(11, 5), (5, 11)], (6, 4), server="B2", receiver="A1", left="B", expedite=True)
    assert match.service == ("B2", "A1")
    assert match.show["left"] == "B"
    assert match.show["expedite"] is True
    match.play("A")
    assert match.service == ("A1", "B1")
    assert match.show["left"] == "B", "ends have changed at five already"


def test_a_score_that_wins_the_match_ends_it_and_one_that_does_not_reopens_it():
    match = Scorer(games=3)
    put(match, [(11, 5), (11, 9)], (0, 0))
    assert match.text == "Alpha won 2–0 (11–5, 11–9)"
    assert "match_end" in match.last.emits
    put(match, [(11, 5)], (10, 9), override=("match_over",))
    assert match.result is None
    assert "match_reopened" in match.last.emits


def test_scores_that_cannot_be_are_refused():
    match = Scorer(games=3)

    def refused(games: list[tuple[int, int]], now: tuple[int, int]) -> tuple[str, bool] | None:
        refusal = match.check(
            "set_score", games=[points(*game) for game in games], points=points(*now), reason="mishap"
        )
        return None if refusal is None else (refusal.code, refusal.overridable)

    assert refused([(11, 10)], (0, 0)) == ("game_not_won", False)
    assert refused([(14, 11)], (0, 0)) == ("game_played_on", True)
    assert refused([(11, 4)], (11, 3)) == ("game_over", False)
    assert refused([(11, 4), (11, 4), (11, 4)], (0, 0)) == ("match_won", True)
    assert refused([(11, 4)] * 4, (0, 0)) == ("too_many_games", False)
    assert refused([(11, 4), (4, 11), (11, 4)], (1, 0)) == ("no_game_left", False)
    assert refused([(13, 11)], (10, 10)) is None


def test_whoever_the_screen_shows_serves_when_nobody_ever_said_it():
    for games, now in (([], (3, 4)), ([(11, 7)], (0, 0)), ([(11, 7)], (3, 0))):
        for pairs in (False, True):
            match = Scorer(pairs=pairs)
            put(match, games, now)
            server, receiver = match.service
            match.play("A")
            assert match.warnings == ["server_assumed"]
            said = {"A1": "Alpha 1", "A2": "Alpha 2", "B1": "Beta 1", "B2": "Beta 2"}[server]
            assert said in match.last.warnings[0].sentence
            part = f"game-{len(games) + 1}"
            assert match.lines[part, "player", server]["serves"] == 1
            assert match.lines[part, "player", receiver]["receives"] == 1
