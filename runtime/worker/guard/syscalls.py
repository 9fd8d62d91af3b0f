"""The system calls a worker may make once its guard stands: names, numbers, and under what conditions."""

import os
from typing import Literal, NamedTuple

Machine = Literal["x86_64", "aarch64"]

ARCHITECTURES: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""AUDIT_ARCH_… (linux/audit.h)."""

X32_BIT = 0x40000000
"""Set in the numbers of the x32 ABI, which shares the architecture of x86_64."""


class Condition(NamedTuple):
    """On the low 32 bits of an argument (counted from 0).

    `one_of`: equal to one of the values. `without`: none of the bits `values[0]`. `with`: all of them.
    `null`: all 64 bits are 0.
    """

    argument: int
    kind: Literal["one_of", "without", "with", "null"]
    values: tuple[int, ...] = ()


ALLOWED: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "getpid": (39, 172),
    "exit": (60, 93),
    "uname": (63, 160),
    "getcwd": (79, 17),
    "readlink": (89, None),
    "gettimeofday": (96, 169),
    "sysinfo": (99, 179),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "getpgid": (121, 155),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "exit_group": (231, 94),
    "newfstatat": (262, 79),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "set_robust_list": (273, 99),
    "getrandom": (318, 278),
    "statx": (332, 291),
    "rseq": (334, 293),
    "faccessat2": (439, 439),
}
"""Name → number on x86_64 and on aarch64 (None where it has none). Of these any arguments are taken."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | (os.O_TMPFILE & ~os.O_DIRECTORY)
_FCNTL = (0, 1, 2, 3, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC: none that has signals sent."""
_IOCTL = (0x5401, 0x5450, 0x5451)
"""TCGETS, FIONCLEX, FIOCLEX."""
CLONE_THREAD = 0x00010000
_NEW_NAMESPACES = 0x7E020080


def conditional(pid: int) -> dict[str, tuple[tuple[int | None, int | None], tuple[Condition, ...]]]:
    """Name → numbers and the conditions that must all hold, for a process with this pid."""
    return {
        "open": ((2, None), (Condition(1, "without", (_WRITING,)),)),
        "openat": ((257, 56), (Condition(2, "without", (_WRITING,)),)),
        "rt_sigaction": ((13, 134), (Condition(1, "null"),)),
        "ioctl": ((16, 29), (Condition(1, "one_of", _IOCTL),)),
        "fcntl": ((72, 25), (Condition(1, "one_of", _FCNTL),)),
        "tgkill": ((234, 131), (Condition(0, "one_of", (pid,)),)),
        "prlimit64": ((302, 261), (Condition(0, "one_of", (0, pid)), Condition(2, "null"))),
        "clone": (
            (56, 220),
            (Condition(0, "with", (CLONE_THREAD,)), Condition(0, "without", (_NEW_NAMESPACES,))),
        ),
    }


UNKNOWN: dict[str, tuple[int | None, int | None]] = {"clone3": (435, 435), "openat2": (437, 437)}
"""Answered with ENOSYS: the C library then takes an older call, whose arguments can be looked at."""

FORBIDDEN_FOR_PROBES: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "process_vm_readv": (310, 270),
    "kill": (62, 129),
    "openat": (257, 56),
}
"""What a probe tries."""
