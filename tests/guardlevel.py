"""How much of the guard the kernel under the tests allows, and how much a worker finds."""

from functools import cache
from pathlib import Path

from runtime.frames import FrameDecoder, encode
from runtime.spawner import SpawnOrder, discard, start
from runtime.worker.guard import landlock
from runtime.worker.guard.kernel import Kernel
from runtime.worker.guard.level import Report
from runtime.worker.guard.seccomp import machine

ACTIONS = Path("/proc/sys/kernel/seccomp/actions_avail")
"""There where the kernel takes filters of system calls."""
ROGUE_FOLDER = Path(__file__).parent / "runtime" / "rogue"


@cache
def asked() -> Report:
    """What a worker finds of its guard here. Blocking."""
    order = SpawnOrder(ROGUE_FOLDER, "scorebox_rogue", "asked", 1, lambda: None, minimum_guard="none")
    child = start(order)
    try:
        child.socket.setblocking(True)
        child.socket.sendall(encode({"op": "hello", "id": 1}))
        (reply,) = FrameDecoder().receive(child.socket.recv(64 * 1024))
        return Report(reply["guard"], tuple(reply["lacks"]))
    finally:
        discard(child)


@cache
def achievable() -> str:
    """The level that a worker must reach here, by what the kernel says of itself: a worker is not asked.

    So a guard that is broken is not taken for a kernel that lacks something.
    """
    if machine() is None or not ACTIONS.exists():
        return "audit"
    return "full" if landlock.abi(Kernel()) else "seccomp"
