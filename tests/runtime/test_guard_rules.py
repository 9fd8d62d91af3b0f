"""What the guard decides, over plain data: levels, the audit hook's rules, landlock's structures."""

import errno
import os
import struct
from pathlib import Path
from typing import Any, cast

import pytest

from runtime.guarding import GuardPolicy
from runtime.worker.guard import landlock
from runtime.worker.guard.audit import Rules
from runtime.worker.guard.kernel import Kernel
from runtime.worker.guard.level import LEVELS, Layer, Report, is_below, report, too_weak

STANDARD, HOST, VERSION = "/lib/python3.11", "/srv/host/runtime", "/srv/sports/chess/1.0.0"
RULES = Rules((STANDARD, VERSION), (STANDARD,), (HOST,))
SPORT = f"{VERSION}/scorebox_chess/rules.py"


@pytest.mark.parametrize(
    ("missing", "level"),
    [
        ((), "full"),
        (("landlock",), "seccomp"),
        (("seccomp",), "audit"),
        (("seccomp", "landlock"), "audit"),
        (("audit",), "limits"),
        (("limits",), "none"),
    ],
)
def test_a_layer_counts_only_with_all_before_it(missing: tuple[Layer, ...], level: str):
    found = report(dict.fromkeys(missing, "not here"))
    assert found == Report(level, tuple(f"{layer}: not here" for layer in missing))  # type: ignore[arg-type]


def test_levels_are_compared_by_their_order():
    for at, level in enumerate(LEVELS):
        assert [is_below(level, minimum) for minimum in LEVELS] == [
            at < other for other in range(len(LEVELS))
        ]
    assert is_below("splendid", "none")


def test_a_guard_that_is_too_weak_is_said_with_what_lacks_and_what_to_set():
    said = too_weak(Report("seccomp", ("landlock: the kernel has none",)), "full")
    assert "reaches the level seccomp on this machine, this code needs full" in said
    assert "landlock: the kernel has none" in said
    assert "SCOREBOX_MINIMUM_GUARD_LEVEL=seccomp" in said


def test_code_that_came_with_the_application_needs_less():
    policy = GuardPolicy()
    assert (policy.minimum(bundled=False), policy.minimum(bundled=True)) == ("full", "audit")


@pytest.mark.parametrize(
    ("event", "arguments", "tried"),
    [
        ("open", (f"{VERSION}/scorebox_chess/table.json", "r", os.O_RDONLY), None),
        ("open", (f"{VERSION}/../../football/1.0.0/x", "r", os.O_RDONLY), "read a file"),
        ("open", (f"{VERSION}x/y", "r", os.O_RDONLY), "read a file"),
        ("open", (f"{STANDARD}/json/__init__.py".encode(), "rb", 0), None),
        ("open", ("/etc/passwd", "r", os.O_RDONLY), "read a file"),
        ("open", (f"{VERSION}/x", "a", os.O_WRONLY | os.O_APPEND), "write a file"),
        ("open", (f"{VERSION}/x", None, os.O_RDWR), "write a file"),
        ("open", (1, "r", 0), None),
        ("os.listdir", (STANDARD,), None),
        ("os.listdir", (None,), "read a file"),
        ("os.scandir", ("/",), "read a file"),
        ("import", ("json", None), None),
        ("import", ("socket", None), "open a connection"),
        ("import", ("asyncio.events", None), "open a connection"),
        ("import", ("ctypes.util", None), "reach past Python into memory"),
        ("socket.getaddrinfo", (), "open a connection"),
        ("subprocess.Popen", (), "start a process"),
        ("os.fork", (), "start a process"),
        ("os.kill", (1, 9), "send a signal"),
        ("gc.get_objects", (2,), "go through the objects of the process"),
        ("sys._getframe", (None,), "look into the frames of its callers"),
        ("object.__getattr__", (None, "tb_frame"), "look into the frames of its callers"),
        ("object.__getattr__", (None, "__code__"), None),
        ("object.__setattr__", (None, "__code__", None), "change code that runs"),
        ("object.__setattr__", (None, "__name__", None), None),
        ("code.__new__", (), "change code that runs"),
        ("builtins.id", (1,), None),
        ("compile", (None, None), None),
        ("exec", (None,), None),
        ("of.a.newer.python", (), None),
        ("open", (Path("/etc/passwd"), "r", os.O_RDONLY), "read a file"),
    ],
)
def test_what_an_event_of_the_sports_is_an_attempt_at(
    event: str, arguments: tuple[Any, ...], tried: str | None
):
    found = RULES.tried(event, arguments, SPORT)
    assert (found and found[0]) == tried


class Sly(str):
    """A text whose methods are the sport's."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("a method of the sport's ran inside the hook")

    def __hash__(self) -> int:
        raise AssertionError("a method of the sport's ran inside the hook")

    def __fspath__(self) -> str:
        raise AssertionError("a method of the sport's ran inside the hook")


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", (Sly("/x"), Sly("w"), 0)),
        ("os.listdir", (Sly("/x"),)),
        ("import", (Sly("socket"), None)),
        ("object.__getattr__", (None, Sly("tb_frame"))),
        ("object.__setattr__", (None, Sly("__code__"), None)),
    ],
)
def test_nothing_of_the_sports_runs_inside_the_hook(event: str, arguments: tuple[Any, ...]):
    """The hook does not look at what happens while it looks."""
    RULES.tried(event, arguments, SPORT)


@pytest.mark.parametrize(
    ("event", "asker", "allowed"),
    [
        ("sys._getframe", f"{STANDARD}/collections/__init__.py", True),
        ("sys._getframe", f"{STANDARD}/inspect.py", False),
        ("sys._getframe", f"{HOST}/worker/guard/refusals.py", True),
        ("object.__getattr__", f"{STANDARD}/traceback.py", True),
        ("object.__getattr__", f"{STANDARD}/inspect.py", False),
        ("code.__new__", f"{STANDARD}/types.py", True),
    ],
)
def test_the_standard_library_looks_where_it_must(event: str, asker: str, allowed: bool):
    assert (RULES.tried(event, (None, "tb_frame"), asker) is None) is allowed


@pytest.mark.parametrize(
    ("abi", "fields"),
    [
        (1, ((1 << 13) - 1,)),
        (2, ((1 << 14) - 1,)),
        (3, ((1 << 15) - 1,)),
        (4, ((1 << 15) - 1, 0b11)),
        (5, ((1 << 16) - 1, 0b11)),
        (6, ((1 << 16) - 1, 0b11, 0b11)),
        (99, ((1 << 16) - 1, 0b11, 0b11)),
    ],
)
def test_landlock_handles_all_that_its_abi_can(abi: int, fields: tuple[int, ...]):
    packed = landlock.handled(abi)
    assert struct.unpack(f"={len(packed) // 8}Q", packed) == fields


def test_what_landlock_lets_pass_is_reading():
    assert struct.unpack("=Qi", landlock.exception(7, folder=True)) == (0b1100, 7)
    assert struct.unpack("=Qi", landlock.exception(7, folder=False)) == (0b0100, 7)


class KernelWithoutLandlock:
    def call(self, number: int, *arguments: Any) -> int:
        assert number == landlock.CREATE_RULESET
        return -errno.EOPNOTSUPP


def test_a_kernel_without_landlock_is_said():
    why = landlock.restrict(cast(Kernel, KernelWithoutLandlock()), ["/"])
    assert why is not None
    assert "the kernel has no landlock" in why
