"""The effective log: every kind of correction, and what must hold for any of them in any order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.effective import (
    AMEND,
    CORRECT,
    INSERT,
    REVERT,
    UNDO,
    VOID,
    CannotEdit,
    Entry,
    Name,
    Row,
    edit,
    effective,
    first_difference,
    newest,
    standing,
)


def ball(seq: int, bat: int = 0) -> Row:
    return Row(seq, "cricket.delivery", {"bat": bat or seq})


def undo(seq: int, rows: list[Row]) -> Row:
    name = newest(effective(rows)).name
    return Row(seq, UNDO, {}, resolved={"event": [name.seq, name.place]})


def bats(rows: list[Row]) -> list[int]:
    return [entry.input["bat"] for entry in standing(effective(rows))]


def test_two_undos_take_two() -> None:
    rows = [ball(2), ball(3), ball(4)]
    rows.append(undo(5, rows))
    rows.append(undo(6, rows))
    assert bats(rows) == [2]
    rows.append(ball(7))
    assert bats(rows) == [2, 7]


def test_a_corrected_event_keeps_its_place_and_says_who_revised_it() -> None:
    rows = [ball(2), ball(3), ball(4), Row(5, CORRECT, {"event": 3, "input": {"bat": 9}, "reason": "a four"})]
    assert bats(rows) == [2, 9, 4]
    assert effective(rows)[1].revised == (5,)
    rows.append(Row(6, CORRECT, {"event": 3, "input": {"bat": 6}}))
    assert bats(rows) == [2, 6, 4]
    assert effective(rows)[1].revised == (5, 6)


def test_a_correction_with_a_null_code_keeps_the_code() -> None:
    rows = [ball(2), Row(3, CORRECT, {"event": 2, "input": {"bat": 9}, "code": None, "reason": "a four"})]
    assert [entry.code for entry in effective(rows)] == ["cricket.delivery"]


def test_inserts_go_directly_after_their_anchor_as_the_list_stood() -> None:
    rows = [ball(2), ball(3)]
    rows.append(Row(4, INSERT, {"after": 2, "code": "cricket.delivery", "input": {"bat": 40}}))
    rows.append(Row(5, INSERT, {"after": 2, "code": "cricket.delivery", "input": {"bat": 50}}))
    rows.append(Row(6, INSERT, {"after": 4, "code": "cricket.delivery", "input": {"bat": 60}}))
    rows.append(Row(7, INSERT, {"after": 1, "code": "cricket.delivery", "input": {"bat": 70}}))
    assert bats(rows) == [70, 2, 50, 40, 60, 3]


def test_a_voided_event_is_an_anchor_still() -> None:
    rows = [ball(2), ball(3), Row(4, VOID, {"event": 2})]
    rows.append(Row(5, INSERT, {"after": 2, "code": "cricket.delivery", "input": {"bat": 50}}))
    assert bats(rows) == [50, 3]


def test_an_amendment_does_all_of_it_and_names_its_inserts() -> None:
    edits: list[dict[str, Any]] = [
        {"edit": "void", "event": 2},
        {"edit": "correct", "event": 3, "input": {"bat": 30}},
        {"edit": "insert", "after": 3, "code": "cricket.delivery", "input": {"bat": 31}},
        {"edit": "insert", "after": 3, "code": "cricket.delivery", "input": {"bat": 32}},
    ]
    rows = [ball(2), ball(3), Row(4, AMEND, {"edits": edits})]
    assert bats(rows) == [30, 32, 31]
    assert [entry.name for entry in standing(effective(rows))] == [Name(3), Name(4, 1), Name(4, 0)]
    rows.append(Row(5, VOID, {"event": 4, "event_place": 1}))
    assert bats(rows) == [30, 31]


def test_a_revert_takes_a_correction_back_and_a_revert_of_it_brings_it_again() -> None:
    rows = [ball(2), ball(3), Row(4, VOID, {"event": 2})]
    assert bats(rows) == [3]
    rows.append(Row(5, REVERT, {"seq": 4}))
    assert bats(rows) == [2, 3]
    rows.append(Row(6, REVERT, {"seq": 5}))
    assert bats(rows) == [3]
    rows.append(Row(7, REVERT, {"seq": 6}))
    assert bats(rows) == [2, 3]


def test_an_undo_still_means_the_same_event_when_another_correction_is_reverted() -> None:
    rows = [ball(2), ball(3), Row(4, VOID, {"event": 3})]
    rows.append(undo(5, rows))
    assert bats(rows) == []
    rows.append(Row(6, REVERT, {"seq": 4}))
    assert bats(rows) == [3]


def test_what_was_passed_over_by_force_stays_visible() -> None:
    rows = [ball(2), ball(3), ball(4), Row(5, VOID, {"event": 2}, resolved={"skipped": [[3, 0]]})]
    assert bats(rows) == [4]
    assert [(entry.voided, entry.skipped) for entry in effective(rows)] == [
        (True, False),
        (False, True),
        (False, False),
    ]


def test_what_was_passed_over_stays_so_until_an_edit_tries_it_again() -> None:
    rows = [ball(2), ball(3), Row(4, VOID, {"event": 2}, resolved={"skipped": [[3, 0]]}), ball(5)]
    from_memory = Row(6, UNDO, {}, resolved={"event": [5, 0]})
    assert bats([*rows, from_memory]) == []
    assert bats([*rows, Row(6, "match.rebuild", {}, resolved={"skipped": [[5, 0]]})]) == []
    assert bats([*rows, Row(6, UNDO, {}, resolved={"event": [5, 0], "skipped": []})]) == [3]
    insert = Row(6, INSERT, {"after": 1, "code": "a.b", "input": {"bat": 6}})
    assert bats([*rows, insert]) == [6, 3, 5]
    assert bats([*rows, insert, Row(7, REVERT, {"seq": 6}, resolved={"skipped": [[5, 0]]})]) == []


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (Row(9, VOID, {"event": 7}), "event"),
        (Row(9, VOID, {"event": 3}), "event"),
        (Row(9, CORRECT, {"event": 3, "input": {}}), "event"),
        (Row(9, CORRECT, {"event": 2, "event_place": 1, "input": {}}), "event"),
        (Row(9, INSERT, {"after": 7, "code": "a.b", "input": {}}), "after"),
        (
            Row(9, AMEND, {"edits": [{"edit": "void", "event": 2}, {"edit": "void", "event": 2}]}),
            "edits[1].event",
        ),
    ],
)
def test_what_is_not_there_cannot_be_edited(row: Row, field: str) -> None:
    entries = effective([ball(2), ball(3), Row(4, VOID, {"event": 3})])
    with pytest.raises(CannotEdit) as caught:
        edit(entries, row)
    assert caught.value.field == field
    assert caught.value.sentence


def test_there_is_nothing_to_undo_in_an_empty_match() -> None:
    with pytest.raises(CannotEdit, match="nothing to undo"):
        newest([])


@st.composite
def logs(draw: st.DrawFn) -> list[Row]:
    """A log of events and corrections, each of what stands when it is written."""
    rows: list[Row] = []
    for seq in range(2, draw(st.integers(2, 24)) + 2):
        entries = effective(rows)
        live = [entry for entry in entries if not entry.voided]
        corrections = [row.seq for row in rows if row.code in (UNDO, VOID, CORRECT)]
        kind = draw(st.sampled_from(["ball", "ball", "undo", "void", "correct", "insert", "revert"]))
        if kind == "undo" and standing(entries):
            rows.append(undo(seq, rows))
        elif kind == "void" and live:
            name = draw(st.sampled_from(live)).name
            rows.append(Row(seq, VOID, {"event": name.seq}))
        elif kind == "correct" and live:
            name = draw(st.sampled_from(live)).name
            rows.append(Row(seq, CORRECT, {"event": name.seq, "input": {"bat": draw(st.integers(100, 200))}}))
        elif kind == "insert" and entries:
            name = draw(st.sampled_from(entries)).name
            given = {
                "after": name.seq,
                "code": "cricket.delivery",
                "input": {"bat": draw(st.integers(100, 200))},
            }
            rows.append(Row(seq, INSERT, given))
        elif kind == "revert" and corrections:
            candidate = [*rows, Row(seq, REVERT, {"seq": draw(st.sampled_from(corrections))})]
            try:
                effective(candidate)
            except CannotEdit:
                rows.append(ball(seq))
            else:
                rows = candidate
        else:
            rows.append(ball(seq))
    return rows


@given(logs())
def test_every_event_has_one_place_and_one_name(rows: list[Row]) -> None:
    entries = effective(rows)
    names = [entry.name for entry in entries]
    assert len(set(names)) == len(names)
    brought = {row.seq for row in rows if row.code in ("cricket.delivery", INSERT)}
    assert {name.seq for name in names} == brought


@given(logs())
def test_undo_takes_the_newest_and_its_revert_gives_it_back(rows: list[Row]) -> None:
    before = standing(effective(rows))
    if not before:
        return
    seq = rows[-1].seq + 1
    rows = [*rows, undo(seq, rows)]
    assert standing(effective(rows)) == before[:-1]
    rows.append(Row(seq + 1, REVERT, {"seq": seq}))
    assert standing(effective(rows)) == before


@given(logs())
def test_the_log_row_by_row_is_the_log_at_once_where_nothing_was_reverted(rows: list[Row]) -> None:
    rows = [row for row in rows if row.code != REVERT]
    entries: list[Entry] = []
    try:
        for row in rows:
            entries = edit(entries, row)
    except CannotEdit:
        return
    assert entries == effective(rows)


@given(logs())
def test_the_first_difference_is_where_they_part(rows: list[Row]) -> None:
    entries = standing(effective(rows))
    assert first_difference(entries, entries) is None
    for index in range(len(entries)):
        assert first_difference(entries, entries[:index] + entries[index + 1 :]) == index
