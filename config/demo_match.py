"""The match of `scorebox demo`: tied, and decided by a second super over.

Mumbai Indians v Kings XI Punjab, Indian Premier League, Dubai, 18 October 2020. Written from the facts of
the play (ball-by-ball facts: Cricsheet, cricsheet.org, ODC-BY 1.0) in the notation of a scorer's book; see
sports/readers/scorebook.py.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sports.readers.scorebook import BookMatch, read_book

BOOK = """
T20 2020-10-18 overs 20
A Mumbai Indians: Rohit Sharma, Quinton de Kock, Suryakumar Yadav, Ishan Kishan, Krunal Pandya, \
Hardik Pandya, Kieron Pollard, Nathan Coulter-Nile, Rahul Chahar, Trent Boult, Jasprit Bumrah
B Kings XI Punjab: KL Rahul, Mayank Agarwal, Chris Gayle, Nicholas Pooran, Glenn Maxwell, Deepak Hooda, \
Chris Jordan, Murugan Ashwin, Ravi Bishnoi, Mohammed Shami, Arshdeep Singh
toss A bat
innings A A1 A2
B5  | 1 . 1 . 4 .
B10 | 4 . 1 4 . .
B11 | . w1 . 6 1 ./b>A3 lb1
B10 | . . ./c:B8>A4 . 1 5
B5  | 1 1 1 4 . 1
B11 | ./c:B8>A5 1 . . 4 .
B5  | 1 1 . . 1 .
B7  | . . 6 1 . .
B5  | . 4 1 1 1 .
B8  | . 4 1 . 1 4
B6  | 1 . lb1 6 1 1
B9  | 1 . . 1 . 1
B8  | . 4 1 b4 1 .
B9  | 1 . 1 1 ./c:B6>A6 6
B8  | . 4 6 . 1 1
B10 | 1 1 ./c:B4*>A7 1 . .
B7  | 1 1 ./c:B2*>A8 1 . 2
B11 | 6 6 1 4 4 1
B10 | 2 2 . 4 . 4
B7  | 6 1 1 2 6 4
innings B B1 B2
A10 | 1 4 . 1 1 2
A5  | . . 1 2 1 .
A10 | 1 4 4 . 6 w1 4
A11 | . . ./b>B3 . . 1
A8  | . . 6 . . .
A10 | . . 6 . 4 1
A7  | 1 . w1 1 1 w1 6 .
A9  | 1 . 2 2 4 .
A8  | 1 1 . 1 1 .
A9  | ./c:A10>B4 1 1 . 6 4
A7  | . 2 1 2 4 6
A9  | . 1 1 . 1 .
A11 | 2 1 . . ./c:A8>B5 .
A9  | 6 1 ./c:A1>B6 . 1 1
A5  | 2 . . 4 1 1
A11 | 2 1 w1 . 4 1 6
A8  | 2 2 4 1 . 1
A11 | 1 2 ./b>B7 1 1 .
A8  | 2 4 1 4 2 .
A10 | 1 4 1 . 1 1/ro
super B B1 B4
A11 | 1 ./c:~Anukul_Roy*>B6 1 1 2 ./lbw
super A A2 A1
B10 | 1 1 1 . 1 1/ro
super A A7 A6
B7  | 1 w1 1 4 w1 1/ro*@A6>A3 . 2
super B B3 B2
A10 | 6 1 4 4
"""

EXPECTED = {
    "innings-1": ("A", 176, 6, "20"),
    "innings-2": ("B", 176, 6, "20"),
    "super-over-1": ("B", 5, 2, "1"),
    "super-over-2": ("A", 5, 1, "1"),
    "super-over-3": ("A", 11, 1, "1"),
    "super-over-4": ("B", 15, 0, "0.4"),
}
"""Segment → side, runs, wickets, overs, as the scorecards of the day have them."""
WINNER = "B"


def demo_match() -> BookMatch:
    """The match as commands."""
    return read_book(BOOK, "demo match")


def count_expected() -> int:
    """How many figures `demo_differences` compares."""
    return len(EXPECTED) * 3 + 2


def demo_differences(document: Mapping[str, Any]) -> Iterator[str]:
    """Where a document of the match differs from the scorecards of the day."""
    for segment, (side, runs, wickets, overs) in EXPECTED.items():
        lines = document["parts"].get(segment, {"lines": []})["lines"]
        values: Mapping[str, Any] = next(
            (line["values"] for line in lines if (line["role"], line["subject"]) == ("side", side)), {}
        )
        scored = tuple(values.get(figure) for figure in ("runs", "wickets", "overs"))
        if scored != (runs, wickets, overs):
            yield f"{segment}: {scored} as scored, {(runs, wickets, overs)} on the card"
    result = document["head"].get("result") or {}
    if (result.get("kind"), result.get("winner")) != ("tie", WINNER):
        yield f"result: {result.get('text', 'none')} as scored, a tie won by {WINNER} on the card"
