"""Reads golden matches of any sport from plain text.

    golden match 1
    sport table_tennis
    match Alpha v Beta
    opening {"sides": […], "first_day": "2024-06-01", "format": {…}}
    word A = point {"winner": "A"}
    toss {"winner": "A", "choice": "serve"}
    A A B
    warned server_out_of_turn
    refused match_over point {"winner": "A"}
    !match_over point {"winner": "A"}
    line A side game-1 {"points": 11}
    summary {"result": {"winner": "A"}}

A command is its code without the sport's, and its input in JSON. `word` gives a command a short name; a line
of such names plays them in turn. `!code` passes over a refusal. `warned`, `refused`, `line` and `summary` say
what is known at that point; a line or summary may hold more than is said of it. A line that begins with a
blank goes on with the line before; one that begins with # is a remark.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sports.kit.errors import NotGolden
from sports.kit.golden import Document, Golden, GoldenStep, Mark, missing

FIRST_LINE = "golden match 1"
ENDING = ".golden"
FILE_LIMIT_BYTES = 4 * 1024 * 1024


def read_match(path: Path) -> Golden:
    """Reads a file.

    Raises:
        NotGolden: it cannot be read, or is no golden match.
    """
    try:
        return parse_match(path.name, path.read_bytes())
    except OSError as error:
        raise NotGolden(f"{path} cannot be read: {error}") from error


def parse_match(name: str, content: bytes) -> Golden:
    """Reads a file's content; `name` is its name in errors.

    Raises:
        NotGolden: it is no golden match; says which line.
    """
    if len(content) > FILE_LIMIT_BYTES:
        raise NotGolden(f"{name} has {len(content)} bytes, {FILE_LIMIT_BYTES} are allowed")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise NotGolden(f"{name} is not UTF-8 text (byte {error.start})") from error
    lines = list(_lines(text))
    if not lines or lines[0][1] != FIRST_LINE:
        raise NotGolden(f"{name} is no golden match: begin it with the line {FIRST_LINE!r}")
    book = _Book()
    for number, line in lines[1:]:
        try:
            book.read(line, f"{name}, line {number}")
        except ValueError as error:
            raise NotGolden(f"{name}, line {number}: {error}") from error
    if book.sport is None or book.opening is None:
        raise NotGolden(f"{name} needs the lines 'sport CODE' and 'opening {{…}}'")
    marks = tuple(book.marks)
    steps = tuple(book.steps)
    return Golden(book.name or name, book.opening, steps, marks, _Ending(marks, len(steps)))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines without remarks, those that go on joined, with the number of the first."""
    held: tuple[int, str] | None = None
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.rstrip()
        if not line or line.startswith("#"):
            continue
        if line[0].isspace() and held is not None:
            held = held[0], f"{held[1]} {line.strip()}"
            continue
        if held is not None:
            yield held
        held = number, line.strip()
    if held is not None:
        yield held


class _Ending:
    """What a document must hold at the end of the match."""

    def __init__(self, marks: tuple[Mark, ...], steps: int) -> None:
        self._marks = [mark for mark in marks if mark.after == steps]

    def __call__(self, document: Document) -> list[str]:
        found: list[str] = []
        for mark in self._marks:
            if mark.kind == "summary":
                found += missing(mark.values, document["head"], "summary")
            elif mark.kind == "line":
                said = mark.values
                lines = document["parts"].get(said["segment"], {"lines": []})["lines"]
                place = said["subject"], said["role"]
                values: Any = next(
                    (line["values"] for line in lines if (line["subject"], line["role"]) == place), {}
                )
                found += missing(said["values"], values, " ".join((*place, said["segment"])))
        return found


class _Book:
    """A match while it is read. A line that cannot be understood raises ValueError."""

    def __init__(self) -> None:
        self.sport: str | None = None
        self.name: str | None = None
        self.opening: dict[str, Any] | None = None
        self.steps: list[GoldenStep] = []
        self.marks: list[Mark] = []
        self._words: dict[str, GoldenStep] = {}

    def read(self, line: str, where: str) -> None:
        """Takes in a line."""
        first, _, rest = line.partition(" ")
        rest = rest.strip()
        if first == "sport":
            self.sport = rest
        elif first == "match":
            self.name = rest
        elif first == "opening":
            self.opening = _object(rest)
        elif first == "word":
            name, _, command = rest.partition("=")
            self._words[name.strip()] = self._command(command.strip())
        elif first == "warned":
            self._mark("warned", {"codes": rest.split()}, where)
        elif first == "refused":
            code, _, command = rest.partition(" ")
            step = self._command(command.strip())
            told = {"code": step.code, "input": step.input, "override": list(step.override)}
            self._mark("refused", {"code": code, "step": told}, where)
        elif first == "line":
            subject, role, segment, values = _four(rest)
            said = {"subject": subject, "role": role, "segment": segment, "values": _object(values)}
            self._mark("line", said, where)
        elif first == "summary":
            self._mark("summary", _object(rest), where)
        elif first in self._words:
            self._play_words(line.split())
        else:
            self.steps.append(self._command(line))

    def _mark(self, kind: Any, values: dict[str, Any], where: str) -> None:
        self.marks.append(Mark(len(self.steps), kind, values, where))

    def _play_words(self, words: list[str]) -> None:
        for word in words:
            if word not in self._words:
                raise ValueError(f"{word!r} is no word; say it before: word {word} = COMMAND {{…}}")
            self.steps.append(self._words[word])

    def _command(self, text: str) -> GoldenStep:
        """`!code … name {input}`."""
        override: list[str] = []
        while text.startswith("!"):
            code, _, text = text.partition(" ")
            override.append(code[1:])
            text = text.strip()
        name, _, given = text.partition(" ")
        if self.sport is None:
            raise ValueError("the line 'sport CODE' must come before the first command")
        if not name.replace("_", "").isalnum():
            raise ValueError(f"{name!r} is neither a command nor a word")
        return GoldenStep(f"{self.sport}.{name}", _object(given or "{}"), tuple(override))


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text[:60]!r} is no JSON object ({error})") from error
    if not isinstance(value, dict):
        raise ValueError(f"{text[:60]!r} is no JSON object")
    return value


def _four(text: str) -> tuple[str, str, str, str]:
    parts = text.split(maxsplit=3)
    if len(parts) != 4:
        raise ValueError("write it as: line SUBJECT ROLE SEGMENT {…}")
    return parts[0], parts[1], parts[2], parts[3]
