"""Flags follow from the log's rows alone."""

import msgspec
import pytest

from gateway.effective import Row, effective
from gateway.flags import FLAG, Raised, flags_of, put, read_flag
from gateway.quiet import CannotMark, QuietRow


def row(seq: int, flag: str, on: bool, reason: str = "two scorers differ", by: str = "ann") -> QuietRow:
    return QuietRow(seq, by, FLAG, {"flag": flag, "on": on, "reason": reason})


def test_a_flag_is_up_until_it_is_taken_down() -> None:
    up = [row(4, "uncertain", True), row(6, "under_review", True, "was it a no-ball?", "bob")]
    assert flags_of(up) == {
        "uncertain": Raised("two scorers differ", "ann", 4),
        "under_review": Raised("was it a no-ball?", "bob", 6),
    }
    assert list(flags_of([*up, row(9, "uncertain", False, "counted again")])) == ["under_review"]


def test_a_flag_put_up_again_keeps_its_seq_and_gets_the_new_reason() -> None:
    rows = [row(4, "uncertain", True), row(8, "uncertain", True, "three differ", "bob")]
    assert flags_of(rows) == {"uncertain": Raised("three differ", "bob", 4)}


def test_a_flag_that_is_not_up_cannot_be_taken_down() -> None:
    with pytest.raises(CannotMark, match="not marked as under review") as refused:
        put({}, read_flag(row(4, "under_review", False).input), seq=4, by="ann")
    assert refused.value.field == "flag"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"flag": "wrong", "on": True, "reason": "x"}, "flag"),
        ({"flag": "uncertain", "on": 1, "reason": "x"}, "on"),
        ({"flag": "uncertain", "on": True, "reason": ""}, "reason"),
        ({"flag": "uncertain", "on": True}, "reason"),
        ({"flag": "uncertain", "on": True, "reason": "x", "by": "y"}, "by"),
    ],
)
def test_an_input_that_cannot_be_names_its_field(given: dict[str, object], field: str) -> None:
    with pytest.raises(CannotMark) as refused:
        read_flag(given)
    assert refused.value.field == field


def test_a_flag_is_no_event_of_the_effective_log() -> None:
    play = [Row(seq, "cricket.over", {}) for seq in (2, 4)]
    flag = Row(3, FLAG, msgspec.to_builtins(row(3, "uncertain", True).input))
    assert effective([play[0], flag, play[1]]) == effective(play)
