"""Experimental sports: a class defined in a test or a notebook, sent by value to a worker (design section 2).

Only where the server's setting `experimental` is on, and only in the process that has the class: nothing
like it comes over the network. The class is pickled here, and unpickled by workers alone. Its bytes stand
in a version folder of their own, so a match is pinned to them as to any other code.
"""

import inspect
import pickle
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BytesIO
from threading import Lock
from types import MemberDescriptorType, ModuleType
from typing import Any

import cloudpickle
import msgspec
import trio

from runtime.errors import CodeUnfit, SpawnFailed, TrialFailed
from runtime.trial import describe, staged
from runtime.versionfolder import MANIFEST_NAME
from runtime.versions import SportVersion, VersionStore, dev_version
from runtime.worker.limits import EXPERIMENTAL_PACKAGE
from scorebox_contract import EventSport, canonical

PICKLE_NAME = "sport.pickle"
BASE_VERSION = "0.0.0"
"""Such a version is 0.0.0+dev.<sha8>: below every released one."""
LOADER = f'''"""Runs in a worker alone: the sport as it was pickled."""

import pickle
from pathlib import Path

SPORT = pickle.loads((Path(__file__).parent / "{PICKLE_NAME}").read_bytes())
'''
_IN_WORKERS = sys.stdlib_module_names | {"scorebox_contract", "msgspec", "msgpack", "cloudpickle"}
"""What a worker can import; a class from anywhere else goes by value."""
_META_FIELDS = (
    "gt",
    "ge",
    "lt",
    "le",
    "multiple_of",
    "pattern",
    "min_length",
    "max_length",
    "tz",
    "title",
    "description",
    "examples",
    "extra_json_schema",
    "extra",
)
_CONFIG_FIELDS = (
    "frozen",
    "eq",
    "order",
    "array_like",
    "gc",
    "repr_omit_defaults",
    "omit_defaults",
    "forbid_unknown_fields",
    "weakref",
    "dict",
    "cache_hash",
    "tag",
    "tag_field",
)
_MADE_BY_MSGSPEC = frozenset({"__annotations__", "__slots__", "__match_args__", "__dict__", "__weakref__"})
_registering = Lock()


async def install_experimental(versions: VersionStore, sport: EventSport) -> SportVersion:
    """Puts a sport that is defined in this process into a version of its own; new matches may use it.

    A released version of the same sport stays the one that new matches use, unless they name this one.

    Raises:
        CodeMissing: the developer's setting is off.
        CodeUnfit: it cannot be pickled, or its name is not a sport's.
        TrialFailed: no worker can be started from it, or it cannot describe itself.
    """
    versions.check_allowed(EXPERIMENTAL_PACKAGE)
    files = {
        f"{EXPERIMENTAL_PACKAGE}/__init__.py": LOADER.encode(),
        f"{EXPERIMENTAL_PACKAGE}/{PICKLE_NAME}": await trio.to_thread.run_sync(pickled, sport),
    }
    try:
        async with staged(versions, files, EXPERIMENTAL_PACKAGE, sport.code) as (pools, version):
            manifest = await describe(pools, version)
    except SpawnFailed as error:
        lines = str(error).strip().splitlines()
        raise TrialFailed(f"no worker can be started from {sport.code}: {lines[-1]}") from error
    files[f"{EXPERIMENTAL_PACKAGE}/{MANIFEST_NAME}"] = canonical(manifest)
    placed = await trio.to_thread.run_sync(
        versions.place, files, EXPERIMENTAL_PACKAGE, sport.code, dev_version(BASE_VERSION, files)
    )
    await trio.to_thread.run_sync(versions.use, placed)
    return placed


def pickled(sport: EventSport) -> bytes:
    """A sport by value: its class, what its module defines, and the modules of its bases.

    Raises:
        CodeUnfit: something in it cannot be pickled.
    """
    buffer = BytesIO()
    try:
        with _by_value(sport) as names:
            _Pickler(buffer, names).dump(sport)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise CodeUnfit(f"the sport {sport.code} cannot be sent to a worker: {error}") from error
    return buffer.getvalue()


@contextmanager
def _by_value(sport: EventSport) -> Iterator[frozenset[str]]:
    """Has everything of the sport's own modules go by value; their names."""
    names = {each.__module__ for each in type(sport).__mro__}
    own = {name for name in names if name.partition(".")[0] not in _IN_WORKERS}
    # The maker of structs is needed in the worker, which cannot import this module.
    modules: list[ModuleType] = [sys.modules[name] for name in own | {__name__} if name in sys.modules]
    with _registering, ExitStack() as stack:
        for module in modules:
            if module.__name__ not in cloudpickle.list_registry_pickle_by_value():
                cloudpickle.register_pickle_by_value(module)
                stack.callback(cloudpickle.unregister_pickle_by_value, module)
        yield frozenset(own | {"__main__"})


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Also takes msgspec's structs and constraints by value: their fields are fixed when they are made."""

    def __init__(self, file: BytesIO, own: frozenset[str]) -> None:
        super().__init__(file)
        self._own = own

    def reducer_override(self, given: Any) -> Any:
        """How an object is made anew in the worker."""
        if isinstance(given, msgspec.Meta):
            known = {name: getattr(given, name) for name in _META_FIELDS}
            told = {name: value for name, value in known.items() if value is not None}
            return partial(msgspec.Meta, **told), ()
        if isinstance(given, type) and issubclass(given, msgspec.Struct) and self._is_own(given):
            return _make_struct, _parts(given)
        return super().reducer_override(given)

    def _is_own(self, kind: type) -> bool:
        return kind.__module__ in self._own or "<locals>" in kind.__qualname__


def _parts(struct: type[msgspec.Struct]) -> tuple[Any, ...]:
    """The arguments of `_make_struct`."""
    own = inspect.get_annotations(struct)
    hints = typing.get_type_hints(struct, include_extras=True)
    fields = []
    for field in msgspec.structs.fields(struct):
        if field.name in own:
            how: dict[str, Any] = {"name": field.encode_name}
            if field.default is not msgspec.NODEFAULT:
                how["default"] = field.default
            if field.default_factory is not msgspec.NODEFAULT:
                how["default_factory"] = field.default_factory
            fields.append((field.name, hints[field.name], how))
    body = {
        name: value
        for name, value in struct.__dict__.items()
        if name not in _MADE_BY_MSGSPEC
        and not name.startswith("__struct_")
        and not isinstance(value, MemberDescriptorType)
    }
    config: dict[str, Any] = {name: getattr(struct.__struct_config__, name) for name in _CONFIG_FIELDS}
    config["kw_only"] = any(name not in struct.__match_args__ for name, _, _ in fields)
    return struct.__name__, fields, struct.__bases__, body, config


def _make_struct(
    name: str,
    fields: list[tuple[str, Any, dict[str, Any]]],
    bases: tuple[type, ...],
    body: Mapping[str, Any],
    config: Mapping[str, Any],
) -> Any:
    """A struct as it was defined. Runs in the worker."""
    made: list[tuple[str, Any, Any]] = [(each, kind, msgspec.field(**how)) for each, kind, how in fields]
    define: Callable[..., Any] = msgspec.defstruct
    return define(name, made, bases=bases, namespace=dict(body), **config)
