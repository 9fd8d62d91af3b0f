"""One worker's process seen from the server, with the test at the other end of its socket."""

import math
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from runtime.errors import SpawnFailed, WorkerGone, WorkerLost
from runtime.frames import FrameDecoder, encode
from runtime.process import WorkerProcess
from runtime.spawner import Child
from tests.runtime.rogue_calls import PATIENCE_S

PONG = {"ok": True}


class Far:
    """The worker's end, played by the test; the process itself only sleeps."""

    def __init__(self, end: socket.socket, output: int) -> None:
        self.stream = trio.SocketStream(trio.socket.from_stdlib_socket(end))
        self.output = output
        self.decoder = FrameDecoder()

    async def request(self) -> dict[str, Any]:
        while True:
            messages = self.decoder.receive(await self.stream.receive_some())
            if messages:
                request: dict[str, Any] = messages[0]
                return request

    async def answer(self, **reply: Any) -> None:
        request = await self.request()
        await self.stream.send_all(encode({"id": request["id"], **PONG, **reply}))


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[WorkerProcess, Far]]:
    near, far = socket.socketpair()
    near.setblocking(False)
    output_read, output_write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(output_read, False)
    stack_read, stack_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    popen = subprocess.Popen(["/bin/sleep", "600"], process_group=0)
    process = WorkerProcess(Child(popen, os.pidfd_open(popen.pid), near, stack_read, output_read), "sleeper")
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.keep)
            yield process, Far(far, output_write)
            nursery.cancel_scope.cancel()
    finally:
        far.close()
        os.close(output_write)
        os.close(stack_write)
    assert popen.returncode in (-signal.SIGKILL, -signal.SIGUSR2), "reaped; `sleep` knows no stack signal"


async def ended(process: WorkerProcess) -> None:
    with trio.fail_after(PATIENCE_S):
        await process.ended.wait()


async def test_a_call_and_its_reply():
    async with opened() as (process, far), trio.open_nursery() as nursery:
        for number in (1, 2):
            nursery.start_soon(far.answer)
            reply = await process.call("ping", {}, PATIENCE_S)
            assert reply["id"] == process.calls == number
        assert process.alive
        assert process.answered_at is not None


async def test_a_reply_in_pieces():
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def trickle() -> None:
            frame = encode({"id": (await far.request())["id"], **PONG})
            for byte in frame:
                await far.stream.send_all(bytes([byte]))
                await trio.testing.wait_all_tasks_blocked()

        nursery.start_soon(trickle)
        assert (await process.call("ping", {}, PATIENCE_S))["ok"]


async def expire(process: WorkerProcess, *after_s: float) -> None:
    """What a crew does now and then: here, once the call waits, so long after its start each time."""
    began = trio.current_time()
    for seconds in after_s:
        await trio.testing.wait_all_tasks_blocked()
        process.expire(began + seconds)


@pytest.mark.parametrize("state", [b"x" * 900_000, b""], ids=["of writing", "of reading"])
async def test_a_worker_that_neither_reads_nor_answers_meets_the_deadline(state: bytes):
    async with opened() as (process, _), trio.open_nursery() as nursery:
        nursery.start_soon(expire, process, 49, 51)
        with pytest.raises(WorkerLost, match="no answer to summary after 50000 ms") as caught:
            await process.call("summary", {"state": state}, 50)
        assert caught.value.reason == "deadline"
        assert not process.alive
        await ended(process)


async def test_a_deadline_that_has_not_passed_ends_nothing():
    async with opened() as (process, far), trio.open_nursery() as nursery:
        nursery.start_soon(expire, process, 0, 49)
        nursery.start_soon(far.answer)
        assert (await process.call("ping", {}, 50))["ok"]
        process.expire(math.inf)
        assert process.alive


async def test_an_answer_that_lies_unread_when_the_server_comes_late_is_no_missed_deadline():
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def stand_still() -> None:
            request = await far.request()
            await trio.testing.wait_all_tasks_blocked()
            # From here on the loop looks at no socket until the deadline was found to have passed.
            os.write(far.stream.socket.fileno(), encode({"id": request["id"], **PONG}))
            process.expire(math.inf)

        nursery.start_soon(stand_still)
        assert (await process.call("ping", {}, 50))["ok"]
        assert process.alive


async def test_a_worker_that_trickles_its_answer_is_spared_once():
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def trickle() -> None:
            frame = encode({"id": (await far.request())["id"], **PONG})
            for place in range(2):
                await trio.testing.wait_all_tasks_blocked()
                os.write(far.stream.socket.fileno(), frame[place : place + 1])
                process.expire(math.inf)

        nursery.start_soon(trickle)
        with pytest.raises(WorkerLost, match="no answer to ping") as caught:
            await process.call("ping", {}, 50)
        assert caught.value.reason == "deadline"


async def test_a_worker_that_is_reaped_in_the_turn_that_finds_it_late_is_lost_as_one_that_died():
    async with opened() as (process, _), trio.open_nursery() as nursery:

        async def reap() -> None:
            await trio.testing.wait_all_tasks_blocked()
            process.kill()
            process._child.popen.wait()
            process.expire(math.inf)

        nursery.start_soon(reap)
        with pytest.raises(WorkerLost, match="it ended in ping") as caught:
            await process.call("ping", {}, 50)
        assert caught.value.reason == "died"


async def test_a_worker_that_says_no_hello_in_time():
    async with opened() as (process, _):
        with pytest.raises(SpawnFailed, match=r"said no hello: nothing within 0\.05 s"):
            await process.hello("mine", 0.05)
        assert not process.alive


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        ({"id": 5}, "has the id 5, not 1"),
        ({"ok": "yes"}, "Expected `bool`"),
        ({"ok": False}, "neither ok nor an error"),
    ],
)
async def test_a_wrong_reply_is_garbage(reply: dict[str, Any], detail: str):
    async with opened() as (process, far), trio.open_nursery() as nursery:
        nursery.start_soon(lambda: far.answer(**reply))
        with pytest.raises(WorkerLost, match=detail) as caught:
            await process.call("ping", {}, PATIENCE_S)
        assert caught.value.reason == "garbage"
        await ended(process)


async def test_two_replies_to_one_request_are_garbage():
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def twice() -> None:
            frame = encode({"id": (await far.request())["id"], **PONG})
            await far.stream.send_all(frame + frame)

        nursery.start_soon(twice)
        with pytest.raises(WorkerLost, match="more than one reply"):
            await process.call("ping", {}, PATIENCE_S)


async def test_a_worker_that_spoke_unasked_is_given_nothing():
    async with opened() as (process, far):
        await far.stream.send_all(encode(PONG))
        with pytest.raises(WorkerGone, match="spoke without being asked") as caught:
            await process.call("ping", {}, PATIENCE_S)
        assert caught.value.reason == "garbage"
        assert not process.alive


async def test_a_worker_that_hung_up_is_given_nothing():
    async with opened() as (process, far):
        await far.stream.aclose()
        with pytest.raises(WorkerGone, match="had hung up"):
            await process.call("ping", {}, PATIENCE_S)
        assert not process.alive


async def test_a_worker_that_ends_with_the_request_unread_has_not_begun():
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def leave() -> None:
            await trio.testing.wait_all_tasks_blocked()
            await far.stream.aclose()

        nursery.start_soon(leave)
        with pytest.raises(WorkerGone, match="ended before it read ping"):
            await process.call("ping", {}, PATIENCE_S)


async def test_a_worker_that_hangs_up_after_reading_is_lost():
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def read_and_leave() -> None:
            await far.request()
            await far.stream.aclose()

        nursery.start_soon(read_and_leave)
        with pytest.raises(WorkerLost) as caught:
            await process.call("ping", {}, PATIENCE_S)
        assert (type(caught.value), caught.value.reason) == (WorkerLost, "died")
        await ended(process)


async def test_a_process_that_ends_ends_its_call_though_its_socket_stays_open():
    """Its crew forgets it then, and finds its call late no more."""
    async with opened() as (process, far), trio.open_nursery() as nursery:

        async def killed_from_outside() -> None:
            await far.request()
            os.kill(process.pid, signal.SIGKILL)

        nursery.start_soon(killed_from_outside)
        with pytest.raises(WorkerLost) as caught:
            await process.call("ping", {}, PATIENCE_S)
        assert (type(caught.value), caught.value.reason) == (WorkerLost, "died")
        await ended(process)


async def test_a_dead_worker_is_known_without_a_call():
    async with opened() as (process, _):
        os.kill(process.pid, signal.SIGKILL)
        await ended(process)
        assert not process.alive
        assert process.exit_status == -signal.SIGKILL
        with pytest.raises(WorkerGone, match="was dead already"):
            await process.call("ping", {}, PATIENCE_S)


async def test_killing_twice_is_killing_once():
    async with opened() as (process, _):
        process.kill()
        process.kill()
        await ended(process)
        process.kill()


async def test_hello_tells_other_code_from_its_own():
    async with opened() as (process, far), trio.open_nursery() as nursery:
        who = {
            "sport": "rogue",
            "version": "1.0.0",
            "code_sha": "other",
            "contract": "1",
            "guard": "full",
            "lacks": [],
        }
        nursery.start_soon(lambda: far.answer(**who))
        with pytest.raises(SpawnFailed, match="should be mine"):
            await process.hello("mine", PATIENCE_S)
        assert not process.alive


async def test_what_was_printed_before_a_death_is_in_the_error():
    async with opened() as (process, far), trio.open_nursery() as nursery:
        os.write(far.output, b"ImportError: no module named wisdom\n")

        async def leave() -> None:
            await far.request()
            await far.stream.aclose()

        nursery.start_soon(leave)
        with pytest.raises(SpawnFailed, match="no module named wisdom"):
            await process.hello("mine", PATIENCE_S)


async def test_one_request_at_a_time():
    async with opened() as (process, far), trio.open_nursery() as nursery:
        nursery.start_soon(process.call, "ping", {}, PATIENCE_S)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(AssertionError, match="one request at a time"):
            await process.call("ping", {}, PATIENCE_S)
        await far.answer()
