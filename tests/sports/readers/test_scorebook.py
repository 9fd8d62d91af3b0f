"""A match written as a scorer's book."""

import pytest

from sports.readers.errors import UnreadableMatch
from sports.readers.scorebook import read_book

HEAD = """
T20 2024-05-01 overs 20
A Reds: Ann Ash, Bea Birch, Cat Cole, Dan Dale
B Blues: Eve Elm, Fay Fir
toss B field
innings A A1 A2
"""


def balls(*lines):
    match = read_book(HEAD + "\n".join(lines))
    return [step.input for step in match.steps if step.code == "cricket.delivery"]


def test_sides_format_and_toss_stand_at_the_head():
    match = read_book(HEAD)
    assert match.name == "Reds v Blues"
    assert match.opening["first_day"] == "2024-05-01"
    assert match.opening["format"]["bowler_overs"] == 4
    assert match.opening["sides"][0]["players"][1] == {"key": "A2", "name": "Bea Birch"}
    assert (match.steps[0].code, match.steps[0].input) == (
        "cricket.toss",
        {"winner": "B", "decision": "field"},
    )


@pytest.mark.parametrize(
    ("mark", "runs", "faces"),
    [
        (".", {}, "A1"),
        ("1", {"bat": 1}, "A2"),
        ("4", {"bat": 4}, "A1"),
        ("w1", {"wides": 1}, "A1"),
        ("w2", {"wides": 2}, "A2"),
        ("n1", {"no_balls": 1}, "A1"),
        ("n1+3", {"no_balls": 1, "bat": 3}, "A2"),
        ("n1+b2", {"no_balls": 1, "byes": 2}, "A1"),
        ("n2+lb1", {"no_balls": 2, "leg_byes": 1}, "A2"),
        ("b4", {"byes": 4}, "A1"),
        ("lb1", {"leg_byes": 1}, "A2"),
    ],
)
def test_a_mark_is_what_the_ball_was(mark, runs, faces):
    first, second = balls(f"B1 | {mark} .")
    assert {
        key: value for key, value in first.items() if key not in ("striker", "non_striker", "bowler")
    } == runs
    assert (first["striker"], first["non_striker"], first["bowler"]) == ("A1", "A2", "B1")
    assert second["striker"] == faces


@pytest.mark.parametrize(
    ("mark", "wicket", "pair"),
    [
        ("./b>A3", {"kind": "bowled", "out": "A1"}, ("A3", "A2")),
        (
            "./c:B2>A3",
            {"kind": "caught", "out": "A1", "fielders": [{"player": "B2"}], "crossed": False},
            ("A3", "A2"),
        ),
        (
            "./c:~Gus_Gray*>A3",
            {
                "kind": "caught",
                "out": "A1",
                "fielders": [{"substitute": True, "name": "Gus Gray"}],
                "crossed": True,
            },
            ("A2", "A3"),
        ),
        (
            "1/ro:B1+B2@A2>A3",
            {
                "kind": "run_out",
                "out": "A2",
                "fielders": [{"player": "B1"}, {"player": "B2"}],
                "crossed": False,
            },
            ("A3", "A1"),
        ),
        ("1/ro*>A3", {"kind": "run_out", "out": "A1", "crossed": True}, ("A3", "A2")),
    ],
)
def test_a_wicket_is_how_by_whom_and_who_comes_in(mark, wicket, pair):
    first, second = balls(f"B1 | {mark} .")
    assert first["wickets"] == [wicket]
    assert (second["striker"], second["non_striker"]) == pair


def test_after_an_over_the_other_batter_faces_and_a_cut_one_is_not_called():
    match = read_book(HEAD + "B1 | . . . w1 . . 1\nB2 | . .")
    faced = [step.input["striker"] for step in match.steps if step.code == "cricket.delivery"]
    assert faced == ["A1"] * 7 + ["A1"] * 2
    assert [step.code for step in match.steps].count("cricket.over") == 1
    assert match.deliveries == 9


def test_a_super_over_is_an_innings_of_its_own():
    match = read_book(HEAD + "B1 | 1\nsuper B B1 B2\nA1 | 6")
    assert match.opening["format"]["super_over"] == {"overs": 1, "wickets": 2}
    begun = [step.input for step in match.steps if step.code == "cricket.innings"]
    assert begun == [{"batting": "A"}, {"batting": "B", "super_over": True}]


@pytest.mark.parametrize("line", ["B1 | ?", "B1 | 1/zz", "B1 | 1/b>", "innings A", "toss B"])
def test_a_line_that_is_none_is_named(line):
    with pytest.raises(UnreadableMatch, match="line 6 cannot be understood"):
        read_book(HEAD + line, "a book")
