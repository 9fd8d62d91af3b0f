"""What can be opened."""

from typing import Any

import msgspec
import pytest

from scorebox_cricket import SPORT
from tests.sports.cricket.play import opening


def _refused(plain: dict[str, Any]) -> str | None:
    refusal = SPORT.check_opening(msgspec.convert(plain, SPORT.opening))
    return None if refusal is None else refusal.code


def test_an_ordinary_opening_is_played() -> None:
    assert _refused(opening()) is None


def test_a_match_has_two_sides() -> None:
    plain = opening()
    plain["sides"].append({"key": "C", "name": "Gamma"})
    assert _refused(plain) == "two_sides"


@pytest.mark.parametrize(("side", "key"), [(1, "A1"), (1, "B"), (0, "A2")])
def test_keys_are_used_once(side: int, key: str) -> None:
    plain = opening()
    plain["sides"][side]["players"].append({"key": key, "name": "Twice"})
    assert _refused(plain) == "key_taken"


def test_a_follow_on_needs_two_innings_a_side() -> None:
    assert _refused(opening(follow_on_lead=100)) == "format"
    assert _refused(opening(follow_on_lead=100, innings_a_side=2)) is None


def test_sheets_past_what_the_state_holds_are_refused() -> None:
    assert _refused(opening(squad=60)) == "sheets_full"


@pytest.mark.parametrize(
    ("field", "value"),
    [("innings_a_side", 3), ("balls_an_over", 0), ("overs", 0), ("players", 1), ("nonsense", 1)],
)
def test_a_bad_format_names_its_field(field: str, value: int) -> None:
    given: dict[str, Any] = {field: value}
    plain = opening(**given)
    with pytest.raises(msgspec.ValidationError, match=field if field == "nonsense" else rf"format\.{field}"):
        msgspec.convert(plain, SPORT.opening)
