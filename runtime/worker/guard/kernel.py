"""System calls that Python has no function for. The one user of ctypes, which the rules cannot have."""

import ctypes
import sys
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38


class Kernel:
    """Calls into the C library. Numbers of system calls are those of the machine."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._syscall = self._libc.syscall
        self._syscall.restype = ctypes.c_long
        self._prctl = self._libc.prctl

    def call(self, number: int, *arguments: int | bytes | None) -> int:
        """A system call: its result, or minus the errno. Integers are passed as longs, bytes by address."""
        result: int = self._syscall(ctypes.c_long(number), *map(_as_argument, arguments))
        return result if result != -1 else -ctypes.get_errno()

    def control(self, option: int, *arguments: int) -> int:
        """`prctl`: 0, or minus the errno."""
        padded = (*arguments, 0, 0, 0, 0)[:4]
        result: int = self._prctl(option, *(ctypes.c_ulong(each) for each in padded))
        return result if result != -1 else -ctypes.get_errno()

    def set_filter(self, program: bytes, instructions: int) -> int:
        """Puts a seccomp filter on this process (BPF instructions of 8 bytes each): 0, or minus the errno."""
        held = ctypes.create_string_buffer(program, len(program))
        head = _FilterHead(instructions, ctypes.cast(held, ctypes.c_void_p))
        return self.control(PR_SET_SECCOMP, 2, ctypes.addressof(head))


class _FilterHead(ctypes.Structure):
    """struct sock_fprog (linux/filter.h)."""

    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def _as_argument(given: int | bytes | None) -> Any:
    return ctypes.c_long(given) if isinstance(given, int) else given


def forget(kernel: Kernel) -> None:
    """Takes ctypes out of reach: an import of it is refused from now on."""
    vars(kernel).clear()
    for name in ("ctypes", "_FilterHead", "_as_argument"):
        globals().pop(name, None)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ctypes", "_ctypes", "resource")]:
        del sys.modules[name]
