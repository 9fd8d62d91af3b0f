"""The ruling follows from the log's rows alone; the standing from it and from whether the match is over."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import road
from gateway.corrections import INPUTS
from gateway.effective import MOVE, Row, effective
from gateway.flags import FLAG, flags_of
from gateway.marks import QUIET, UNMARKED, mark, marks_of
from gateway.protocol import CommandFrame
from gateway.quiet import CannotMark, QuietRow
from gateway.ruling import OFFICIAL, REOPEN, Ruling, rule, ruling_of, shown, standing_of

WHY = {"reason": "the equaliser was overturned"}
MADE = Ruling(True, 1, "", "ann", 9)
OPENED = Ruling(False, 1, WHY["reason"], "bob", 11)


def official(seq: int, by: str = "ann", **given: Any) -> QuietRow:
    return QuietRow(seq, by, OFFICIAL, given)


def reopen(seq: int, by: str = "bob", **given: Any) -> QuietRow:
    return QuietRow(seq, by, REOPEN, given or WHY)


def test_a_final_score_is_provisional_until_it_is_made_official() -> None:
    assert standing_of(None, over=False) is None
    assert standing_of(None, over=True) == "provisional"
    assert standing_of(rule(None, official(9), over=True), over=True) == "official"


def test_a_score_made_official_again_is_the_second_revision() -> None:
    rows = [official(9), reopen(11), official(14, reason="as the referee reports")]
    assert [ruling_of(rows[:count]) for count in range(4)] == [
        None,
        MADE,
        OPENED,
        Ruling(True, 2, "as the referee reports", "ann", 14),
    ]


@pytest.mark.parametrize("over", [True, False])
def test_it_stays_reopened_until_it_is_official_again(over: bool) -> None:
    assert shown(OPENED, over=over) == {
        "standing": "reopened",
        "revision": 1,
        "ruling": {"reason": WHY["reason"], "by": "bob", "since_seq": 11},
    }


@pytest.mark.parametrize(
    ("ruling", "row", "over", "code", "field"),
    [
        (None, official(9), False, "not_over", ""),
        (OPENED, official(12), False, "not_over", ""),
        (MADE, official(12), True, "official", ""),
        (None, reopen(9), True, "not_official", ""),
        (OPENED, reopen(12), True, "not_official", ""),
        (MADE, reopen(12, reason=""), True, "invalid_input", "reason"),
        (MADE, QuietRow(12, "bob", REOPEN, {}), True, "invalid_input", "reason"),
        (None, official(9, by_whom="x"), True, "invalid_input", "by_whom"),
        (None, official(9, reason=7), True, "invalid_input", "reason"),
        (None, official(9, reason="x" * 501), True, "invalid_input", "reason"),
    ],
)
def test_what_cannot_be_has_a_code_of_its_own(
    ruling: Ruling | None, row: QuietRow, over: bool, code: str, field: str
) -> None:
    with pytest.raises(CannotMark) as refused:
        rule(ruling, row, over=over)
    assert (refused.value.code, refused.value.field) == (code, field)


def frame(code: str, given: dict[str, Any]) -> CommandFrame:
    return CommandFrame("6f1c0f0e-43f4-4b5e-9a53-0c3d6b1f4a01", "m", code, given, 9)


@pytest.mark.parametrize("code", ["cricket.delivery", *(INPUTS.keys() - {"match.rebuild"}), "match.unknown"])
def test_while_it_is_official_nothing_is_played_and_nothing_corrected(code: str) -> None:
    refused = road.closed(frame(code, {}), "m", MADE)
    assert refused is not None
    assert (refused.code, refused.overridable) == ("official", False)
    assert "match.reopen" in refused.sentence
    assert road.closed(frame(code, {}), "m", OPENED) is None
    assert road.closed(frame(code, {}), "m", None) is None


@pytest.mark.parametrize("code", ["match.rebuild", MOVE])
def test_an_official_score_can_be_worked_out_anew_but_not_by_force(code: str) -> None:
    assert road.closed(frame(code, {"reason": "a wrong line"}), "m", MADE) is None
    assert road.closed(frame(code, {"reason": "a wrong line", "force": True}), "m", MADE) is not None


@pytest.mark.parametrize("code", sorted(QUIET))
def test_marks_go_through_while_it_is_official(code: str) -> None:
    assert road.closed(frame(code, {}), "m", MADE) is None


def test_a_ruling_is_no_event_of_the_effective_log() -> None:
    play = [Row(seq, "cricket.over", {}) for seq in (2, 5)]
    rulings = [Row(3, OFFICIAL, {}), Row(4, REOPEN, dict(WHY))]
    assert effective([play[0], *rulings, play[1]]) == effective(play)


tried = st.lists(
    st.tuples(
        st.sampled_from(
            [
                (OFFICIAL, {}),
                (REOPEN, WHY),
                (FLAG, {"flag": "uncertain", "on": True, "reason": "x"}),
                (FLAG, {"flag": "uncertain", "on": False, "reason": "x"}),
                (FLAG, {"flag": "under_review", "on": True, "reason": "x"}),
            ]
        ),
        st.booleans(),
    ),
    max_size=30,
)


@given(tried)
def test_what_was_taken_one_by_one_is_read_back_from_the_log(tries: list[Any]) -> None:
    marks, log = UNMARKED, []
    for seq, ((code, typed), over) in enumerate(tries, 2):
        row = QuietRow(seq, "ann", code, typed)
        try:
            marks, word = mark(marks, row, over=over)
        except CannotMark:
            continue
        assert word in {"flagged", standing_of(marks.ruling, over=over)}
        if code == OFFICIAL:
            assert over, "only what is over was made official"
        log.append(row)
    assert marks_of(log) == marks
    assert marks.flags == flags_of(row for row in log if row.code == FLAG), "each keeps to its own rows"
    rulings = [row for row in log if row.code != FLAG]
    assert ruling_of(rulings) == marks.ruling
    assert all(before.code != after.code for before, after in pairwise(rulings)), "they take turns"
    revisions = sum(row.code == OFFICIAL for row in rulings)
    assert shown(marks.ruling, over=True)["revision"] == revisions
