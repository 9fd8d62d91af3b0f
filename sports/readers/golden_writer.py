"""Writes a match in the golden notation: commands as they were accepted, and what they must come to."""

from typing import Any

from sports.readers.golden import GoldenMatch
from sports.readers.golden_balls import out_of, read_ball, write_ball
from sports.readers.golden_commands import write_command
from sports.readers.golden_crease import Crease
from sports.readers.golden_expected import write_expected
from sports.readers.golden_header import write_header
from sports.readers.golden_text import key_text, override_text
from sports.readers.steps import DELIVERY, OVER, Step

LINE_COLUMNS = 110
"""An over's line longer than this goes on in a further one."""
LINES_OF_THEIR_OWN = frozenset(
    {"cricket.innings", "cricket.innings_end", "cricket.result", "cricket.set_score"}
)
"""They part innings, or have the overs counted on from another one: never between the balls of a line."""
PLACES = ("striker", "non_striker", "bowler")
RUNS = ("bat", "wides", "no_balls", "byes", "leg_byes", "penalty", "penalty_fielding")


def write_golden(match: GoldenMatch, *, remarks: tuple[str, ...] = ()) -> str:
    """The text of a file. `remarks` stand at its top.

    Reading it gives the same commands; fields that say the same as if they were absent are left out.

    Raises:
        UnwritableMatch: the opening or an expectation has no words in the notation.
    """
    lines = write_header(match.name, match.competition, match.opening)
    lines[1:1] = [f"# {remark}" for remark in remarks]
    lines.append("")
    writer = _PlayWriter(match.opening["format"])
    for step in match.steps:
        writer.write(step)
    lines += writer.lines()
    expected = write_expected(match.expected)
    if expected:
        lines += ["", *expected]
    return "\n".join(lines) + "\n"


class _PlayWriter:
    """Lines of play; follows the crease as the reader does."""

    def __init__(self, conditions: dict[str, Any]) -> None:
        self._crease = Crease(conditions)
        self._lines: list[str] = []
        self._bowler: str | None = None
        """Who bowls the over's line that is open."""
        self._line = ""

    def write(self, step: Step) -> None:
        """The next command."""
        ball = self._ball(step)
        if ball is not None:
            self._open(step.input["bowler"])
            self._put(" ".join(ball))
        elif step.code == OVER and not step.input and self._bowler is not None:
            self._put(" ".join(filter(None, (override_text(step.override), "/"))))
            self._close()
        elif self._bowler is not None and step.code not in LINES_OF_THEIR_OWN:
            self._put(f"[{write_command(step)}]")
        else:
            self._close()
            if step.code == "cricket.innings":
                self._lines.append("")
            self._lines.append(write_command(step))
        self._crease.after(step.code, step.input)
        if step.code == OVER:
            self._close()

    def lines(self) -> list[str]:
        """Everything written."""
        self._close()
        return self._lines

    def _ball(self, step: Step) -> list[str] | None:
        """The words of a delivery; None for another command, or a delivery that is written raw."""
        if step.code != DELIVERY or not all(isinstance(step.input.get(place), str) for place in PLACES[::2]):
            return None
        given = _stripped(step.input)
        striker, non_striker = given["striker"], given.get("non_striker")
        fields = {name: value for name, value in given.items() if name not in PLACES}
        worth = {extra: self._crease.worth(extra) for extra in ("wide_runs", "no_ball_runs")}
        word = write_ball(fields, striker, worth)
        if word is None or out_of(read_ball(word, worth), striker) != fields:
            return None
        words = self._crease.change_words(striker, non_striker)
        return [*words, *([override_text(step.override)] if step.override else ()), word]

    def _open(self, bowler: str) -> None:
        if self._bowler != bowler:
            self._close()
            self._bowler = bowler
            self._line = f"{self._crease.overs + 1} {key_text(bowler)}:"

    def _put(self, words: str) -> None:
        if len(self._line) + 1 + len(words) > LINE_COLUMNS and not self._line.endswith(":"):
            bowler = self._bowler
            self._close()
            assert bowler is not None
            self._open(bowler)
        self._line += " " + words

    def _close(self) -> None:
        if self._bowler is not None:
            self._lines.append(self._line)
        self._bowler = None


def _stripped(ball: dict[str, Any]) -> dict[str, Any]:
    """A delivery without the fields that say the same as if they were absent."""
    absent: dict[str, Any] = dict.fromkeys(RUNS, 0) | {"all_run": False, "dead": False, "wickets": []}
    fields = {
        name: value
        for name, value in ball.items()
        if value is not None and not (name in absent and value == absent[name])
    }
    if "wickets" in fields:
        fields["wickets"] = [_stripped_wicket(wicket) for wicket in fields["wickets"]]
    return fields


def _stripped_wicket(wicket: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in wicket.items() if value is not None and value != []}
    if "fielders" in fields:
        fields["fielders"] = [
            {name: value for name, value in fielder.items() if value is not None and value is not False}
            for fielder in fields["fielders"]
        ]
    return fields
