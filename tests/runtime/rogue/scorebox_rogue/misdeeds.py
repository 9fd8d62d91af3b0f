"""The misdeeds, each one function of an amount."""

import os
import signal
import socket
import sys
import time
from typing import Any

HOARD: list[bytes] = []


def loop(amount: int) -> None:
    while True:
        pass


def loop_in_c(amount: int) -> None:
    sum(range(10**12))


def sleep(amount: int) -> None:
    time.sleep(amount / 1000)


def eat_memory(amount: int) -> None:
    eaten = []
    while True:
        eaten.append(bytearray(8 * 1024 * 1024))


def hoard(amount: int) -> None:
    """Keeps `amount` MB for good."""
    HOARD.append(bytes(bytearray(os.urandom(1024)) * 1024 * amount))


def exit(amount: int) -> None:
    os._exit(amount)


def kill(amount: int) -> None:
    """As `kill -9` from outside, at a moment that is certain."""
    os.kill(os.getpid(), signal.SIGKILL)


def raise_(amount: int) -> None:
    raise LookupError("a mistake in the rules")


def system_exit(amount: int) -> None:
    sys.exit(amount)


def recurse(amount: int) -> None:
    recurse(amount)


def protocol() -> socket.socket:
    """The worker's end of the protocol's socket, found the way rogue code would find it."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                return socket.socket(fileno=os.dup(int(name)))
        except OSError:
            continue
    raise LookupError("no socket")


def garbage(amount: int) -> None:
    protocol().send(b"\x00\x00\x00\x05hello, this is not msgpack")


def half_frame(amount: int) -> None:
    protocol().send(b"\x00\x00\x01\x00half of it")
    loop(amount)


def long_header(amount: int) -> None:
    protocol().send(b"\xff\xff\xff\xff")


def two_replies(amount: int) -> None:
    end = protocol()
    for _ in range(2):
        end.send(b"\x00\x00\x00\x01\xc0")


def hang_up(amount: int) -> None:
    protocol().shutdown(socket.SHUT_RDWR)
    loop(amount)


def flood(amount: int) -> None:
    for _ in range(amount):
        print("drip " * 20)
    sys.stdout.flush()


def daemon(amount: int) -> None:
    """Leaves a child in its process group that would outlive it, and ends."""
    if os.fork() == 0:
        time.sleep(600)
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
}
