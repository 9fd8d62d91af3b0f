"""A value that is not of its type: the field that msgspec speaks of, and what it says. Pure."""

import re

_PLACE = re.compile(r" - at `(?:key` in `)?\$\.?([^`]*)`$")
_QUOTED_FIELD = re.compile(r"(?:unknown|required) field `([^`]*)`")


def misfit(message: str) -> tuple[str | None, str]:
    """The field a validation error speaks of, dotted (None for the whole), and the rest of its sentence."""
    found = _PLACE.search(message)
    where = found.group(1) if found else ""
    sentence = _PLACE.sub("", message)
    if field := _QUOTED_FIELD.search(message):
        where = f"{where}.{field.group(1)}" if where else field.group(1)
    return where or None, sentence.replace("`", "")
