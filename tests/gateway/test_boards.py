"""Tables of a part, as people read them."""

from typing import Any

from gateway.boards import Cell, plain, tables

NAMES = {"A1": "Ada", "A2": "Bea", "A10": "Cy", "B1": "Di"}


def line(subject: str, role: str, **values: Any) -> dict[str, Any]:
    return {"subject": subject, "role": role, "values": values}


def test_lines_stand_by_position_then_by_their_key() -> None:
    lines = [
        line("A10", "batting", position=2, runs=1),
        line("A2", "batting", position=3),
        line("A1", "batting", position=1),
    ]
    (table,) = tables({"lines": lines}, NAMES)
    assert [name for name, _ in table.rows] == ["Ada", "Cy", "Bea"]
    assert table.keys == ("runs",)
    bowlers = [line("A10", "bowling", balls=6), line("A2", "bowling", balls=6)]
    assert [name for name, _ in tables({"lines": bowlers}, NAMES)[0].rows] == ["Bea", "Cy"]


def test_numbered_roles_share_a_table_in_their_order() -> None:
    lines = [line("A1", "stand-10", runs=5), line("A1", "stand-2", runs=7), line("A2", "batting", runs=1)]
    found = tables({"lines": lines}, NAMES)
    assert [table.title for table in found] == ["Batting", "Stand"]
    assert [cells[0].text for _, cells in found[1].rows] == ["7", "5"]


def test_values_are_words_for_people() -> None:
    values = {
        "out": "run_out",
        "by": "B1",
        "with": ["A1", "A2"],
        "open": True,
        "shut": False,
        "none": None,
        "runs": 0,
    }
    (table,) = tables({"lines": [line("A1", "batting", **values)]}, NAMES)
    cells = dict(zip(table.keys, table.rows[0][1], strict=True))
    assert [cells[key].text for key in ("out", "by", "with", "open", "shut", "none")] == [
        "run out",
        "Di",
        "Ada, Bea",
        "yes",
        "",
        "",
    ]
    assert cells["runs"] == Cell("0", words=False)
    assert cells["with"].words
    assert table.words == {"out", "by", "with", "open"}


def test_codes_as_words() -> None:
    assert plain("innings-1") == "Innings 1"
    assert plain("no_balls") == "No balls"
    assert plain("") == ""


def test_what_every_line_has_stands_first_and_figures_stand_right() -> None:
    lines = [
        line("A1", "batting", balls=6, fall_over="2.3", runs=4),
        line("A2", "batting", balls=1, runs=0, overs="1"),
    ]
    (table,) = tables({"lines": lines}, NAMES)
    assert table.keys == ("balls", "runs", "fall_over", "overs")
    assert table.words == frozenset()
    assert table.rows[0][1][2] == Cell("2.3", words=False)
