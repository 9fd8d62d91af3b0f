"""What a golden match must come to, as lines of its notation.

    expect innings-1 A 176/6 in 20 b 4 lb 2 wd 1 nb 0 p 0
      bat Sharma 9 off 8 4s 2 6s 0: b Singh
      bowl Shami 4-0-30-2 balls 24 wd 0 nb 0
    expect result tie winner B method "super over"

Only what stands there is compared; but where one batter or bowler of an innings stands there, all must.
"""

from collections.abc import Mapping
from typing import Any

from sports.readers.errors import LineFault, UnwritableMatch
from sports.readers.expected import Expected, ExpectedLine
from sports.readers.golden_balls import KINDS, take_kind
from sports.readers.golden_commands import FORMS
from sports.readers.golden_forms import Form, Kind, Slot, starts
from sports.readers.golden_text import Cut, Token, cut, cut_list, key_text

WORD = "expect"
RESULT = Form(f"{WORD} result", FORMS["cricket.result"].slots)
SIDE = Form(
    WORD,
    (
        Slot("segment"),
        Slot("subject"),
        Slot("score", Kind.FIGURES),
        Slot("overs", lead="in"),
        Slot("byes", Kind.NUMBER, "b"),
        Slot("leg_byes", Kind.NUMBER, "lb"),
        Slot("wides", Kind.NUMBER, "wd"),
        Slot("no_balls", Kind.NUMBER, "nb"),
        Slot("penalty", Kind.NUMBER, "p"),
        Slot("unaccounted", Kind.NUMBER, "unaccounted"),
    ),
)
BATTING = Form(
    "bat",
    (
        Slot("subject"),
        Slot("runs", Kind.NUMBER),
        Slot("balls", Kind.NUMBER, "off"),
        Slot("fours", Kind.NUMBER, "4s"),
        Slot("sixes", Kind.NUMBER, "6s"),
    ),
    "how",
)
BOWLING = Form(
    "bowl",
    (
        Slot("subject"),
        Slot("figures", Kind.FIGURES),
        Slot("balls", Kind.NUMBER, "balls"),
        Slot("wides", Kind.NUMBER, "wd"),
        Slot("no_balls", Kind.NUMBER, "nb"),
    ),
)
WORDS = (WORD, BATTING.words, BOWLING.words)
"""What these lines begin with."""

WAYS_OUT = KINDS | {"timed out": "timed_out", "retired out": "retired_out"}
WORDS_OF_WAY = {kind: words for words, kind in WAYS_OUT.items()}
NAMED_BY_BOWLER = frozenset({"bowled", "caught_and_bowled"})
"""Their words end in b: the bowler follows."""
NOT_OUT: dict[str, Any] = {"out_kind": None, "out_bowler": None, "out_fielders": []}
MARGIN = ("innings", "runs", "wickets")

Values = Mapping[str, Any]


class ExpectedReader:
    """Takes in lines one by one."""

    def __init__(self) -> None:
        self._lines: list[ExpectedLine] = []
        self._result: dict[str, Any] | None = None
        self._segment: str | None = None

    def read(self, line: str) -> None:
        """One line that begins with one of `WORDS`.

        Raises:
            LineFault: the line cannot be understood.
        """
        parts = cut(line)
        if starts(parts.tokens, RESULT.words.split()):
            given = RESULT.read(parts)
            margin = {name: given.pop(name) for name in MARGIN if name in given}
            self._result = {"winner": None, "method": None, **given, "margin": margin}
        elif starts(parts.tokens, [WORD]):
            self._read_side(parts)
        elif self._segment is None:
            raise LineFault("it is not said of which innings", f"write a line before it: {SIDE.usage}")
        elif starts(parts.tokens, [BATTING.words]):
            values = BATTING.read(parts)
            how = values.pop("how", None)
            self._add("batting", values | ({} if how is None else _read_how(how)))
        else:
            self._read_bowling(parts)

    def expected(self) -> Expected:
        """Everything that was read."""
        return Expected(tuple(self._lines), self._result)

    def _read_side(self, parts: Cut) -> None:
        values = SIDE.read(parts)
        self._segment = values.pop("segment")
        runs, _, wickets = values.pop("score").partition("/")
        if not (runs.isdecimal() and wickets.isdecimal()):
            raise LineFault("the score cannot be read", "write runs/wickets, such as 176/6")
        self._add("side", {"runs": int(runs), "wickets": int(wickets)} | values)

    def _read_bowling(self, parts: Cut) -> None:
        values = BOWLING.read(parts)
        figures = values.pop("figures").split("-")
        if len(figures) != 4 or not all(figure.isdecimal() for figure in figures[1:]):
            raise LineFault("the bowling figures cannot be read", "write overs-maidens-runs-wickets")
        overs, maidens, runs, wickets = figures
        counted = {"overs": overs, "maidens": int(maidens), "runs": int(runs), "wickets": int(wickets)}
        self._add("bowling", counted | values)

    def _add(self, role: str, values: dict[str, Any]) -> None:
        subject = values.pop("subject")
        self._lines.append(ExpectedLine(self._segment or "", role, subject, values))


def write_expected(expected: Expected) -> list[str]:
    """The lines of what is expected.

    Raises:
        UnwritableMatch: a figure that the notation has no words for.
    """
    lines = []
    segment = None
    for line in expected.lines:
        if line.role == "side":
            segment = line.segment
            lines.append(_write_side(line))
        elif line.segment != segment or line.role not in ("batting", "bowling"):
            raise UnwritableMatch(f"the {line.role} of {line.subject} follows no total of {line.segment}")
        else:
            lines.append("  " + (_write_batting(line) if line.role == "batting" else _write_bowling(line)))
    if expected.result is not None:
        fields = {name: value for name, value in expected.result.items() if value is not None}
        fields |= fields.pop("margin", {})
        lines.append(_write(RESULT, fields))
    return lines


def _write_side(line: ExpectedLine) -> str:
    values = dict(line.values)
    score = f"{values.pop('runs')}/{values.pop('wickets')}"
    return _write(SIDE, {"segment": line.segment, "subject": line.subject, "score": score} | values)


def _write_batting(line: ExpectedLine) -> str:
    values = dict(line.values)
    how = {name: values.pop(name) for name in NOT_OUT if name in values}
    text = _write(BATTING, {"subject": line.subject} | values)
    return f"{text}: {_write_how(how)}" if how else text


def _write_bowling(line: ExpectedLine) -> str:
    values = dict(line.values)
    figures = "-".join(str(values.pop(name)) for name in ("overs", "maidens", "runs", "wickets"))
    return _write(BOWLING, {"subject": line.subject, "figures": figures} | values)


def _write(form: Form, fields: dict[str, Any]) -> str:
    text = form.write(fields)
    if text is None:
        raise UnwritableMatch(f"the figures {fields} do not fit: {form.usage}")
    return text


def _read_how(text: str) -> dict[str, Any]:
    tokens = cut_list(text)
    if tokens == [Token("not"), Token("out")]:
        return dict(NOT_OUT)
    kind = take_kind(tokens, WAYS_OUT)
    if kind is None:
        raise LineFault(f"{text!r} is no way out", f"write not out, or one of: {', '.join(WAYS_OUT)}")
    by = [Token("b"), *tokens] if kind in NAMED_BY_BOWLER else tokens
    place = by.index(Token("b")) if Token("b") in by else len(by)
    bowler = by[place + 1 :]
    if len(bowler) > 1 or (place < len(by) and not bowler):
        raise LineFault(f"the bowler in {text!r} cannot be read", "write one key behind the b")
    how: dict[str, Any] = {"out_kind": kind, "out_bowler": bowler[0].text if bowler else None}
    if kind not in NAMED_BY_BOWLER:
        fielders = [token for token in by[:place] if token != Token("/")]
        how["out_fielders"] = [None if token == Token("sub") else token.text for token in fielders]
    return how


def _write_how(how: Values) -> str:
    kind, bowler = how["out_kind"], how.get("out_bowler")
    if kind is None:
        return "not out"
    if kind not in WORDS_OF_WAY:
        raise UnwritableMatch(f"there is no word for the way out {kind!r}")
    words = [WORDS_OF_WAY[kind]]
    fielders = how.get("out_fielders") or ()
    if fielders:
        words.append("/".join("sub" if name is None else key_text(name) for name in fielders))
    if bowler is not None:
        words += [key_text(bowler)] if kind in NAMED_BY_BOWLER else ["b", key_text(bowler)]
    return " ".join(words)
