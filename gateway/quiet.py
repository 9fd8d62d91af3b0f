"""Rows of the log that take a seq and change no event. Pure."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from gateway.misfit import misfit

T = TypeVar("T")


class QuietRow(NamedTuple):
    """Such a row: its seq, the account that sent it, its code and its input."""

    seq: int
    by: str
    code: str
    input: Mapping[str, Any]


class CannotMark(Exception):
    """A row that cannot be: what the sender hears."""

    def __init__(self, code: str, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.field = field


def typed(given: Mapping[str, Any], kind: type[T], code: str) -> T:
    """An input in its type.

    Raises:
        CannotMark: a value that cannot be, under this code; names the field.
    """
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        field, sentence = misfit(str(error))
        raise CannotMark(code, sentence, field or "input") from error
