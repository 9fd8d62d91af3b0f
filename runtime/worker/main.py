"""The program of a worker process, started as a script: `python -s -P -S main.py key=value …`.

Keys: parent (pid of the server), socket and stack (inherited descriptors), host (folders, joined by ":"),
folder (of the version), package, code_sha, minimum (level of the guard), withheld (its layers left out, for
tests).

Order matters. The death signal comes first, so that nothing later can outlive the server; then the
limits, then the host's few modules, then `sys.path` is narrowed to the standard library and the version's
folder, then the guard goes up, and only then the sport's code runs: also what it does at its import.
`-I` is not used: it would ignore PYTHONHASHSEED.
"""

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
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from runtime.worker.guard.attempts import Attempts
    from runtime.worker.guard.kernel import Kernel
    from runtime.worker.guard.level import Report

COLLECTION_ALLOCATIONS = 50_000
"""Calls build plain trees and no cycles: the collector need not look often."""


def main() -> NoReturn:
    """Arms, limits and loads the process, then answers until the server hangs up."""
    gc.disable()
    words = dict(word.split("=", 1) for word in sys.argv[1:])
    standard = list(sys.path)
    sys.path += words["host"].split(os.pathsep)
    kernel = reach_kernel()
    die_with(kernel, int(words["parent"]))
    limit()
    stack = int(words["stack"])
    listen_for_stack(stack)
    serve = load(words, standard, kernel)
    gc.freeze()
    gc.set_threshold(COLLECTION_ALLOCATIONS)
    gc.enable()
    serve(int(words["socket"]), stack)


def reach_kernel() -> "Kernel":
    """What Python has no function for."""
    from runtime.worker.guard.kernel import Kernel

    return Kernel()


def die_with(kernel: "Kernel", parent: int) -> None:
    """Has the kernel kill this process when the server ends (in truth: its spawning thread)."""
    from runtime.worker.guard.kernel import PR_SET_PDEATHSIG
    from runtime.worker.limits import EXIT_ORPHAN

    if failed := kernel.control(PR_SET_PDEATHSIG, signal.SIGKILL):
        raise OSError(-failed, "prctl(PR_SET_PDEATHSIG) failed")
    # The server may have ended before the line above: then the signal never comes.
    if os.getppid() != parent:
        os._exit(EXIT_ORPHAN)


def limit() -> None:
    """Puts the resource limits on this process; the hard ones, so that it cannot raise them again."""
    from runtime.worker.limits import RESOURCES

    for name, amount in RESOURCES.items():
        resource.setrlimit(getattr(resource, name), (amount, amount))


def listen_for_stack(descriptor: int) -> None:
    """Lets the server see where a stuck call hangs, before it kills the process."""
    from runtime.worker.limits import STACK_SIGNAL

    faulthandler.register(STACK_SIGNAL, file=descriptor, all_threads=True)


def load(words: dict[str, str], standard: list[str], kernel: "Kernel") -> Callable[[int, int], NoReturn]:
    """Loads the host's modules, narrows the path, puts up the guard, loads `<package>.SPORT`.

    Returns what serves it.
    """
    # msgspec takes it where it lies about, though `typing` has all it needs: 6 ms of every start.
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    from runtime.worker import limits, ops, serving
    from runtime.worker.guard.attempts import Attempts
    from runtime.worker.guard.putting_up import put_up

    try:
        if words["package"] == limits.EXPERIMENTAL_PACKAGE:
            # What a sport sent by value is made of; out of reach once the path is narrowed.
            importlib.import_module("cloudpickle")
        host = host_folders()
        hide_host()
        sys.path[:] = [*standard, words["folder"]]
        importlib.invalidate_caches()
        attempts = Attempts(words["folder"])
        report = put_up(
            kernel,
            attempts,
            standard=standard,
            host=host,
            folder=words["folder"],
            withheld=words["withheld"].split(","),
        )
        require(report, words["minimum"])
        sport: Any = importlib.import_module(words["package"]).SPORT
        require_innocence(attempts)
        operations = ops.Operations(sport, code_sha=words["code_sha"], report=report, attempts=attempts)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(limits.EXIT_LOAD)
    return partial(serving.serve, operations)


def require(report: "Report", minimum: str) -> None:
    """Ends the process where its guard is weaker than the code it would run needs."""
    from runtime.worker.guard.level import is_below, too_weak
    from runtime.worker.limits import EXIT_GUARD

    if is_below(report.level, minimum):  # type: ignore[arg-type]
        print(too_weak(report, minimum), file=sys.stderr, flush=True)  # type: ignore[arg-type]
        os._exit(EXIT_GUARD)


def require_innocence(attempts: "Attempts") -> None:
    """Ends the load of a package whose import tried what rules must not, and hid it.

    Raises:
        Forbidden: it did.
    """
    from runtime.worker.guard.attempts import Forbidden

    if attempt := attempts.take():
        raise Forbidden(f"the rules must not {attempt.deed}: {attempt.what}, at {attempt.where}")


def host_folders() -> set[str]:
    """Folders of the packages loaded that are ours: their code may look where rules may not."""
    return {
        folder
        for name in ("runtime", "scorebox_contract", "msgpack", "msgspec", "cloudpickle")
        if name in sys.modules
        for folder in sys.modules[name].__path__
    }


def hide_host() -> None:
    """Keeps the sport from importing more of the server than what is loaded already.

    The contract, msgspec and msgpack stay as they are: a sport may use them.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "runtime" and hasattr(module, "__path__"):
            module.__path__ = []


if __name__ == "__main__":
    main()
