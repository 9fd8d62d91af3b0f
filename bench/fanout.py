"""Frames per second to many sockets of one match, on one core.

The sockets are real, on loopback, and read by another process. Every frame is an event of its own, encoded
once; the rate is wall time from the first publish to the last write.
"""

import time
from dataclasses import dataclass

import trio

from bench.gateway import MATCH, EmptyServer, empty_server
from bench.process import Partner, partner
from gateway.codec import Codec
from gateway.fanout import event_frame

SOCKETS = 1_000
EVENTS = 300
DEADLINE_S = 120.0


@dataclass(frozen=True, slots=True)
class Measured:
    """What came out. `per_second` is by wall time, `per_cpu_second` by the server's own CPU time."""

    sockets: int
    frame_bytes: int
    frames: int
    per_second: float
    per_cpu_second: float


async def measure(sockets: int = SOCKETS, events: int = EVENTS) -> Measured:
    """Publish `events` events, one after another, to `sockets` sockets; every byte must arrive."""
    with trio.fail_after(DEADLINE_S):
        async with (
            empty_server() as server,
            partner("bench.readers", str(server.port), server.token, str(sockets), MATCH) as readers,
        ):
            return await _publish(server, readers, sockets, events)


async def _publish(server: EmptyServer, readers: Partner, sockets: int, events: int) -> Measured:
    assert await readers.line() == "ready"
    topic, fan_out = server.service.topic, server.fan_out
    assert topic.watchers == sockets
    frame_bytes = 0
    due = fan_out.frames
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(events):
        update = server.service.update()
        frame_bytes += len(event_frame(update, Codec.JSON))
        topic.publish(update)
        due += sockets
        while fan_out.frames < due:
            await trio.lowlevel.checkpoint()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    counted = await readers.end()
    assert counted == frame_bytes * sockets, f"{counted} bytes arrived of {frame_bytes * sockets}"
    frames = events * sockets
    return Measured(sockets, round(frame_bytes / events), frames, frames / wall, frames / cpu)
