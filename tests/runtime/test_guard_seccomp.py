"""The filter of system calls as data: run by an interpreter of its instructions, without a kernel."""

import errno
import os
import struct
from typing import Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.worker.guard import seccomp
from runtime.worker.guard.seccomp import ALLOW, ERRNO, KILL_PROCESS, Instruction, packed, program
from runtime.worker.guard.syscalls import ALLOWED, ARCHITECTURES, CLONE_THREAD, UNKNOWN, Machine, conditional

PID = 4711
REFUSED = ERRNO | errno.EPERM
NOT_KNOWN = ERRNO | errno.ENOSYS
INSTRUCTIONS_MOST = 4096
"""BPF_MAXINSNS (linux/bpf_common.h)."""
MACHINES: tuple[Machine, ...] = get_args(Machine)
FORK_FLAGS = 0x01200011
THREAD_FLAGS = 0x3D0F00
O_TMPFILE_ALONE = 0o20000000

FORBIDDEN: dict[str, tuple[int, int]] = {
    "socket": (41, 198),
    "connect": (42, 203),
    "socketpair": (53, 199),
    "execve": (59, 221),
    "kill": (62, 129),
    "tkill": (200, 130),
    "ptrace": (101, 117),
    "ftruncate": (77, 46),
    "chdir": (80, 49),
    "prctl": (157, 167),
    "seccomp": (317, 277),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "execveat": (322, 281),
    "unlinkat": (263, 35),
    "mkdirat": (258, 34),
    "renameat2": (316, 276),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "io_uring_setup": (425, 425),
    "landlock_restrict_self": (446, 446),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "setrlimit": (160, 164),
}


def run(code: list[Instruction], number: int, *arguments: int, architecture: int) -> int:
    """What the program answers to a call: the few instructions it is made of, as the kernel runs them."""
    filled = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, architecture, 0, *(each % 2**64 for each in filled))
    accumulator, at = 0, 0
    while True:
        step = code[at]
        at += 1
        match step.code:
            case seccomp.LOAD:
                (accumulator,) = struct.unpack_from("<I", data, step.value)
            case seccomp.EQUAL:
                at += step.yes if accumulator == step.value else step.no
            case seccomp.AT_LEAST:
                at += step.yes if accumulator >= step.value else step.no
            case seccomp.BITS:
                at += step.yes if accumulator & step.value else step.no
            case seccomp.MASK:
                accumulator &= step.value
            case seccomp.RETURN:
                return step.value
            case other:
                raise AssertionError(f"no instruction {other:#x}")


class Filter:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.column = MACHINES.index(machine)
        self.code = program(machine, PID)

    def number(self, name: str) -> int | None:
        numbers = {
            **ALLOWED,
            **UNKNOWN,
            **FORBIDDEN,
            **{each: pair for each, (pair, _) in conditional(PID).items()},
        }
        return numbers[name][self.column]

    def answer(self, name: str | int, *arguments: int) -> int:
        number = self.number(name) if isinstance(name, str) else name
        assert number is not None
        return run(self.code, number, *arguments, architecture=ARCHITECTURES[self.machine])


@pytest.fixture(params=MACHINES)
def filter_(request: Any) -> Filter:
    return Filter(request.param)


def test_what_is_on_the_list_is_let_pass_with_any_arguments(filter_: Filter):
    for name in ALLOWED:
        if filter_.number(name) is not None:
            assert filter_.answer(name, -1, 1, 2, 3, 4, 5) == ALLOW, name


def test_what_reaches_out_is_refused(filter_: Filter):
    for name in FORBIDDEN:
        assert filter_.answer(name, 0, 0, 0) == REFUSED, name


def test_calls_whose_arguments_cannot_be_seen_are_unknown(filter_: Filter):
    assert filter_.answer("clone3") == filter_.answer("openat2") == NOT_KNOWN


def test_only_threads_are_cloned(filter_: Filter):
    assert filter_.answer("clone", THREAD_FLAGS) == ALLOW
    assert filter_.answer("clone", FORK_FLAGS) == REFUSED
    assert filter_.answer("clone", 0) == REFUSED
    assert filter_.answer("clone", CLONE_THREAD | 0x10000000) == REFUSED, "a new user namespace"


@pytest.mark.parametrize(
    ("flags", "answer"),
    [
        (os.O_RDONLY, ALLOW),
        (os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, ALLOW),
        (os.O_PATH, ALLOW),
        (os.O_WRONLY, REFUSED),
        (os.O_RDWR | os.O_CLOEXEC, REFUSED),
        (os.O_RDONLY | os.O_CREAT, REFUSED),
        (os.O_RDONLY | os.O_TRUNC, REFUSED),
        (os.O_APPEND, REFUSED),
        (O_TMPFILE_ALONE, REFUSED),
    ],
)
def test_files_are_opened_to_be_read(filter_: Filter, flags: int, answer: int):
    assert filter_.answer("openat", -100, 0x7000, flags) == answer
    if filter_.number("open") is not None:
        assert filter_.answer("open", 0x7000, flags) == answer


def test_signals_go_to_the_process_itself(filter_: Filter):
    assert filter_.answer("tgkill", PID, PID, 6) == ALLOW
    assert filter_.answer("tgkill", PID + 1, PID, 6) == REFUSED
    assert filter_.answer("kill", PID, 9) == REFUSED


def test_signal_handlers_and_limits_are_read_and_not_set(filter_: Filter):
    assert filter_.answer("rt_sigaction", 12, 0, 0x7000) == ALLOW
    assert filter_.answer("rt_sigaction", 12, 0x7000, 0) == REFUSED
    assert filter_.answer("rt_sigaction", 12, 0x7000_0000_0000, 0) == REFUSED, "the high word counts"
    assert filter_.answer("prlimit64", 0, 7, 0, 0x7000) == ALLOW
    assert filter_.answer("prlimit64", 0, 7, 0x7000, 0) == REFUSED
    assert filter_.answer("prlimit64", 1, 7, 0, 0x7000) == REFUSED


def test_descriptors_are_asked_and_not_told_to_send_signals(filter_: Filter):
    for command in (0, 1, 2, 3, 1030):
        assert filter_.answer("fcntl", 3, command) == ALLOW
    for command in (4, 8, 10, 1024, 1033):
        assert filter_.answer("fcntl", 3, command) == REFUSED
    assert filter_.answer("ioctl", 1, 0x5401) == ALLOW
    assert filter_.answer("ioctl", 1, 0x5412) == REFUSED, "TIOCSTI types into a terminal"


def test_calls_of_another_architecture_end_the_process(filter_: Filter):
    for architecture in {0x40000003, 0x40000028, *ARCHITECTURES.values()} - {ARCHITECTURES[filter_.machine]}:
        assert run(filter_.code, 1, architecture=architecture) == KILL_PROCESS
    if filter_.machine == "x86_64":
        assert filter_.answer(0x40000000 | 41) == KILL_PROCESS, "the x32 ABI"


@given(st.sampled_from(MACHINES), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_every_call_gets_an_answer_and_only_the_list_passes(
    machine: Machine, number: int, arguments: list[int]
):
    filter_ = Filter(machine)
    answer = filter_.answer(number, *arguments)
    assert answer in (ALLOW, REFUSED, NOT_KNOWN, KILL_PROCESS)
    listed = {pair[filter_.column] for pair in ALLOWED.values()}
    listed |= {pair[filter_.column] for pair, _ in conditional(PID).values()}
    if answer == ALLOW:
        assert number in listed


def test_the_program_is_one_the_kernel_takes(filter_: Filter):
    assert len(filter_.code) <= INSTRUCTIONS_MOST
    assert len(packed(filter_.code)) == 8 * len(filter_.code)
    for at, step in enumerate(filter_.code):
        assert 0 <= step.yes <= 255
        assert 0 <= step.no <= 255
        if step.code in (seccomp.EQUAL, seccomp.AT_LEAST, seccomp.BITS):
            assert at + 1 + max(step.yes, step.no) < len(filter_.code)
    assert filter_.code[-1] == Instruction(seccomp.RETURN, 0, 0, REFUSED)


def test_no_number_stands_twice():
    for column in range(len(MACHINES)):
        tables = (ALLOWED, UNKNOWN, FORBIDDEN, {name: pair for name, (pair, _) in conditional(PID).items()})
        numbers = [pair[column] for table in tables for pair in table.values() if pair[column] is not None]
        assert len(numbers) == len(set(numbers))


def test_a_machine_without_a_table_is_said(monkeypatch: pytest.MonkeyPatch):
    class Uname:
        machine = "riscv64"

    monkeypatch.setattr(os, "uname", Uname)
    assert seccomp.machine() is None
    why = seccomp.restrict(cast("Any", None))
    assert why == "there is no table of system calls for riscv64 (only x86_64, aarch64)"
