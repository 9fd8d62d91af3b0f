"""Kernels that lack something, as a filter of system calls makes them: what workers find, and say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LIMIT_S = 60
PROGRAM = """
import sys
from runtime.worker.guard.kernel import PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, Kernel
from runtime.worker.guard.landlock import CREATE_RULESET
from runtime.worker.guard.seccomp import ALLOW, ARGUMENTS_AT, EQUAL, ERRNO, LOAD, RETURN
from runtime.worker.guard.seccomp import Instruction, machine, packed
from tests.guardlevel import asked

PRCTL = {"x86_64": 157, "aarch64": 167}[machine()]
EINVAL, ENOSYS = 22, 38
LACKING = {
    "landlock": [
        Instruction(LOAD, 0, 0, 0),
        Instruction(EQUAL, 0, 1, CREATE_RULESET),
        Instruction(RETURN, 0, 0, ERRNO | ENOSYS),
    ],
    "seccomp": [
        Instruction(LOAD, 0, 0, 0),
        Instruction(EQUAL, 0, 3, PRCTL),
        Instruction(LOAD, 0, 0, ARGUMENTS_AT),
        Instruction(EQUAL, 0, 1, PR_SET_SECCOMP),
        Instruction(RETURN, 0, 0, ERRNO | EINVAL),
    ],
}
kernel = Kernel()
kernel.control(PR_SET_NO_NEW_PRIVS, 1)
for lacking in sys.argv[1:]:
    code = [*LACKING[lacking], Instruction(RETURN, 0, 0, ALLOW)]
    assert kernel.set_filter(packed(code), len(code)) == 0
report = asked()
print(report.level, *report.lacks, sep="\\n")
"""
SAID = {
    "landlock": (
        "landlock: the kernel has no landlock "
        "(Linux 5.13 or newer, with landlock in its list of modules: lsm=)"
    ),
    "seccomp": "seccomp: the kernel takes no seccomp filter: Invalid argument",
}


def found(*lacking: str) -> list[str]:
    """The level a worker finds on such a kernel, and what it says of it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *lacking],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=LIMIT_S,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("lacking", "level"),
    [(("landlock",), "seccomp"), (("seccomp",), "audit"), (("landlock", "seccomp"), "audit")],
)
def test_a_worker_says_what_the_kernel_lacks(guard_level: str, lacking: tuple[str, ...], level: str):
    if guard_level != "full":
        pytest.skip(f"the kernel here allows a guard of level {guard_level} only: nothing to take away")
    assert found(*lacking) == [level, *(SAID[each] for each in lacking)]


def test_a_worker_reaches_all_that_the_kernel_allows(guard_level: str):
    assert found()[0] == guard_level
