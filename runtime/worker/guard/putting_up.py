"""Puts the guard up, layer by layer, and finds out what of it holds."""

import os
import sys
from collections.abc import Collection

from runtime.worker.guard import landlock, seccomp
from runtime.worker.guard.attempts import Attempts
from runtime.worker.guard.audit import Rules, install
from runtime.worker.guard.kernel import Kernel, forget
from runtime.worker.guard.level import Layer, Report, report
from runtime.worker.guard.probe import probe
from runtime.worker.guard.refusals import NamedRefusals
from runtime.worker.limits import EXPERIMENTAL_PACKAGE

LIBRARY_CACHE = "/etc/ld.so.cache"
"""Where the C library looks up the libraries that modules of the standard library need."""
MAPS = "/proc/self/maps"


def put_up(
    kernel: Kernel,
    attempts: Attempts,
    *,
    standard: Collection[str],
    host: Collection[str],
    folder: str,
    withheld: Collection[str] = (),
) -> Report:
    """Puts the guard on this process, for good, and says how much of it holds.

    `standard` are the folders of the standard library, `host` of our own code, `folder` is the version's.
    `withheld` layers are left out: tests and measurements see what a weaker kernel would do.
    """
    missing: dict[Layer, str] = {}
    sys.dont_write_bytecode = True
    readable = (*standard, folder)
    if "landlock" in withheld:
        missing["landlock"] = "withheld"
    elif why := landlock.restrict(kernel, (*readable, LIBRARY_CACHE, *libraries())):
        missing["landlock"] = why
    if "seccomp" in withheld:
        missing["seccomp"] = "withheld"
    elif why := seccomp.restrict(kernel):
        missing["seccomp"] = why
    if "audit" in withheld:
        missing["audit"] = "withheld"
    else:
        NamedRefusals(attempts, tuple(standard)).put_up()
        unpickling = os.path.join(folder, EXPERIMENTAL_PACKAGE, "__init__.py")
        install(Rules(readable, tuple(standard), tuple(host), unpickling), attempts)
    for layer, why in probe(kernel, attempts).items():
        missing.setdefault(layer, why)
    forget(kernel)
    return report(missing)


def libraries() -> set[str]:
    """Folders of the shared libraries of this process: modules that are loaded later need more of them."""
    with open(MAPS, encoding="utf-8", errors="surrogateescape") as maps:
        paths = (line.partition("/")[2].rstrip("\n") for line in maps)
        return {f"/{os.path.dirname(path)}" for path in paths if ".so" in os.path.basename(path)}
