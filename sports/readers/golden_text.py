"""The words of the golden notation: keys, names, texts, and how a line is cut into them.

A key or text of letters, digits and `_ ' . -` stands as it is, any other in quotes, as a JSON string; so does
one of small letters only where a word of the notation could stand. What follows the first colon of a line is
free text. `!code` before a command or a ball passes over a refusal.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sports.readers.errors import LineFault

STRING = r'"(?:[^"\\]|\\.)*"'
BARE = r"\w[\w.'’-]*"

_bare = re.compile(BARE)
_override_code = re.compile(r"[\w.-]+")
_overrides = re.compile(rf"((?:!(?:{STRING}|[\w.-]+))+)\s*(.*)")
_override = re.compile(rf"!({STRING}|[\w.-]+)")
_token = re.compile(rf"\s*(?:(?P<string>{STRING})|(?P<word>[^\s\":]+))")
_first = re.compile(rf"({STRING}|[^\s\":]+)\s*(.*)")
_named = re.compile(rf"(?P<key>{STRING}|{BARE})\s*=\s*(?P<name>.+)")
_key = re.compile(rf"{STRING}|{BARE}")
_separated = re.compile(rf"\s*(?:(?P<string>{STRING})|(?P<mark>[,/])|(?P<word>[^\s\",/]+))")

UNQUOTED_TEXT_FORBIDS = frozenset('"()[]{}#!')


class Token(NamedTuple):
    """A word of a line. One in quotes is never a word of the notation."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A line cut up: its words, and the free text after its colon."""

    tokens: tuple[Token, ...]
    text: str | None = None


def cut(line: str) -> Cut:
    """Cuts up a line of words.

    Raises:
        LineFault: quotes are not closed, or a sign stands where none can.
    """
    tokens: list[Token] = []
    place = 0
    while line[place:].strip():
        found = _token.match(line, place)
        if found is None:
            rest = line[place:].strip()
            if rest.startswith(":"):
                return Cut(tuple(tokens), read_text(rest[1:].strip()))
            raise LineFault(f"{rest[:20]!r} cannot be read", 'put it in quotes, such as "O\'Neill: A"')
        tokens.append(_as_token(found["string"], found["word"]))
        place = found.end()
    return Cut(tuple(tokens))


def cut_list(text: str) -> list[Token]:
    """Cuts words, commas and slashes; a mark is a token of its own."""
    tokens: list[Token] = []
    place = 0
    while text[place:].strip():
        found = _separated.match(text, place)
        if found is None:
            raise LineFault(f"the quotes in {text!r} are not closed", 'close them with "')
        tokens.append(_as_token(found["string"], found["mark"] or found["word"]))
        place = found.end()
    return tokens


def take_word(line: str) -> tuple[str | None, str]:
    """The first word of a line and what follows it."""
    found = _first.match(line)
    return (read_text(found[1]), found[2]) if found else (None, line)


def leading_override(line: str) -> tuple[tuple[str, ...], str] | None:
    """The refusals a line passes over and the line without them; None where it begins otherwise."""
    found = _overrides.fullmatch(line)
    if found is None:
        return None
    return tuple(read_text(code) for code in _override.findall(found[1])), found[2]


def _as_token(string: str | None, word: str) -> Token:
    return Token(word) if string is None else Token(read_text(string), quoted=True)


def pieces(text: str) -> Iterator[str]:
    """The pieces of an over's line: what blanks part outside quotes and brackets."""
    piece, depth, quoted, escaped = "", 0, False, False
    for sign in text:
        if sign.isspace() and not depth and not quoted:
            if piece:
                yield piece
            piece = ""
            continue
        piece += sign
        if quoted:
            quoted = escaped or sign != '"'
            escaped = sign == "\\" and not escaped
        elif sign == '"':
            quoted = True
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
    if depth or quoted:
        raise LineFault(f"{piece!r} is not closed", "close its bracket or quotes on the same line")
    if piece:
        yield piece


def key_and_name(line: str) -> tuple[str, str] | None:
    """The two sides of `KEY = NAME`, or None for another line."""
    found = _named.fullmatch(line)
    return (read_text(found["key"]), read_text(found["name"].strip())) if found else None


def read_key(text: str) -> str:
    """A key that stands alone."""
    if not _key.fullmatch(text):
        raise LineFault(f"{text!r} is no key", "write a player's key as in the list of his side")
    return read_text(text)


def read_text(text: str) -> str:
    """Free text, or the text of a JSON string."""
    if not text.startswith('"'):
        return text
    value = read_json(text)
    if not isinstance(value, str):
        raise LineFault(f"{text} is no text", "put text in one pair of quotes")
    return value


def read_json(text: str) -> Any:
    """A JSON value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LineFault(f"{text[:40]} is no JSON ({error})", "mend it, or write it without quotes") from error


def json_text(value: Any) -> str:
    """A value as JSON on one line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def word_text(value: str) -> str:
    """A text of its own place in a line."""
    return value if _bare.fullmatch(value) else json_text(value)


def key_text(value: str) -> str:
    """A key or name that stands where a word of the notation could."""
    return json_text(value) if value.isalpha() and value.islower() else word_text(value)


def free_text(value: str) -> str:
    """A name or note at the end of a line."""
    plain = value.isprintable() and value == value.strip() and not UNQUOTED_TEXT_FORBIDS & set(value)
    return value if plain and value else json_text(value)


def override_text(codes: tuple[str, ...]) -> str:
    """The refusals passed over: "!quota!order"."""
    return "".join("!" + (code if _override_code.fullmatch(code) else json_text(code)) for code in codes)
