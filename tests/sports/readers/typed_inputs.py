"""Strategies for whatever a command's typed input may hold."""

from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

WORDS = (
    "sub",
    "b",
    "out",
    "crossed",
    "not",
    "c",
    "tv",
    "umpire",
    "Mc Cullum",
    "O’Neill",
    "12",
    "ß",
    "-",
    "a/b",
)
"""Texts that could be taken for something else."""
TEXT_LIMIT = 12
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=TEXT_LIMIT)
NAMES = st.one_of(st.sampled_from(WORDS), TEXT)
OVERS = st.builds(lambda whole, balls: f"{whole}.{balls}", st.integers(0, 60), st.integers(0, 5))
SOME_RUNS = 12


def inputs(type: type[Any], keys: st.SearchStrategy[str] = NAMES) -> st.SearchStrategy[Any]:
    """Instances of an input type; `keys` are drawn for every text that is a key or name."""
    return _of(inspect.type_info(type), keys)


def _of(kind: inspect.Type, keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    if isinstance(kind, inspect.StructType):
        fields = {field.name: _of(field.type, keys) for field in kind.fields}
        needed = {field.name: fields[field.name] for field in kind.fields if field.required}
        optional = {name: given for name, given in fields.items() if name not in needed}
        return st.fixed_dictionaries(needed, optional=optional).map(lambda given: kind.cls(**given))
    if isinstance(kind, inspect.UnionType):
        return st.one_of(*(_of(one, keys) for one in kind.types))
    if isinstance(kind, inspect.ListType):
        return st.lists(_of(kind.item_type, keys), max_size=kind.max_length or 3)
    if isinstance(kind, inspect.LiteralType):
        return st.sampled_from(kind.values)
    if isinstance(kind, inspect.IntType):
        least = -5 if kind.ge is None else kind.ge
        return st.integers(least, min(kind.le or SOME_RUNS, least + SOME_RUNS))
    if isinstance(kind, inspect.BoolType):
        return st.booleans()
    if isinstance(kind, inspect.NoneType):
        return st.none()
    assert isinstance(kind, inspect.StrType), kind
    if kind.pattern is not None and "0-9" in kind.pattern:
        return OVERS
    if kind.pattern is None and kind.min_length is None:
        return st.one_of(
            st.text(st.characters(codec="utf-8"), max_size=TEXT_LIMIT), TEXT, st.sampled_from(WORDS)
        )
    return keys


def plain(given: msgspec.Struct) -> dict[str, Any]:
    """An input as plain data, with every field."""
    fields: dict[str, Any] = msgspec.to_builtins(given)
    return fields
