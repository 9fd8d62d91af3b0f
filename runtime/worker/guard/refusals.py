"""Clock, chance and threads, refused by name: a replay of rules that use them would come out otherwise.

The functions are replaced in their modules; what the host needs of them it has taken before. A clock that
the standard library reads in the body of a module (logging does) is given as 0.
"""

import _thread
import datetime
import gc
import os
import posix
import sys
import time
import uuid
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from runtime.worker.guard.attempts import Attempts
from runtime.worker.guard.audit import CHANCE, THREAD, TIME

CLOCKS = (
    "time",
    "time_ns",
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
    "clock_gettime",
    "clock_gettime_ns",
    "sleep",
)
TIMES_OF_NOW = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
"""Functions of `time` that take now where a time is not given → the place of that argument."""
NOW = ("now", "utcnow")
"""Methods of datetime that read the clock themselves; `today` asks `time.time`."""

THREAD_STARTS = frozenset({"start_new_thread", "start_new", "start_joinable_thread"})
"""Not all of them are reported to audit hooks in every Python."""

_frame = sys._getframe


class NamedRefusals:
    """Makes the functions that stand where a clock or a source of chance stood."""

    def __init__(self, attempts: Attempts, standard: tuple[str, ...]) -> None:
        self._attempts = attempts
        self._standard = tuple(f"{path.rstrip('/')}/" for path in standard)

    def put_up(self) -> None:
        """Replaces every name; `random` when it is imported."""
        for name in CLOCKS:
            setattr(time, name, self.refusal(TIME, f"time.{name}"))
        for name, place in TIMES_OF_NOW.items():
            setattr(time, name, self._refusal_of_now(f"time.{name}", getattr(time, name), place))
        # A type of the interpreter's takes no new attributes by itself; its dictionary does.
        methods: dict[str, Any] = gc.get_referents(datetime.datetime.__dict__)[0]
        for name in NOW:
            methods[name] = staticmethod(self.refusal(TIME, f"datetime.{name}"))
        sys._clear_type_cache()
        for module in (os, posix):
            vars(module)["times"] = self.refusal(TIME, "os.times")
            for name in ("urandom", "getrandom"):
                setattr(module, name, self.refusal(CHANCE, f"os.{name}"))
        for name in THREAD_STARTS & vars(_thread).keys():
            setattr(_thread, name, self.refusal(THREAD, f"_thread.{name}"))
        if threading := sys.modules.get("threading"):
            vars(threading)["_start_new_thread"] = self.refusal(THREAD, "threading.Thread")
        for name in ("uuid1", "uuid4", "getnode"):
            setattr(uuid, name, self.refusal(CHANCE, f"uuid.{name}"))
        sys.meta_path.insert(0, _RandomFinder(self))

    def refusal(self, deed: str, name: str) -> Callable[..., Any]:
        """A function that refuses, whatever it is given."""

        def refuse(*given: Any, **named: Any) -> int:
            asker = _frame(1).f_code
            if asker.co_name == "<module>" and asker.co_filename.startswith(self._standard):
                return 0
            raise self._attempts.note(deed, name)

        return refuse

    def _refusal_of_now(self, name: str, real: Callable[..., Any], place: int) -> Callable[..., Any]:
        def convert(*given: Any) -> Any:
            if len(given) <= place or given[place] is None:
                raise self._attempts.note(TIME, name)
            return real(*given)

        return convert

    def tame(self, random: ModuleType) -> None:
        """Leaves of `random` what is seeded by the caller."""
        shared = random._inst
        for name in random.__all__:
            if getattr(getattr(random, name), "__self__", None) is shared:
                setattr(random, name, self.refusal(CHANCE, f"random.{name}"))
        attempts = self._attempts
        real: Any = random.Random

        class Random(real):  # type: ignore[misc]
            """Numbers that follow from a seed."""

            def __init__(self, x: Any = None) -> None:
                if x is None:
                    raise attempts.note(CHANCE, "random.Random without a seed")
                super().__init__(x)

            def seed(self, a: Any = None, version: int = 2) -> None:
                """Start again from a seed."""
                if a is None:
                    raise attempts.note(CHANCE, "random.Random.seed without a seed")
                super().seed(a, version)

        names = vars(random)
        names["Random"] = Random
        names["SystemRandom"] = self.refusal(CHANCE, "random.SystemRandom")
        names["_inst"] = None


class _RandomFinder:
    """Finds `random` as it is found otherwise, and has it tamed once it is loaded."""

    def __init__(self, refusals: NamedRefusals) -> None:
        self._refusals = refusals

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of `random` alone."""
        if name != "random":
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _TamingLoader(spec.loader, self._refusals)  # type: ignore[assignment]
        return spec


class _TamingLoader:
    def __init__(self, loader: Any, refusals: NamedRefusals) -> None:
        self._loader = loader
        self._refusals = refusals

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the real loader does."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """As the real loader does, and then tamed."""
        self._loader.exec_module(module)
        self._refusals.tame(module)
