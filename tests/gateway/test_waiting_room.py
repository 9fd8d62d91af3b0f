"""The port while the server starts."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from gateway.listening import listen, stop_listening
from gateway.waiting_room import GUESTS_LIMIT, WaitingRoom
from tests.gateway.standin import DEADLINE_S


@asynccontextmanager
async def waiting() -> AsyncIterator[tuple[WaitingRoom, int]]:
    listeners = await listen("127.0.0.1", 0)
    room = WaitingRoom(listeners, None)
    try:
        with trio.fail_after(DEADLINE_S):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(room.run)
                yield room, listeners[0].getsockname()[1]
                nursery.cancel_scope.cancel()
    finally:
        stop_listening(listeners)


async def ask(port: int, path: str) -> tuple[int, dict[str, str], dict[str, object]]:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return await answer(stream)


async def answer(stream: trio.SocketStream) -> tuple[int, dict[str, str], dict[str, object]]:
    got = b"".join([part async for part in stream])
    head, _, body = got.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    assert int(headers["content-length"]) == len(body)
    return int(first.split(" ")[1]), headers, json.loads(body)


async def test_a_starting_server_is_alive_and_not_ready_and_says_what_for() -> None:
    async with waiting() as (room, port):
        assert (await ask(port, "/health/live"))[0] == 200
        status, headers, body = await ask(port, "/health/ready?x=1")
        assert (status, headers["retry-after"]) == (503, "1")
        assert body == {"ready": False, "missing": ["starting: the database is waited for"]}
        room.waits_for = "the installation of the sports"
        assert "sports" in str((await ask(port, "/health/ready"))[2]["missing"])
        status, headers, body = await ask(port, "/v1/socket")
        assert (status, body["code"], headers["retry-after"]) == (503, "starting", "1")


async def test_who_is_being_answered_at_the_hand_over_hears_the_answer() -> None:
    async with waiting() as (room, port), await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"GET /health/live HTTP/1.1\r\n")
        await ask(port, "/health/live")  # The one before it was accepted too.
        async with trio.open_nursery() as nursery:
            nursery.start_soon(room.hand_over)
            await trio.testing.wait_all_tasks_blocked()
            await stream.send_all(b"\r\n")
            assert (await answer(stream))[0] == 200


async def test_silent_guests_hold_up_neither_the_hand_over_nor_others_after_it() -> None:
    async with waiting() as (room, port):
        silent = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(GUESTS_LIMIT + 10)]
        assert await room.hand_over()
        for stream in silent:
            await stream.aclose()


async def test_a_head_without_end_is_not_kept() -> None:
    async with waiting() as (_, port), await trio.open_tcp_stream("127.0.0.1", port) as stream:
        try:
            while True:
                await stream.send_all(b"x" * 4096)
        except trio.BrokenResourceError:
            pass
        assert (await ask(port, "/health/live"))[0] == 200
