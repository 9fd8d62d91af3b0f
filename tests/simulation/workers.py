"""Stand-ins for worker processes: the sport's real operations, in process, over the real frames.

Each behaves to its crew as `runtime.process.WorkerProcess` does, and can die, hang, dawdle and babble.
"""

from itertools import count
from typing import Any

import trio

from runtime.errors import FrameError, FrameMalformed, PoolClosed, SpawnFailed, WorkerGone, WorkerLost
from runtime.frames import FrameDecoder, encode
from runtime.output import BoundedOutput
from runtime.process import REAP_DEADLINE_S
from runtime.spawner import SpawnOrder
from runtime.starter import Worker
from runtime.worker.ops import Operations
from runtime.worker.replies import STEPPING_OPS, checked
from runtime.worker.serving import reply_frame
from tests.simulation.faults import SLOW_S, Weather

NO_PID = 1 << 23
"""Pids from here on are nobody's: the kernel's end at 2^22."""
ASLEEP_US, COMPUTING_US = 100, 200_000
"""CPU of a call that hangs."""
START_S = 0.005
GARBAGE = b"\x00\x00\x00\x05hello"


class Violations(list[str]):
    """What should never have happened, told by whoever sees it."""


class MemoryWorker:
    """One worker. See `WorkerProcess` for what each attribute is."""

    def __init__(
        self, name: str, pid: int, operations: Operations, weather: Weather, violations: Violations
    ) -> None:
        self.name = f"{name} (pid {pid})"
        self.pid = pid
        self.output = BoundedOutput()
        self.ended = trio.Event()
        self.calls = 0
        self.cpu_us = 0
        self.slow_calls = 0
        self.answered_at: float | None = None
        self.exit_status: int | None = None
        self._operations = operations
        self._weather = weather
        self._violations = violations
        self._died = trio.Event()
        self._dead = False
        self._told = False
        """The crew was told, by a call, or killed it itself."""
        self._number = 0
        self._in_call = False
        self._decoder = FrameDecoder()
        self._early = b""
        """What lies in the stream without having been asked for."""

    @property
    def alive(self) -> bool:
        return not self._dead

    def kill(self) -> None:
        self._told = True
        self._end()

    def _end(self) -> None:
        self._dead = True
        self._died.set()

    def die(self) -> None:
        """End by itself, or by somebody outside: nobody knows of it yet."""
        self._died.set()

    async def keep(self) -> None:
        try:
            await self._died.wait()
        finally:
            self._end()
            with trio.move_on_after(REAP_DEADLINE_S, shield=True):
                await trio.sleep(self._weather.latency_s())
            self.exit_status = -9
            self.ended.set()

    async def hello(self, code_sha: str, deadline_s: float) -> dict[str, Any]:
        if self._weather.strikes("worker says no hello"):
            await trio.sleep(self._weather.pick((0.0, deadline_s)))
            self.kill()
            raise SpawnFailed(f"{self.name} said no hello")
        try:
            with trio.move_on_after(deadline_s) as scope:
                reply = await self.call("hello", {}, deadline_s)
            if scope.cancelled_caught:
                raise WorkerLost("deadline", None, "no hello")
        except WorkerLost as lost:
            raise SpawnFailed(f"{self.name} said no hello: {lost.detail}") from lost
        assert reply["code_sha"] == code_sha
        return reply

    async def call(self, op: str, payload: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        if self._in_call:
            self._violations.append(f"{self.name} was handed {op} while it was in another call")
        if self._told:
            self._violations.append(f"{self.name} was handed {op} though its crew knew it to be dead")
        await trio.lowlevel.checkpoint_if_cancelled()
        frame = encode({"op": op, "id": self._number + 1, **payload})
        if self._died.is_set() or self._early:
            reason, self._early = ("garbage", b"") if self._early else ("died", b"")
            self.kill()
            raise WorkerGone("died" if reason == "died" else "garbage", None, f"{self.name} had hung up")
        self._number += 1
        self._in_call = True
        self._due = trio.current_time() + deadline_s
        self._scope = trio.CancelScope()
        answered = False
        try:
            with self._scope:
                message = checked(op, self._number, await self._exchange(op, frame))
                message["cpu_us"] = 0
                self.calls += 1
                self.answered_at = trio.current_time()
                answered = True
                return message
            burning = self._weather.random.random() < 0.5
            raise WorkerLost("deadline", None, f"no answer to {op}", COMPUTING_US if burning else ASLEEP_US)
        except FrameError as error:
            raise WorkerLost("garbage", None, str(error)) from error
        except EOFError as error:
            self.kill()
            await trio.sleep(0)
            raise WorkerLost("died", None, f"it ended in {op}") from error
        finally:
            self._in_call = False
            if not answered:
                self.kill()

    def expire(self, now: float) -> None:
        if self._in_call and now >= self._due:
            self._scope.cancel()

    async def _exchange(self, op: str, frame: bytes) -> Any:
        weather = self._weather
        await trio.sleep(weather.latency_s())
        if weather.strikes("worker dies with the request unread"):
            self.die()
            raise WorkerGone("died", None, f"{self.name} ended before it read {op}")
        if weather.strikes("worker slow"):
            await trio.sleep(weather.pick(SLOW_S))
        if weather.strikes("worker dies in the call"):
            raise EOFError
        if weather.strikes("worker out of memory"):
            raise WorkerLost("memory", None, f"out of memory in {op}")
        if weather.strikes("worker hangs asleep") or weather.strikes("worker hangs computing"):
            # Whoever kills it meanwhile ends the call: a dead process hangs up.
            await self._died.wait()
        if self._died.is_set():
            raise EOFError
        if op in STEPPING_OPS and weather.strikes("rules try what is forbidden"):
            self._operations._attempts.note("ask for the time", "time.time")
        requests = FrameDecoder().receive(frame)
        answer = reply_frame(self._operations, requests[0])
        if weather.strikes("worker answers garbage"):
            answer = GARBAGE
        if weather.strikes("worker answers half a frame"):
            self._decoder.receive(answer[: len(answer) // 2])
            raise EOFError
        if weather.strikes("worker answers twice"):
            answer += answer if weather.random.random() < 0.5 else b""
            self._early = b"\x00"
        messages = self._decoder.receive(answer)
        if len(messages) != 1 or self._decoder.pending_bytes:
            raise FrameMalformed("more than one reply to one request")
        if weather.strikes("worker dies after the reply"):
            self.die()
        return messages[0]


class MemoryStarter:
    """Starts stand-ins, and knows of every one it started."""

    def __init__(self, operations: dict[str, Operations], weather: Weather, violations: Violations) -> None:
        self.started: list[MemoryWorker] = []
        self._operations = operations
        self._weather = weather
        self._violations = violations
        self._pids = count(NO_PID)
        self._closed = False

    async def start(self, order: SpawnOrder, label: str) -> Worker:
        if self._closed:
            raise PoolClosed("the starter is closed")
        await trio.sleep(START_S)
        if self._weather.strikes("worker cannot start"):
            raise SpawnFailed("no more processes")
        worker = MemoryWorker(
            label, next(self._pids), self._operations[order.code_sha], self._weather, self._violations
        )
        self.started.append(worker)
        return worker

    def close(self) -> None:
        self._closed = True
