"""The program of a worker process, started as a script: `python -s -P -S main.py key=value …`.

Keys: parent (pid of the server), socket and stack (inherited descriptors), host (folders, joined by ":"),
folder (of the version), package, code_sha.

Order matters. The death signal comes first, so that nothing later can outlive the server; then the
limits, then the host's few modules, then `sys.path` is narrowed to the standard library and the version's
folder, and only then the sport's code runs. `-I` is not used: it would ignore PYTHONHASHSEED.
"""

import ctypes
import faulthandler
import gc
import importlib
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
COLLECTION_ALLOCATIONS = 50_000
"""Calls build plain trees and no cycles: the collector need not look often."""


def main() -> NoReturn:
    """Arms, limits and loads the process, then answers until the server hangs up."""
    gc.disable()
    words = dict(word.split("=", 1) for word in sys.argv[1:])
    standard = list(sys.path)
    sys.path += words["host"].split(os.pathsep)
    die_with(int(words["parent"]))
    limit()
    stack = int(words["stack"])
    listen_for_stack(stack)
    serve = load(words, standard)
    gc.freeze()
    gc.set_threshold(COLLECTION_ALLOCATIONS)
    gc.enable()
    serve(int(words["socket"]), stack)


def die_with(parent: int) -> None:
    """Has the kernel kill this process when the server ends (in truth: its spawning thread)."""
    from runtime.worker.limits import EXIT_ORPHAN

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # The server may have ended before the line above: then the signal never comes.
    if os.getppid() != parent:
        os._exit(EXIT_ORPHAN)


def limit() -> None:
    """Puts the resource limits on this process; the hard ones, so that it cannot raise them again."""
    from runtime.worker import limits

    for name, amount in (
        (resource.RLIMIT_AS, limits.ADDRESS_SPACE_BYTES),
        (resource.RLIMIT_FSIZE, limits.FILE_SIZE_BYTES),
        (resource.RLIMIT_NOFILE, limits.OPEN_FILES),
        (resource.RLIMIT_CORE, limits.CORE_BYTES),
        (resource.RLIMIT_CPU, limits.CPU_LIFE_SECONDS),
    ):
        resource.setrlimit(name, (amount, amount))


def listen_for_stack(descriptor: int) -> None:
    """Lets the server see where a stuck call hangs, before it kills the process."""
    from runtime.worker.limits import STACK_SIGNAL

    faulthandler.register(STACK_SIGNAL, file=descriptor, all_threads=True)


def load(words: dict[str, str], standard: list[str]) -> Callable[[int, int], NoReturn]:
    """Loads the host's modules, narrows the path, loads `<package>.SPORT`; returns what serves it."""
    # msgspec takes it where it lies about, though `typing` has all it needs: 6 ms of every start.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    from runtime.worker import limits, ops, serving

    try:
        if words["package"] == limits.EXPERIMENTAL_PACKAGE:
            # What a sport sent by value is made of; out of reach once the path is narrowed.
            importlib.import_module("cloudpickle")
        hide_host()
        sys.path[:] = [*standard, words["folder"]]
        importlib.invalidate_caches()
        sport: Any = importlib.import_module(words["package"]).SPORT
        operations = ops.Operations(sport, code_sha=words["code_sha"], guard_level=limits.GUARD_LEVEL_LIMITS)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(limits.EXIT_LOAD)
    return partial(serving.serve, operations)


def hide_host() -> None:
    """Keeps the sport from importing more of the server than what is loaded already.

    The contract, msgspec and msgpack stay as they are: a sport may use them.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "runtime" and hasattr(module, "__path__"):
            module.__path__ = []


if __name__ == "__main__":
    main()
