"""A client that stops reading is closed with a place to resume from, and nobody else notices."""

from contextlib import suppress
from typing import Any

import msgspec
import pytest
import trio

from gateway.channel import OWED_LIMIT_BYTES
from gateway.protocol import LogEvent
from gateway.sink import COALESCE_AT_BYTES
from tests.gateway.rawsocket import TEXT, RawSocket, frame
from tests.gateway.standin import DEADLINE_S, MATCH, Server, ball, command_id, serving

BALLAST = "x" * 8_000
"""Makes every frame large, so that buffers fill soon."""


async def stopped_reader(server: Server, audience: str = "scorer", match: str = MATCH) -> RawSocket:
    """A socket that watches and reads nothing more; its kernel takes little in."""
    stream = await server.dial()
    stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
    raw = RawSocket(stream)
    await raw.open(token=server.tokens["scorer"])
    await raw.send(frame(TEXT, msgspec.json.encode({"op": "watch", "match": match, "audience": audience})))
    topic = server.service.matches_by_ref[match].topic
    before = topic.watchers
    with trio.fail_after(DEADLINE_S):
        while topic.watchers <= before:
            await trio.sleep(0.001)
    return raw


async def publish(server: Server, count: int) -> None:
    """Publish large events, each delivered before the next."""
    stored = server.service.matches_by_ref[MATCH]
    stored.ballast = BALLAST
    for _ in range(count):
        event = LogEvent(stored.seq + 1, "cricket.delivery", {"bat": 1}, "t", id=command_id(stored.seq))
        stored.log.append(event)
        stored.publish(event)
        await trio.testing.wait_all_tasks_blocked()


async def closed(server: Server, code: int) -> bool:
    value = server.counters.registry.get_sample_value("scorebox_sockets_closed_total", {"code": str(code)})
    return bool(value)


async def test_a_client_that_stops_reading_is_closed_with_a_place_to_resume_from() -> None:
    async with serving() as server:
        stopped = await stopped_reader(server)
        bystander = await server.connect()
        assert (await bystander.ask({"op": "watch", "match": MATCH, "audience": "scorer"}))[
            "op"
        ] == "document"
        stored = server.service.matches_by_ref[MATCH]
        seen = 0
        stored.ballast = BALLAST
        with trio.fail_after(DEADLINE_S):
            while not await closed(server, 4001):
                answer_or_event = [await bystander.ask(ball(seen + 1)), await bystander.receive()]
                seen += 1
                ops = {found["op"]: found for found in answer_or_event}
                assert ops["answer"]["seq"] == seen
                assert ops["event"]["seq"] == seen
        assert seen * len(BALLAST) > OWED_LIMIT_BYTES
        code, reason = await stopped.receive_close()
        assert code == 4001
        events = [msgspec.json.decode(payload) for _, payload in stopped.frames]
        assert reason == f"resume 1:{events[-1]['seq']}"
        # What it was given has no gap: the frames up to the close are whole and in order.
        assert [event["seq"] for event in events] == list(range(len(events)))
        resumed = await server.connect()
        last = events[-1]["seq"]
        watch = {"op": "watch", "match": MATCH, "audience": "scorer", "after": {"epoch": 1, "seq": last}}
        assert (await resumed.ask(watch))["seq"] == last + 1


async def test_a_client_that_only_pauses_gets_the_newest_document() -> None:
    async with serving() as server:
        paused = await stopped_reader(server)
        stored = server.service.matches_by_ref[MATCH]
        with trio.fail_after(DEADLINE_S):
            while not server.service.sinks[0].behind:
                await publish(server, 1)
        await publish(server, 2 * COALESCE_AT_BYTES // len(BALLAST))
        assert not await closed(server, 4001)
        newest = stored.seq
        frames: list[dict[str, Any]] = []
        while not frames or frames[-1]["seq"] < newest:
            found = await paused.receive()
            assert found is not None
            frames.append(msgspec.json.decode(found[1]))
        assert frames[-1]["op"] == "document"
        assert frames[-1]["document"]["head"]["sides"][0]["score"] == f"{newest}/0"
        assert len(frames) < newest, "what it missed was left out"
        await publish(server, 1)
        found = await paused.receive()
        assert found is not None
        event = msgspec.json.decode(found[1])
        assert (event["op"], event["seq"]) == ("event", newest + 1)


async def test_a_client_that_sends_and_never_reads_is_not_served_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Reading stops where too much is unanswered; then it is the stall that ends the socket, not the bytes.
    monkeypatch.setattr("gateway.channel.STALL_LIMIT_S", 1.0)
    async with serving() as server:
        stored = server.service.matches_by_ref[MATCH]
        stored.ballast = "x"
        stream = await server.dial()
        stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
        raw = RawSocket(stream)
        await raw.open()
        bystander = await server.connect()
        pings = frame(TEXT, b'{"op":"ping","n":1}') * 500

        async def send_on() -> None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                while True:
                    await raw.send(pings)

        server.nursery.start_soon(send_on)
        with trio.fail_after(DEADLINE_S):
            while not await closed(server, 4001):
                await trio.sleep(0.001)
        assert (await bystander.ask(ball(1)))["outcome"] == "accepted"
