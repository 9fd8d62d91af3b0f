import itertools
from collections.abc import Callable
from uuid import UUID

import pytest

from gateway.entrants import KnownParty, find_entrants
from gateway.records import NewCompetitor


def ids() -> Callable[[], UUID]:
    numbers = itertools.count(1)
    return lambda: UUID(int=next(numbers))


OLD = UUID(int=1000)


def test_sides_and_players_nest_in_order():
    entrants = find_entrants(
        [NewCompetitor("A", "Alpha"), NewCompetitor("a1", "Ann", "A"), NewCompetitor("a2", "Bea", "A")],
        {},
        [],
        "TEAM",
        ids(),
    )
    side, first, second = entrants
    assert (side.parent, first.parent, second.parent) == (None, side.id, side.id)
    assert [each.ordinal for each in entrants] == [0, 0, 1]
    assert [each.type for each in entrants] == ["TEAM", "PERSON", "PERSON"]
    assert all(each.made for each in entrants)


def test_an_outside_id_beats_everything():
    (entrant,) = find_entrants(
        [NewCompetitor("A", "Alpha", None, "s", "1")], {("s", "1"): OLD}, [], "TEAM", ids()
    )
    assert (entrant.participant, entrant.made, entrant.linked) == (OLD, False, False)


def test_an_outside_id_comes_once_in_a_match():
    competitors = [
        NewCompetitor("A", "Alpha"),
        NewCompetitor("a1", "Ann", "A", "s", "1"),
        NewCompetitor("a2", "Bea", "A", "s", "1"),
    ]
    for known in ({}, {("s", "1"): OLD}):
        with pytest.raises(ValueError, match="'1' of s comes twice"):
            find_entrants(competitors, known, [], "TEAM", ids())


@pytest.mark.parametrize("by_key_first", [True, False])
def test_nobody_is_in_a_match_twice(by_key_first: bool):
    players = [NewCompetitor("a1", "Ann", "A"), NewCompetitor("a2", "Ann", "A", "s", "1")]
    side, *entrants = find_entrants(
        [NewCompetitor("A", "Alpha"), *(players if by_key_first else reversed(players))],
        {("s", "1"): OLD},
        [KnownParty(OLD, "a1", "PERSON", "Ann", frozenset({"s"}))],
        "TEAM",
        ids(),
    )
    bound = {each.competitor.key: each.participant for each in entrants}
    assert bound["a2"] == OLD
    assert bound["a1"] not in (OLD, side.participant)


def test_a_party_of_the_same_code_and_name_is_linked_to_the_outside_id():
    known = KnownParty(OLD, "A", "TEAM", "ALPHA", frozenset({"other"}))
    (entrant,) = find_entrants([NewCompetitor("A", "Alpha", None, "s", "1")], {}, [known], "TEAM", ids())
    assert (entrant.participant, entrant.made, entrant.linked) == (OLD, False, True)


@pytest.mark.parametrize(
    "known",
    [
        KnownParty(OLD, "A", "TEAM", "Another", frozenset()),
        KnownParty(OLD, "A", "PERSON", "Alpha", frozenset()),
        KnownParty(OLD, "A", "TEAM", "Alpha", frozenset({"s"})),
    ],
)
def test_somebody_else_with_the_code_is_somebody_else(known: KnownParty):
    (entrant,) = find_entrants([NewCompetitor("A", "Alpha", None, "s", "1")], {}, [known], "TEAM", ids())
    assert entrant.made
    assert entrant.participant != OLD
    assert entrant.code == f"A-{entrant.participant.hex[-12:]}"


def test_a_long_key_that_is_taken_still_fits():
    key = "k" * 64
    known = KnownParty(OLD, key, "TEAM", "Another", frozenset())
    (entrant,) = find_entrants([NewCompetitor(key, "Alpha")], {}, [known], "TEAM", ids())
    assert len(entrant.code) == 64


def test_a_key_twice_and_a_side_unknown_are_refused():
    with pytest.raises(ValueError, match="comes twice"):
        find_entrants([NewCompetitor("A", "x"), NewCompetitor("A", "y")], {}, [], "TEAM", ids())
    with pytest.raises(ValueError, match="no side"):
        find_entrants([NewCompetitor("p", "P", "A"), NewCompetitor("A", "x")], {}, [], "TEAM", ids())
