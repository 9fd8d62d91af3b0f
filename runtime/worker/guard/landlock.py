"""Landlock: which files a process can read from now on; it writes none (linux/landlock.h).

What a ruleset handles is refused but for the exceptions in it. Newer kernels handle more (their ABI says
what): from 4 on TCP, from 6 on signals to processes outside and abstract Unix sockets.
"""

import os
import struct
from collections.abc import Iterable, Iterator

from runtime.worker.guard.kernel import PR_SET_NO_NEW_PRIVS, Kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls, of these numbers on every machine."""
_VERSION_FLAG = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_FILES_SINCE = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""ABI → rights over files that it added: 13 at first, then to move, to truncate, to ask devices."""
_TCP_SINCE, _TCP = 4, 0b11
_SCOPES_SINCE, _SCOPES = 6, 0b11


def abi(kernel: Kernel) -> int:
    """The kernel's landlock ABI; 0 where there is none."""
    return max(0, kernel.call(CREATE_RULESET, None, 0, _VERSION_FLAG))


def handled(abi: int) -> bytes:
    """struct landlock_ruleset_attr: everything that an ABI can refuse."""
    files = sum(rights for since, rights in _FILES_SINCE.items() if abi >= since)
    fields = [files]
    if abi >= _TCP_SINCE:
        fields.append(_TCP)
    if abi >= _SCOPES_SINCE:
        fields.append(_SCOPES)
    return struct.pack(f"={len(fields)}Q", *fields)


def exception(descriptor: int, *, folder: bool) -> bytes:
    """struct landlock_path_beneath_attr: what is under an open path may be read."""
    return struct.pack("=Qi", READ_FILE | READ_DIR if folder else READ_FILE, descriptor)


def restrict(kernel: Kernel, readable: Iterable[str]) -> str | None:
    """Lets this process read these files and folders, and no other. Why it could not, or None."""
    supported = abi(kernel)
    if not supported:
        return "the kernel has no landlock (Linux 5.13 or newer, with landlock in its list of modules: lsm=)"
    attributes = handled(supported)
    ruleset = kernel.call(CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return f"landlock_create_ruleset failed: {os.strerror(-ruleset)}"
    try:
        for path, folder in _existing(readable):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                failed = kernel.call(ADD_RULE, ruleset, _PATH_BENEATH, exception(opened, folder=folder), 0)
            finally:
                os.close(opened)
            if failed:
                return f"landlock_add_rule of {path} failed: {os.strerror(-failed)}"
        kernel.control(PR_SET_NO_NEW_PRIVS, 1)
        failed = kernel.call(RESTRICT_SELF, ruleset, 0)
        return f"landlock_restrict_self failed: {os.strerror(-failed)}" if failed else None
    finally:
        os.close(ruleset)


def _existing(paths: Iterable[str]) -> Iterator[tuple[str, bool]]:
    for path in paths:
        folder = os.path.isdir(path)
        if folder or os.path.isfile(path):
            yield path, folder
