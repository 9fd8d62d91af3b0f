"""How much of the guard the kernel under the tests allows: a worker is asked once."""

from functools import cache
from pathlib import Path

from runtime.frames import FrameDecoder, encode
from runtime.spawner import SpawnOrder, discard, start

ROGUE_FOLDER = Path(__file__).parent / "runtime" / "rogue"


@cache
def achievable() -> str:
    """The level a worker finds of itself here. Blocking."""
    order = SpawnOrder(ROGUE_FOLDER, "scorebox_rogue", "asked", 1, lambda: None, minimum_guard="none")
    child = start(order)
    try:
        child.socket.setblocking(True)
        child.socket.sendall(encode({"op": "hello", "id": 1}))
        (reply,) = FrameDecoder().receive(child.socket.recv(64 * 1024))
        return str(reply["guard"])
    finally:
        discard(child)
