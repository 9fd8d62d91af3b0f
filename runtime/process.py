"""The server's side of one worker process: one request in flight, deadlines both ways, kill, reap.

A call that is not answered as it must be ends with the process killed: its stream is in doubt, and a new
worker is cheap. A cancelled call does the same.
"""

import math
import os
import signal
import socket
import time
from contextlib import suppress
from typing import Any

import structlog
import trio

from runtime.errors import FrameError, FrameMalformed, GuardTooWeak, SpawnFailed, WorkerGone, WorkerLost
from runtime.frames import FrameDecoder, encode
from runtime.output import BoundedOutput
from runtime.spawner import Child
from runtime.worker.limits import (
    EXIT_GUARD,
    EXIT_MEMORY,
    READ_BYTES,
    STACK_SIGNAL,
    STACK_TEXT_LIMIT_CHARACTERS,
)
from runtime.worker.replies import STEPPING_OPS, checked
from scorebox_contract import CONTRACT_VERSION

STACK_DEADLINE_S = 0.2
"""How long a stuck worker may take to tell where it hangs; it is killed afterwards in any case.

Some 5 ms are usual. On a machine short of processor the worker waits for its turn like everybody else.
"""
STACK_QUIET_S = 0.01
"""A stack is taken as complete once nothing came for this long."""
REAP_DEADLINE_S = 5.0
"""A killed process that the kernel does not hand back for this long is left to the system."""
DEATH_DEADLINE_S = 0.2
"""How long a call waits to learn how its worker ended."""
DRAIN_PAUSE_S = 0.01
"""Between two reads of what a worker prints: a flood costs it time, not the server."""
CPU_ALERT_US = 50_000
"""CPU of one call, from the kernel's clock, above which an alert is raised."""

_CPU_CLOCK_KIND = 2
"""CPUCLOCK_SCHED: the low bits of the clock id of a process (Linux, kernel/time/posix-cpu-timers.c)."""

log = structlog.get_logger("scorebox.worker")


class WorkerProcess:
    """One started worker. Somebody must run `keep` for as long as it lives."""

    def __init__(self, child: Child, name: str) -> None:
        self.name = name
        self.pid = child.popen.pid
        self.output = BoundedOutput()
        self.ended = trio.Event()
        """Set once the process is dead and its descriptors are closed."""
        self.calls = 0
        self.cpu_us = 0
        """CPU of its calls, by the kernel's clock."""
        self.slow_calls = 0
        """Calls of one step that took more CPU than CPU_ALERT_US."""
        self.answered_at: float | None = None
        """Time of the last answer on trio's clock, in seconds."""
        self._child = child
        self._socket = child.socket
        self._clock = (~self.pid << 3) | _CPU_CLOCK_KIND
        self._decoder = FrameDecoder()
        self._number = 0
        self._in_call = False
        self._due = math.inf
        """When the call in flight is late, on trio's clock."""
        self._late = False
        self._spared = False
        """Once in a call: its deadline had passed, but something of it lay here unread."""
        self._killed = False
        self._stack = ""

    @property
    def alive(self) -> bool:
        """False from the moment it is killed or found dead."""
        return not self._killed

    @property
    def exit_status(self) -> int | None:
        """As in subprocess: minus the signal where one ended it; None before it is reaped."""
        return self._child.popen.returncode

    def kill(self) -> None:
        """Kills the process and everything in its group, at once and unconditionally. `keep` reaps."""
        if self.exit_status is None:
            # Not reaped yet, so the pid, and with it the group, cannot be somebody else's.
            os.killpg(self.pid, signal.SIGKILL)
        self._killed = True

    async def keep(self) -> None:
        """Drains what the process prints and waits for its end; a cancellation ends it. Reaps and closes."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._drain)
                await trio.lowlevel.wait_readable(self._child.pidfd)
                nursery.cancel_scope.cancel()
        finally:
            self.kill()
            with trio.move_on_after(REAP_DEADLINE_S, shield=True):
                await trio.lowlevel.wait_readable(self._child.pidfd)
            self._bury()

    async def hello(self, code_sha: str, deadline_s: float) -> dict[str, Any]:
        """Who the worker is, once it has loaded the sport.

        Raises:
            SpawnFailed: it ended, hung, or is other code than was ordered; carries what it printed.
            GuardTooWeak: it ended by itself, for it may not run the code here.
        """
        try:
            with trio.move_on_after(deadline_s) as scope:
                reply = await self.call("hello", {}, deadline_s)
            if scope.cancelled_caught:
                raise WorkerLost("deadline", None, f"nothing within {deadline_s:g} s")
        except WorkerLost as lost:
            with trio.move_on_after(REAP_DEADLINE_S):
                await self.ended.wait()
            printed = self.output.tail or "nothing"
            if self.exit_status == EXIT_GUARD:
                raise GuardTooWeak(f"{self.name} was given no code: {printed}") from lost
            raise SpawnFailed(f"{self.name} said no hello: {lost.detail}; it printed: {printed}") from lost
        if not reply["ok"] or reply["code_sha"] != code_sha or reply["contract"] != CONTRACT_VERSION:
            self.kill()
            raise SpawnFailed(
                f"{self.name} should be {code_sha}, contract {CONTRACT_VERSION}, but says {reply}"
            )
        return reply

    async def call(self, op: str, payload: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        """One request and its reply, checked for its shape.

        `cpu_us` is the kernel's measure, not the worker's word. That the deadline has passed is found by
        `expire`.

        Raises:
            WorkerGone: it was dead, or its stream in doubt, before anything was handed over.
            WorkerLost: no answer as it must be; the process is killed.
            FrameTooLong: the payload does not fit into a frame; nothing was sent.
        """
        assert not self._in_call, "one request at a time"
        await trio.lowlevel.checkpoint_if_cancelled()
        frame = encode({"op": op, "id": self._number + 1, **payload})
        self._require_silence()
        self._number += 1
        self._in_call = True
        self._due = trio.current_time() + deadline_s
        self._late = self._spared = False
        answered = False
        before = self._cpu_ns()
        try:
            message = checked(op, self._number, await self._exchange(frame))
            message["cpu_us"] = self._count(op, before)
            answered = True
            return message
        except FrameError as error:
            raise WorkerLost("garbage", None, str(error)) from error
        except (ConnectionResetError, BrokenPipeError) as error:
            # The kernel says so where the worker ended with the request unread.
            raise WorkerGone("died", None, f"{self.name} ended before it read {op}") from error
        except (OSError, EOFError, trio.ClosedResourceError) as error:
            if self._late:
                raise await self._lateness(op, deadline_s, before) from error
            raise await self._death(op) from error
        finally:
            self._in_call = False
            if not answered:
                self.kill()

    def expire(self, now: float) -> None:
        """Ends the call whose deadline has passed.

        Whoever keeps the process calls it now and then: a timer for every call costs as much as its encoding.
        """
        if not self._in_call or now < self._due:
            return
        if not self._spared and self._peek() is not None:
            # It is this server that comes late, to an answer that lies here: a machine that stood still, say.
            self._spared = True
            return
        self._late = True
        # Whoever waits for the socket hears of it.
        trio.lowlevel.notify_closing(self._socket)

    def _peek(self) -> bytes | None:
        """What lies unread in the stream: its next byte, none at its end, None where nothing does."""
        try:
            return self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    async def _lateness(self, op: str, deadline_s: float, before_ns: int) -> WorkerLost:
        """What a worker did that gave no answer in time."""
        try:
            cpu_us = (self._cpu_ns() - before_ns) // 1000
        except OSError:
            # It was reaped in this very turn: it ended, and hangs no more.
            return await self._death(op)
        stack = await self._take_stack()
        detail = f"no answer to {op} after {deadline_s * 1000:.0f} ms, of them {cpu_us / 1000:.0f} ms of CPU"
        return WorkerLost("deadline", stack, detail, cpu_us)

    async def _exchange(self, frame: bytes) -> Any:
        sent = 0
        while True:
            with suppress(BlockingIOError):
                sent += self._socket.send(memoryview(frame)[sent:])
            if sent == len(frame):
                break
            await trio.lowlevel.wait_writable(self._socket)
        while True:
            # Straight to waiting: a worker takes longer than a failing read would.
            await trio.lowlevel.wait_readable(self._socket)
            try:
                data = self._socket.recv(READ_BYTES)
            except BlockingIOError:
                continue
            if not data:
                raise EOFError("the worker hung up")
            messages = self._decoder.receive(data)
            if messages:
                if len(messages) > 1 or self._decoder.pending_bytes:
                    raise FrameMalformed("more than one reply to one request")
                return messages[0]

    def _require_silence(self) -> None:
        """Nothing may lie in the stream before a request: a reply would be taken for another's."""
        if self._killed:
            raise WorkerGone("died", None, f"{self.name} was dead already")
        early = self._peek()
        if early is None:
            return
        self.kill()
        if early:
            raise WorkerGone("garbage", None, f"{self.name} spoke without being asked")
        raise WorkerGone("died", None, f"{self.name} had hung up")

    def _cpu_ns(self) -> int:
        return time.clock_gettime_ns(self._clock)

    def _count(self, op: str, before_ns: int) -> int:
        spent_us = (self._cpu_ns() - before_ns) // 1000
        self.calls += 1
        self.cpu_us += spent_us
        self.answered_at = trio.current_time()
        if spent_us > CPU_ALERT_US and op in STEPPING_OPS:
            self.slow_calls += 1
            log.warning("slow_call", worker=self.name, op=op, cpu_us=spent_us, limit_us=CPU_ALERT_US)
        return spent_us

    async def _death(self, op: str) -> WorkerLost:
        """Why the worker ended in the middle of a call. Waits for the process to be reaped, which tells."""
        self.kill()
        with trio.move_on_after(DEATH_DEADLINE_S):
            await self.ended.wait()
        if self.exit_status == EXIT_MEMORY:
            return WorkerLost("memory", self._stack or None, f"out of memory in {op}")
        return WorkerLost("died", self._stack or None, f"it ended in {op} (exit status {self.exit_status})")

    async def _take_stack(self) -> str | None:
        """Where the process hangs: its Python stack, also from within a C loop. At most STACK_DEADLINE_S."""
        with suppress(ProcessLookupError, trio.ClosedResourceError), trio.move_on_after(STACK_DEADLINE_S):
            signal.pidfd_send_signal(self._child.pidfd, STACK_SIGNAL)
            await trio.lowlevel.wait_readable(self._child.stack)
            while True:
                self._stack += _read_text(self._child.stack)
                with trio.move_on_after(STACK_QUIET_S) as quiet:
                    await trio.lowlevel.wait_readable(self._child.stack)
                if quiet.cancelled_caught or len(self._stack) > STACK_TEXT_LIMIT_CHARACTERS:
                    break
        return self._stack[:STACK_TEXT_LIMIT_CHARACTERS] or None

    async def _drain(self) -> None:
        while True:
            await trio.lowlevel.wait_readable(self._child.output)
            if not self._log_output():
                return
            await trio.sleep(DRAIN_PAUSE_S)

    def _log_output(self) -> bool:
        """Takes one read of what was printed; False at its end."""
        try:
            data = os.read(self._child.output, READ_BYTES)
        except BlockingIOError:
            return True
        for line in self.output.receive(data, time.monotonic()):
            log.info("worker_printed", worker=self.name, line=line)
        return bool(data)

    def _bury(self) -> None:
        """Reaps, takes the last words, closes."""
        self._child.popen.poll()
        self._log_output()
        self._stack += _read_text(self._child.stack)
        for waited in (self._socket, self._child.stack, self._child.output, self._child.pidfd):
            trio.lowlevel.notify_closing(waited)
        self._child.close()
        self.ended.set()


def _read_text(descriptor: int) -> str:
    try:
        return os.read(descriptor, READ_BYTES).decode(errors="replace")
    except BlockingIOError:
        return ""
