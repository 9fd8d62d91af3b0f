"""Turns a value that cannot be decoded into the field it is about and a sentence for a scorer.

msgspec says where a value is wrong at the end of its message ("… - at `$.wickets[0].kind`"); the texts
before it are a small closed set, put into plain words here.
"""

import re
from typing import Any, Literal, get_args, get_origin

import msgspec

SHOWN_CHOICES_MOST = 24
"""Choices listed in a sentence; more would not be read."""

_PLACE = re.compile(r" - at `(?:key in )?\$(?P<path>[^`]*)`$")
_NAMED_FIELD = re.compile(r"^Object (?P<what>missing required|contains unknown) field `(?P<name>[^`]*)`$")
_WRONG_TYPE = re.compile(r"^Expected `(?P<expected>[^`]+)`, got `(?P<got>[^`]+)`$")
_BOUND = re.compile(
    r"^Expected `(?P<type>[^`]+)` (?P<length>of length )?(?P<sign>>=|<=|>|<|==) (?P<bound>-?\d+)$"
)
_CHOICE = re.compile(r"^Invalid enum value (?P<value>.+)$")

_TYPE_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing",
}
_SIGN_WORDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": "exactly"}


def explain(error: msgspec.DecodeError, input_type: Any) -> tuple[str | None, str]:
    """The field ("wickets[0].kind", None for the whole input) and a sentence."""
    text = str(error)
    place = _PLACE.search(text)
    path = place["path"].removeprefix(".") if place else ""
    cause = text[: place.start()] if place else text
    if not isinstance(error, msgspec.ValidationError):
        return None, f"The input is not JSON: {cause}."
    if named := _NAMED_FIELD.match(cause):
        field = f"{path}.{named['name']}" if path else named["name"]
        if named["what"] == "missing required":
            return field, f"{field} is missing."
        return field, f"{field} is not a field of this command."
    where = path or "The input"
    return path or None, f"{where} {_in_words(cause, path, input_type)}."


def _in_words(cause: str, path: str, input_type: Any) -> str:
    if wrong := _WRONG_TYPE.match(cause):
        expected = " or ".join(_TYPE_WORDS.get(name, name) for name in wrong["expected"].split(" | "))
        got = _TYPE_WORDS.get(wrong["got"], wrong["got"])
        return f"must be {expected}, not {got}"
    if bound := _BOUND.match(cause):
        amount = f"{_SIGN_WORDS[bound['sign']]} {bound['bound']}"
        if not bound["length"]:
            return f"must be {amount}"
        return f"must have {amount} {'entries' if bound['type'] == 'array' else 'characters'}"
    if choice := _CHOICE.match(cause):
        choices = _choices(input_type, path)
        if not choices or len(choices) > SHOWN_CHOICES_MOST:
            return f"cannot be {choice['value']}"
        return f"cannot be {choice['value']}; it is one of {', '.join(map(str, choices))}"
    if " matching regex " in cause:
        return "is not written as it must be"
    return f"is wrong: {cause}"


def _choices(input_type: Any, path: str) -> list[Any]:
    """The values a Literal at a path allows; empty where the path leads to something else."""
    candidates = [input_type]
    for name in re.findall(r"[^.\[\]]+", path):
        if name.isdigit() or name == "...":
            candidates = [part for kind in candidates for part in _flat(kind, into_containers=True)]
        else:
            candidates = [
                field.type
                for kind in candidates
                for part in _flat(kind)
                if isinstance(part, type) and issubclass(part, msgspec.Struct)
                for field in msgspec.structs.fields(part)
                if name == field.encode_name
            ]
    return [
        value
        for kind in candidates
        for part in _flat(kind)
        if get_origin(part) is Literal
        for value in get_args(part)
    ]


def _flat(kind: Any, *, into_containers: bool = False) -> list[Any]:
    """A type without Annotated and unions; with `into_containers` the types of a container's parts."""
    origin = get_origin(kind)
    if origin is None or origin is Literal:
        return [kind]
    if hasattr(kind, "__metadata__"):
        return _flat(get_args(kind)[0], into_containers=into_containers)
    if isinstance(origin, type) and issubclass(origin, list | dict | tuple | set | frozenset):
        return list(get_args(kind)) if into_containers else [kind]
    return [part for member in get_args(kind) for part in _flat(member, into_containers=into_containers)]
