"""What msgspec says of a value that does not fit, taken apart."""

from typing import Any

import msgspec
import pytest

from gateway.misfit import misfit


class Player(msgspec.Struct, forbid_unknown_fields=True):
    name: str


class Side(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    players: list[Player] = []
    scores: dict[str, int] = {}


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ([], None),
        ({}, "key"),
        ({"key": 7}, "key"),
        ({"key": "A", "colour": "red"}, "colour"),
        ({"key": "A", "players": [{"name": "Ann"}, {}]}, "players[1].name"),
        ({"key": "A", "players": [{"name": 7}]}, "players[0].name"),
        ({"key": "A", "scores": {"one": "x"}}, "scores[...]"),
    ],
)
def test_the_field_is_named_and_the_sentence_is_plain(value: Any, field: str | None) -> None:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert(value, Side)
    where, sentence = misfit(str(error.value))
    assert where == field
    assert sentence
    assert "`" not in sentence
    assert "$" not in sentence
