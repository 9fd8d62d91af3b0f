"""Seccomp: the allow-list of system calls as a BPF program, assembled here (linux/filter.h, linux/seccomp.h).

What is not on the list fails with EPERM, which Python raises as PermissionError where it happens; a call of
another architecture, whose numbers mean other things, ends the process.
"""

import errno
import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from runtime.worker.guard.kernel import PR_SET_NO_NEW_PRIVS, Kernel
from runtime.worker.guard.syscalls import (
    ALLOWED,
    ARCHITECTURES,
    UNKNOWN,
    X32_BIT,
    Condition,
    Machine,
    conditional,
)

LOAD = 0x20
"""BPF_LD | BPF_W | BPF_ABS: a word of struct seccomp_data into the accumulator."""
EQUAL = 0x15
"""BPF_JMP | BPF_JEQ | BPF_K: jumps `yes` or `no` instructions on."""
AT_LEAST = 0x35
"""BPF_JMP | BPF_JGE | BPF_K."""
BITS = 0x45
"""BPF_JMP | BPF_JSET | BPF_K: any of the bits."""
MASK = 0x54
"""BPF_ALU | BPF_AND | BPF_K."""
RETURN = 0x06
"""BPF_RET | BPF_K."""

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
ERRNO = 0x00050000

NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
"""Offsets in struct seccomp_data, in bytes; each argument has 8, its low word first on both machines."""


class Instruction(NamedTuple):
    """struct sock_filter."""

    code: int
    yes: int
    no: int
    value: int


def machine() -> Machine | None:
    """This machine, where there is a table for it."""
    name = os.uname().machine
    return name if name in ARCHITECTURES else None


def program(machine: Machine, pid: int) -> list[Instruction]:
    """The filter for a process on a machine."""
    column = list(ARCHITECTURES).index(machine)
    code = [
        Instruction(LOAD, 0, 0, ARCHITECTURE_AT),
        Instruction(EQUAL, 1, 0, ARCHITECTURES[machine]),
        _give(KILL_PROCESS),
        Instruction(LOAD, 0, 0, NUMBER_AT),
    ]
    if machine == "x86_64":
        code += [Instruction(AT_LEAST, 0, 1, X32_BIT), _give(KILL_PROCESS)]
    for numbers, answer in ((ALLOWED, ALLOW), (UNKNOWN, ERRNO | errno.ENOSYS)):
        for each in numbers.values():
            if (number := each[column]) is not None:
                code += [Instruction(EQUAL, 0, 1, number), _give(answer)]
    for each, conditions in conditional(pid).values():
        if (number := each[column]) is not None:
            block = [step for condition in conditions for step in _unless_refused(condition)]
            code += [Instruction(EQUAL, 0, len(block) + 1, number), *block, _give(ALLOW)]
    return [*code, _give(ERRNO | errno.EPERM)]


def _give(answer: int) -> Instruction:
    return Instruction(RETURN, 0, 0, answer)


def _unless_refused(condition: Condition) -> Iterator[Instruction]:
    """Goes on behind these instructions where the condition holds, and refuses where it does not."""
    at = ARGUMENTS_AT + 8 * condition.argument
    refusal = _give(ERRNO | errno.EPERM)
    yield Instruction(LOAD, 0, 0, at)
    match condition.kind:
        case "one_of":
            for left, value in zip(range(len(condition.values) - 1, -1, -1), condition.values, strict=True):
                yield Instruction(EQUAL, left + 1, 0, value)
            yield refusal
        case "without":
            yield Instruction(BITS, 0, 1, condition.values[0])
            yield refusal
        case "with":
            yield Instruction(MASK, 0, 0, condition.values[0])
            yield Instruction(EQUAL, 1, 0, condition.values[0])
            yield refusal
        case "null":
            yield Instruction(EQUAL, 1, 0, 0)
            yield refusal
            yield Instruction(LOAD, 0, 0, at + 4)
            yield Instruction(EQUAL, 1, 0, 0)
            yield refusal


def packed(code: list[Instruction]) -> bytes:
    """The program as the kernel takes it."""
    return b"".join(struct.pack("=HBBI", *each) for each in code)


def restrict(kernel: Kernel) -> str | None:
    """Puts the filter on this process, for good. Why it could not, or None."""
    here = machine()
    if here is None:
        return f"there is no table of system calls for {os.uname().machine} (only {', '.join(ARCHITECTURES)})"
    code = program(here, os.getpid())
    kernel.control(PR_SET_NO_NEW_PRIVS, 1)
    failed = kernel.set_filter(packed(code), len(code))
    return f"the kernel takes no seccomp filter: {os.strerror(-failed)}" if failed else None
