"""Cancelling at any moment leaves the stream whole and nobody waiting."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gateway.auth import Identity
from gateway.framing import close_frame, data_frame
from gateway.protocol import Answer, CommandFrame
from gateway.stream import EdgeStream, Taken
from tests.gateway.rawsocket import TEXT, RawSocket, frame
from tests.gateway.standin import DEADLINE_S, MATCH, ball, serving

LARGE = b"x" * 1_000_000


@asynccontextmanager
async def pair() -> AsyncIterator[tuple[EdgeStream, RawSocket]]:
    """A stream of ours and its peer, over TCP on loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    peer = await trio.open_tcp_stream(*listener.getsockname())
    peer.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 32_768)
    raw, _ = listener.accept()
    listener.close()
    transport = trio.SocketStream(trio.socket.from_stdlib_socket(raw))
    stream = EdgeStream(transport, raw, b"")
    try:
        yield stream, RawSocket(peer)
    finally:
        stream.abort()
        peer.socket.close()


async def test_a_frame_cancelled_in_the_middle_is_finished_by_the_next_one() -> None:
    async with pair() as (stream, peer):
        first, second = data_frame(LARGE, binary=True), data_frame(b"second", binary=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.send_all, first)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert stream.send_now(second) is Taken.NOT, "nothing goes between the halves of a frame"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.send_all, second)
            assert await peer.receive() == (2, LARGE)
            assert await peer.receive() == (2, b"second")


async def test_one_who_waits_his_turn_and_is_cancelled_writes_nothing() -> None:
    async with pair() as (stream, peer), trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, data_frame(LARGE, binary=True))
        await wait_all_tasks_blocked()
        with trio.move_on_after(0.01):
            await stream.send_all(data_frame(b"never", binary=True))
        nursery.start_soon(stream.send_all, data_frame(b"after", binary=True))
        assert await peer.receive() == (2, LARGE)
        assert await peer.receive() == (2, b"after")


async def test_a_frame_written_in_part_is_brought_out_before_any_other() -> None:
    async with pair() as (stream, peer):
        frames = [data_frame(bytes((48 + number,)) * 60_000, binary=True) for number in range(9)]
        written = []
        for each in frames:
            taken = stream.send_now(each)
            if taken is Taken.NOT:
                break
            written.append(each)
        assert taken is not Taken.WHOLE, "the peer does not read, so the kernel fills"
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.send_all, data_frame(b"last", binary=True))
            for each in written:
                assert await peer.receive() == (2, each[-60_000:])
            assert await peer.receive() == (2, b"last")
        assert stream.send_now(data_frame(b"now", binary=True)) is Taken.WHOLE


async def test_the_last_word_follows_what_is_under_way_and_nothing_follows_it() -> None:
    async with pair() as (stream, peer), trio.open_nursery() as nursery:
        body = b"x" * 100_000

        async def write() -> None:
            with suppress(trio.ClosedResourceError):
                while True:
                    await stream.send_all(data_frame(body, binary=True))

        nursery.start_soon(write)
        await wait_all_tasks_blocked()
        assert stream.last_word(close_frame(4001, "resume 1:2"))
        assert stream.send_now(data_frame(b"late", binary=True)) is Taken.NOT
        with pytest.raises(trio.ClosedResourceError):
            await stream.send_all(data_frame(b"late", binary=True))
        nursery.start_soon(stream.linger)
        assert await peer.receive_close() == (4001, "resume 1:2")
        assert {payload for _, payload in peer.frames} == {body}
        await peer.stream.aclose()


async def test_aborting_wakes_a_shielded_writer() -> None:
    async with pair() as (stream, _), trio.open_nursery() as nursery:

        async def write() -> None:
            with (
                trio.CancelScope(shield=True),
                pytest.raises((trio.ClosedResourceError, trio.BrokenResourceError)),
            ):
                await stream.send_all(LARGE)

        nursery.start_soon(write)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        stream.abort()


async def test_the_client_leaves_while_its_command_is_under_way() -> None:
    async with serving() as server:
        asked, cancelled = trio.Event(), trio.Event()

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            asked.set()
            try:
                await trio.sleep_forever()
            finally:
                cancelled.set()
            raise AssertionError

        server.service.handler = handler
        raw = RawSocket(await server.dial())
        await raw.open(token=server.tokens["scorer"])
        await raw.send(frame(TEXT, msgspec.json.encode(ball(1))))
        await asked.wait()
        await raw.stream.aclose()
        with trio.fail_after(DEADLINE_S):
            await cancelled.wait()
            while server.edge.statistics()["sockets"]:
                await trio.sleep(0.001)


@pytest.mark.parametrize("moment", range(0, 40, 3))
async def test_cancelling_the_server_at_any_moment_ends_it(moment: int) -> None:
    with trio.fail_after(DEADLINE_S):
        async with serving() as server:
            raw = RawSocket(await server.dial())

            async def use() -> None:
                try:
                    await raw.open(token=server.tokens["scorer"])
                    watch = {"op": "watch", "match": MATCH, "audience": "scorer"}
                    await raw.send(frame(TEXT, msgspec.json.encode(watch)))
                    for number in range(1, 20):
                        await raw.send(frame(TEXT, msgspec.json.encode(ball(number))))
                        await raw.receive()
                except (trio.BrokenResourceError, trio.ClosedResourceError, AssertionError):
                    pass

            server.nursery.start_soon(use)
            for _ in range(moment):
                await trio.lowlevel.checkpoint()
