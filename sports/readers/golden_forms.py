"""Lines of the golden notation as forms: words, slots for values, and a free text behind the colon.

A form is written and read by the same slots. A slot with a lead may be left out; the others may not.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from sports.readers.errors import LineFault
from sports.readers.golden_text import Cut, Token, free_text, key_text, word_text

_NUMBER = re.compile(r"-?\d{1,9}")


class Kind(Enum):
    """What stands in a slot."""

    TEXT = auto()
    """A key, a word, or a text in quotes."""
    NUMBER = auto()
    FIGURES = auto()
    """Numbers and the signs between them: 176/6, 4-0-30-2."""
    FLAG = auto()
    """Nothing but its lead; true where it stands."""
    CHOICE = auto()
    """Words that mean a value."""
    LIST = auto()
    """Texts, one after the other."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one field. `lead` are the words before it, `choices` the words of each value."""

    field: str
    kind: Kind = Kind.TEXT
    lead: str = ""
    choices: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def usage(self) -> str:
        """How a person reads it: "[in OVERS]"."""
        value = {
            Kind.FLAG: "",
            Kind.CHOICE: "|".join(self.choices),
            Kind.LIST: f"{self.field.upper()} …",
        }.get(self.kind, self.field.upper())
        text = " ".join(filter(None, (self.lead, value)))
        return f"[{text}]" if self.lead else text


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of line: the words it begins with, its slots, and the field that takes the free text."""

    words: str
    slots: tuple[Slot, ...] = ()
    text: str | None = None

    @property
    def usage(self) -> str:
        """How a person reads it."""
        usage = " ".join([self.words, *(slot.usage for slot in self.slots)])
        return f"{usage} [: {self.text}]" if self.text else usage

    def read(self, line: Cut) -> dict[str, Any]:
        """The fields of a line that begins with the form's words.

        Raises:
            LineFault: something is missing, or something is left over.
        """
        tokens = list(line.tokens[len(self.words.split()) :])
        fields: dict[str, Any] = {}
        for slot in self.slots:
            lead = slot.lead.split()
            if lead and not starts(tokens, lead):
                continue
            del tokens[: len(lead)]
            fields[slot.field] = self._value(slot, tokens)
        if tokens:
            raise LineFault(f"{tokens[0].text!r} is not expected here", f"write it as: {self.usage}")
        if line.text is not None:
            if self.text is None:
                raise LineFault("no text belongs behind this line", f"write it as: {self.usage}")
            fields[self.text] = line.text
        return fields

    def write(self, fields: Mapping[str, Any]) -> str | None:
        """The line, or None where the form has no words for a field."""
        words = [self.words]
        left = dict(fields)
        for slot in self.slots:
            if slot.field not in left:
                if not slot.lead:
                    return None
                continue
            written = _written(slot, left.pop(slot.field))
            if written is None:
                return None
            words += filter(None, (slot.lead, written))
        text = left.pop(self.text, None) if self.text else None
        if left or not (text is None or isinstance(text, str)):
            return None
        line = " ".join(words)
        return line if text is None else f"{line}: {free_text(text)}"

    def _value(self, slot: Slot, tokens: list[Token]) -> Any:
        """Takes the value of a slot from the tokens."""
        if slot.kind is Kind.FLAG:
            return True
        if slot.kind is Kind.LIST:
            return self._list(slot, tokens)
        if not tokens:
            raise LineFault(f"{slot.field.replace('_', ' ')} is missing", f"write it as: {self.usage}")
        if slot.kind is Kind.CHOICE:
            return self._choice(slot, tokens)
        token = tokens.pop(0)
        if slot.kind is Kind.NUMBER:
            if token.quoted or not _NUMBER.fullmatch(token.text):
                raise LineFault(f"{token.text!r} is no whole number", f"write it as: {self.usage}")
            return int(token.text)
        return token.text

    def _choice(self, slot: Slot, tokens: list[Token]) -> Any:
        for words in sorted(slot.choices, key=len, reverse=True):
            if starts(tokens, words.split()):
                del tokens[: len(words.split())]
                return slot.choices[words]
        known = ", ".join(slot.choices)
        raise LineFault(f"{tokens[0].text!r} is none of {known}", f"write it as: {self.usage}")

    def _list(self, slot: Slot, tokens: list[Token]) -> list[str]:
        leads = [other.lead.split() for other in self.slots if other.lead and other is not slot]
        values = []
        while tokens and not any(starts(tokens, lead) for lead in leads):
            values.append(tokens.pop(0).text)
        if not values:
            raise LineFault(f"nobody stands behind {slot.lead!r}", f"write it as: {self.usage}")
        return values


def starts(tokens: Sequence[Token], words: Sequence[str]) -> bool:
    """True when a line goes on with these words of the notation."""
    found = tokens[: len(words)]
    return [token.text for token in found] == list(words) and not any(token.quoted for token in found)


def _written(slot: Slot, value: Any) -> str | None:
    """A value as words; None where the slot cannot hold it."""
    match slot.kind:
        case Kind.FLAG:
            return "" if value is True else None
        case Kind.CHOICE:
            return next((words for words, meant in slot.choices.items() if meant == value), None)
        case Kind.NUMBER:
            whole = isinstance(value, int) and not isinstance(value, bool)
            return str(value) if whole and _NUMBER.fullmatch(str(value)) else None
        case Kind.LIST:
            texts = isinstance(value, list) and value and all(isinstance(text, str) for text in value)
            return " ".join(map(key_text, value)) if texts else None
        case Kind.FIGURES:
            return str(value)
        case Kind.TEXT:
            return word_text(value) if isinstance(value, str) else None
