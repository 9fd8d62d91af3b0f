"""Reads a golden match: a whole cricket match as a scorer could write it, and what it must come to.

The file is plain text: a head (golden_header.py), play, and what is expected (golden_expected.py). In play
a line is a command (golden_commands.py) or an over:

    innings A
    1 Maxwell: @Sharma/Kock 1 . 1 . 4 . /
    2 Shami: 4 . 1 4 . W(c Ashwin) >Yadav /

An over's line has its number in the innings, its bowler and its balls (golden_balls.py). `@KEY/KEY` says
who faces and who backs up, `@KEY` who of the two faces, `>KEY` who takes the open place; otherwise they
change ends as they run and as overs end. `/` is the umpire's call of "over", `[…]` a command between two
balls, `!code` before a ball or command passes over that refusal. The same over may go on in a further
line. Lines that begin with # are remarks.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sports.readers.errors import LineFault, NotThisFormat, UnreadableMatch
from sports.readers.expected import Expected
from sports.readers.file import read_file
from sports.readers.golden_balls import out_of, read_ball
from sports.readers.golden_commands import PLAYER, read_command
from sports.readers.golden_crease import Crease
from sports.readers.golden_expected import WORDS, ExpectedReader
from sports.readers.golden_header import FIRST_LINE, Header
from sports.readers.golden_text import BARE, STRING, leading_override, pieces, read_text
from sports.readers.steps import DELIVERY, OVER, Step, count_deliveries

FILE_LIMIT_BYTES = 4 * 1024 * 1024
"""A five-day Test takes about 30 KB."""
REMARK = "#"

_over = re.compile(rf"(\d{{1,6}})\s+({STRING}|{BARE})\s*:(.*)")


@dataclass(frozen=True, slots=True)
class GoldenMatch:
    """A match: the input of `match.open`, its commands in order as they were accepted, what is expected."""

    id: str
    name: str
    competition: str | None
    opening: dict[str, Any]
    steps: tuple[Step, ...]
    expected: Expected

    @property
    def deliveries(self) -> int:
        """How many deliveries the match has."""
        return count_deliveries(self.steps)


def read_golden(path: Path) -> GoldenMatch:
    """Reads a file; the match's id is the file's name without its ending.

    Raises:
        ReaderError: the file cannot be read, or is not a match; says which line and what to do.
    """
    return parse_golden(read_file(path), str(path), id=path.stem)


def parse_golden(data: bytes, file: str, *, id: str) -> GoldenMatch:
    """Reads a file's bytes; `file` is its name in errors.

    Raises:
        ReaderError: see `read_golden`.
    """
    if len(data) > FILE_LIMIT_BYTES:
        raise NotThisFormat(file, f"the file has {len(data)} bytes, more than any match", "check its path")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise NotThisFormat(
            file, f"the file is not text (byte {error.start})", "save it as UTF-8 text"
        ) from error
    lines = enumerate((line.strip() for line in text.removeprefix("\ufeff").split("\n")), 1)
    told = [(number, line) for number, line in lines if line and not line.startswith(REMARK)]
    if not told or told[0][1] != FIRST_LINE:
        raise NotThisFormat(file, "the file is no golden match", f"begin it with the line: {FIRST_LINE}")
    book = _Book()
    number = told[-1][0]
    try:
        for number, line in told[1:]:  # noqa: B007
            book.read(line)
        return book.match(id)
    except LineFault as fault:
        raise UnreadableMatch(file, f"line {number}: {fault.problem}", fault.advice) from fault


class _Book:
    """A match while it is read: first its head, then play, then what is expected."""

    def __init__(self) -> None:
        self._header = Header()
        self._opening: dict[str, Any] | None = None
        self._keys: set[str] = set()
        self._crease = Crease({})
        self._steps: list[Step] = []
        self._expected = ExpectedReader()
        self._expecting = False

    def read(self, line: str) -> None:
        """One line."""
        if self._opening is None:
            if self._header.read(line):
                return
            self._begin()
        if line.split(maxsplit=1)[0] in WORDS:
            self._expecting = True
            self._expected.read(line)
        elif self._expecting:
            raise LineFault("play goes on behind what is expected", "put all lines of play before them")
        elif (found := _over.fullmatch(line)) is not None:
            self._read_over(int(found[1]), read_text(found[2]), found[3])
        else:
            self._add(read_command(line))

    def match(self, id: str) -> GoldenMatch:
        """The whole match."""
        if self._opening is None:
            self._begin()
        assert self._opening is not None
        return GoldenMatch(
            id=id,
            name=self._header.name or "",
            competition=self._header.competition,
            opening=self._opening,
            steps=tuple(self._steps),
            expected=self._expected.expected(),
        )

    def _begin(self) -> None:
        """The head is whole."""
        self._opening = self._header.opening()
        self._crease = Crease(self._opening["format"])
        self._keys = {player["key"] for side in self._opening["sides"] for player in side["players"]}

    def _add(self, step: Step) -> None:
        self._steps.append(step)
        self._crease.after(step.code, step.input)
        if step.code == PLAYER:
            self._keys.add(step.input["key"])
        elif step.code == "cricket.substitute" and step.input.get("player") is not None:
            self._keys.add(step.input["player"])

    def _read_over(self, number: int, bowler: str, text: str) -> None:
        override: tuple[str, ...] = ()
        self._known(bowler)
        for piece in pieces(text):
            if number != self._crease.overs + 1:
                raise LineFault(
                    f"this is over {self._crease.overs + 1}, not {number}",
                    "write / where the umpire called over, and number the overs of each innings from 1",
                )
            if (codes := leading_override(piece)) is not None:
                override += codes[0]
                piece = codes[1]  # noqa: PLW2901
            if not piece:
                continue
            if piece[0] in "@>":
                self._crease.change(piece)
                continue
            self._add(self._step(piece, bowler, override))
            override = ()
        if override:
            raise LineFault("nothing follows the !code", "write it before a ball, / or […]")

    def _step(self, piece: str, bowler: str, override: tuple[str, ...]) -> Step:
        """The command of a piece of an over's line."""
        if piece == "/":
            return Step(OVER, {}, override=override)
        if piece.startswith("[") and piece.endswith("]"):
            step = read_command(piece[1:-1].strip())
            return Step(step.code, step.input, override=override + step.override)
        worth = {extra: self._crease.worth(extra) for extra in ("wide_runs", "no_ball_runs")}
        ball = read_ball(piece, worth)
        striker, non_striker = self._crease.ends
        if striker is None:
            raise LineFault(f"it is not said who faces {piece!r}", "write who comes in: >KEY, or @KEY/KEY")
        fields: dict[str, Any] = {"striker": striker, "bowler": bowler} | out_of(ball, striker)
        if non_striker is not None:
            fields["non_striker"] = non_striker
        for key in _players(fields):
            self._known(key)
        return Step(DELIVERY, fields, override=override)

    def _known(self, key: str) -> None:
        """Refuses a key that no player has, so that a slip of the pen is found where it is."""
        if key not in self._keys:
            near = difflib.get_close_matches(key, self._keys, 1)
            meant = f"write {near[0]}?" if near else "write a key of the list of players"
            raise LineFault(f"nobody has the key {key!r}", f"{meant} (or let him join: join SIDE KEY = NAME)")


def _players(ball: dict[str, Any]) -> Iterator[str]:
    """The keys in a delivery."""
    yield ball["striker"]
    if "non_striker" in ball:
        yield ball["non_striker"]
    for wicket in ball.get("wickets", ()):
        yield wicket["out"]
        yield from (fielder["player"] for fielder in wicket.get("fielders", ()) if "player" in fielder)
