"""Who serves and receives (Law 2.13), errors of the order (2.14), the expedite system (2.15)."""

import pytest

from tests.sports.table_tennis.play import Scorer


def toss(match: Scorer, *, serves: str = "A") -> Scorer:
    match.send("toss", winner=serves, choice="serve", left="A")
    return match


def servers(match: Scorer, rallies: str) -> list[str]:
    found = []
    for winner in rallies:
        found.append(match.service[0])
        match.point(winner)
    return found


def test_service_changes_every_two_points_and_each_from_ten_all():
    match = toss(Scorer())
    assert servers(match, "ABABABABABABABABABAB") == ["A1", "A1", "B1", "B1"] * 5
    assert match.score == [10, 10]
    assert servers(match, "ABAB") == ["A1", "B1", "A1", "B1"]


def test_service_changes_every_five_points_in_games_to_21():
    match = toss(Scorer(points=21))
    assert servers(match, "AB" * 10) == (["A1"] * 5 + ["B1"] * 5) * 2
    match.to(20, 20)
    assert servers(match, "ABA") == ["A1", "B1", "A1"]


def test_who_served_first_receives_first_in_the_next_game():
    match = toss(Scorer(), serves="B").game("A")
    assert match.service == ("A1", "B1")
    match.game("A")
    assert match.service == ("B1", "A1")


def test_pairs_serve_in_a_cycle_of_four():
    match = toss(Scorer(pairs=True))
    match.send("service", server="A2", receiver="B1")
    order = []
    for winner in "ABABABABAB":
        order.append(match.service)
        match.point(winner)
    turn = [("A2", "B1"), ("B1", "A1"), ("A1", "B2"), ("B2", "A2"), ("A2", "B1")]
    assert order == [pair for pair in turn for _ in range(2)]


@pytest.mark.parametrize(("server", "receiver"), [("B1", "A2"), ("B2", "A1")])
def test_the_first_receiver_of_the_next_game_is_who_served_to_that_player(server: str, receiver: str):
    match = toss(Scorer(pairs=True))
    match.send("service", server="A2", receiver="B1")
    match.game("A")
    match.send("service", server=server)
    assert match.service == (server, receiver)
    assert match.warnings == []


def test_another_first_receiver_than_the_laws_is_taken_with_a_warning():
    match = toss(Scorer(pairs=True))
    match.send("service", server="A2", receiver="B1")
    match.game("A")
    match.send("service", server="B1", receiver="A1")
    assert match.warnings == ["receiving_order"]
    assert match.service == ("B1", "A1")


def test_the_pair_due_to_receive_changes_its_order_at_five_in_the_last_game():
    match = toss(Scorer(pairs=True, games=1))
    match.send("service", server="A1", receiver="B1")
    match.play("AAAA")
    assert match.service == ("A2", "B2")
    match.point("A")
    assert match.score == [5, 0]
    assert match.last.emits == ("ends",)
    assert match.service == ("A2", "B1")
    match.point("A")
    assert match.service == ("B1", "A1")
    match.play("AA")
    assert match.service == ("A1", "B2")


def test_a_server_out_of_turn_is_warned_of_and_the_point_counts():
    match = toss(Scorer()).play("AB")
    match.point("A", server="A1")
    assert match.warnings == ["server_out_of_turn"]
    assert "Beta 1's turn" in match.last.warnings[0].sentence
    assert match.score == [2, 1]
    assert match.lines["game-1", "player", "A1"]["serves"] == 3
    assert match.service == ("B1", "A1")


def test_the_first_point_without_a_toss_takes_the_side_named_first_with_a_warning():
    match = Scorer().play("A")
    assert match.warnings == ["server_assumed"]
    assert match.service == ("A1", "B1")
    typed = Scorer()
    typed.point("A", server="B1")
    assert typed.warnings == []
    assert typed.service == ("B1", "A1")


def test_pairs_that_nobody_ordered_are_taken_as_named_with_a_warning():
    match = toss(Scorer(pairs=True)).play("A")
    assert match.warnings == ["order_assumed"]
    assert match.service == ("A1", "B1")


def test_the_umpires_word_on_who_serves_now_holds_for_what_follows():
    match = toss(Scorer()).play("ABA")
    match.send("service", server="A1")
    assert match.warnings == ["service_order"]
    assert match.service == ("A1", "B1")
    match.play("A")
    assert match.service == ("B1", "A1")
    match.game("A")
    assert match.service == ("A1", "B1"), "B served first in game 1, as it now stands"


def test_expedite_in_a_rally_leaves_the_server_and_then_every_point_changes():
    match = toss(Scorer()).play("A")
    match.send("expedite", in_play=True)
    assert servers(match, "ABAB") == ["A1", "B1", "A1", "B1"]


def test_expedite_between_rallies_gives_service_to_who_received():
    match = toss(Scorer()).play("A")
    match.send("expedite")
    assert servers(match, "ABA") == ["B1", "A1", "B1"]
    match.game("A")
    assert match.show["expedite"], "it stays until the match ends"
    assert servers(match, "ABA") == ["B1", "A1", "B1"]


def test_expedite_after_eighteen_points_needs_both_sides_request():
    match = toss(Scorer()).to(9, 9)
    refusal = match.check("expedite")
    assert refusal is not None
    assert (refusal.code, refusal.overridable) == ("expedite_late", True)
    assert match.check("expedite", requested=True) is None
    match.send("expedite", requested=True)
    again = match.check("expedite", requested=True)
    assert again is not None
    assert not again.overridable


def test_thirteen_returns_win_the_receiver_the_point():
    match = toss(Scorer()).play("A")
    match.send("expedite", in_play=True)
    match.point("A", returns=13)
    assert match.warnings == ["thirteen_returns"]
    match.point("A", returns=13)
    assert match.warnings == []
    assert match.score == [3, 0]
