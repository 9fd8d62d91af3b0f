"""The misdeeds, each one function of an amount. These get past the guard; those in `forbidden` do not."""

import os
import signal
import stat
import sys
from _thread import allocate_lock
from typing import Any

from scorebox_rogue.forbidden import FORBIDDEN, fork

DESCRIPTORS = range(3, 4096)

HOARD: list[bytes] = []


def loop(amount: int) -> None:
    while True:
        pass


def loop_in_c(amount: int) -> None:
    sum(range(10**12))


def sleep(amount: int) -> None:
    """A rule that waits, in a way that asks no clock."""
    lock = allocate_lock()
    lock.acquire()
    lock.acquire(timeout=amount / 1000)


def eat_memory(amount: int) -> None:
    eaten = []
    while True:
        eaten.append(bytearray(8 * 1024 * 1024))


def hoard(amount: int) -> None:
    """Keeps `amount` MB for good."""
    HOARD.append(bytes(bytearray(b"x" * 1024) * 1024 * amount))


def exit(amount: int) -> None:
    os._exit(amount)


def kill(amount: int) -> None:
    """As `kill -9` from outside, at a moment that is certain."""
    signal.raise_signal(signal.SIGKILL)


def raise_(amount: int) -> None:
    raise LookupError("a mistake in the rules")


def system_exit(amount: int) -> None:
    sys.exit(amount)


def recurse(amount: int) -> None:
    recurse(amount)


def protocol() -> int:
    """The worker's end of the protocol's socket, found the way rogue code would find it."""
    for descriptor in DESCRIPTORS:
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                return descriptor
        except OSError:
            continue
    raise LookupError("no socket")


def garbage(amount: int) -> None:
    os.write(protocol(), b"\x00\x00\x00\x05hello, this is not msgpack")


def half_frame(amount: int) -> None:
    os.write(protocol(), b"\x00\x00\x01\x00half of it")
    loop(amount)


def long_header(amount: int) -> None:
    os.write(protocol(), b"\xff\xff\xff\xff")


def two_replies(amount: int) -> None:
    end = protocol()
    for _ in range(2):
        os.write(end, b"\x00\x00\x00\x01\xc0")


def hang_up(amount: int) -> None:
    os.close(protocol())
    loop(amount)


def flood(amount: int) -> None:
    for _ in range(amount):
        print("drip " * 20)
    sys.stdout.flush()


def daemon(amount: int) -> None:
    """Leaves a child in its process group that would outlive it, and ends."""
    if fork(amount) == 0:
        sleep(600_000)
    os._exit(0)


PLAIN: dict[str, Any] = {
    "loop": loop,
    "loop_in_c": loop_in_c,
    "sleep": sleep,
    "eat_memory": eat_memory,
    "hoard": hoard,
    "exit": exit,
    "kill": kill,
    "raise": raise_,
    "system_exit": system_exit,
    "recurse": recurse,
    "garbage": garbage,
    "half_frame": half_frame,
    "long_header": long_header,
    "two_replies": two_replies,
    "hang_up": hang_up,
    "flood": flood,
    "daemon": daemon,
    **FORBIDDEN,
}
