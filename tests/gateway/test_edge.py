"""The one public port: heads, limits, keep-alive, upgrades, the end."""

from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import trio
import trio.testing

from gateway.auth import Identity
from gateway.edge import EdgeSettings
from gateway.heads import HEAD_LIMIT_BYTES, Http, TurnAway, Upgrade, end_of_head, judge
from gateway.protocol import Accepted, Answer, CommandFrame
from gateway.stream import HttpStream
from tests.gateway.rawsocket import HANDSHAKE, TEXT, RawSocket, frame
from tests.gateway.standin import DEADLINE_S, MATCH, Server, ball, serving

GET = b"GET /health/ready HTTP/1.1\r\nHost: x\r\n"


async def dial(server: Server) -> RawSocket:
    return RawSocket(await server.dial())


async def response(raw: RawSocket) -> tuple[int, bytes]:
    """Status and body of the next HTTP answer."""
    head = await raw.head()
    length = next(
        int(line.split(":")[1]) for line in head.lower().split("\r\n") if line.startswith("content-length")
    )
    while len(raw.buffer) < length:
        assert await raw.fill()
    body, raw.buffer = raw.buffer[:length], raw.buffer[length:]
    return int(head.split()[1]), body


async def ended(raw: RawSocket) -> bool:
    """Whether the server ends the connection."""
    while await raw.fill():
        pass
    return True


async def test_keep_alive() -> None:
    async with serving() as server:
        raw = await dial(server)
        for _ in range(3):
            await raw.send(GET + b"\r\n")
            assert (await response(raw))[0] == 200


async def test_a_connection_that_asks_for_nothing_more_is_closed() -> None:
    async with serving(EdgeSettings(port=0, keep_alive_s=0.05)) as server:
        raw = await dial(server)
        await raw.send(GET + b"\r\n")
        assert (await response(raw))[0] == 200
        await raw.send(GET)  # Half a head does not count as asking.
        assert await ended(raw)


async def test_a_request_that_takes_long_is_not_cut_off() -> None:
    keep_alive_s = 0.05
    async with serving(EdgeSettings(port=0, keep_alive_s=keep_alive_s)) as server:
        idle = await dial(server)
        await idle.send(GET + b"\r\n")
        assert (await response(idle))[0] == 200

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            # One that asks for nothing more is closed meanwhile, twice: so long a request takes longer.
            assert await ended(idle)
            other = await dial(server)
            await other.send(GET + b"\r\n")
            assert (await response(other))[0] == 200
            assert await ended(other)
            return Accepted(command.id, command.match, 1, 1, "")

        server.service.handler = handler
        headers = {"authorization": f"Bearer {server.tokens['scorer']}"}
        body = {key: value for key, value in ball(1).items() if key not in ("op", "match")}
        async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
            assert (await client.post(f"/v1/matches/{MATCH}/commands", json=body)).status_code == 200


async def test_requests_in_one_segment_are_answered_in_order() -> None:
    async with serving() as server:
        raw = await dial(server)
        await raw.send(GET + b"\r\n" + b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" + GET + b"\r\n")
        assert [(await response(raw))[0] for _ in range(3)] == [200, 404, 200]


async def test_a_body_in_the_segment_of_the_head_and_one_that_comes_later() -> None:
    async with serving() as server:
        body = msgspec.json.encode(
            {key: value for key, value in ball(1).items() if key not in ("op", "match")}
        )
        head = (
            f"POST /v1/matches/{MATCH}/commands HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
            f"Authorization: Bearer {server.tokens['scorer']}\r\n\r\n"
        ).encode()
        raw = await dial(server)
        await raw.send(head + body)
        assert (await response(raw))[0] == 200
        await raw.send(head + body[:10])
        await raw.send(body[10:])
        assert (await response(raw))[0] == 200


async def test_a_head_in_single_bytes() -> None:
    async with serving() as server:
        raw = await dial(server)
        for byte in GET + b"\r\n":
            await raw.send(bytes((byte,)))
        assert (await response(raw))[0] == 200


async def test_a_slow_head_is_answered_and_closed() -> None:
    async with serving(EdgeSettings(port=0, head_deadline_s=0.05)) as server:
        raw = await dial(server)
        await raw.send(GET)
        assert (await response(raw))[0] == 408
        assert await ended(raw)
        silent = await dial(server)
        assert await ended(silent)
        assert silent.buffer == b""


async def test_a_head_that_is_too_large() -> None:
    async with serving() as server:
        raw = await dial(server)
        await raw.send(GET + b"X-Padding: " + b"x" * HEAD_LIMIT_BYTES)
        assert (await response(raw))[0] == 431
        assert await ended(raw)
        whole = await dial(server)
        await whole.send(GET + b"X-Padding: " + b"x" * HEAD_LIMIT_BYTES + b"\r\n\r\n")
        assert (await response(whole))[0] == 431


async def test_a_later_head_that_is_too_large() -> None:
    async with serving() as server:
        raw = await dial(server)
        await raw.send(GET + b"\r\n")
        assert (await response(raw))[0] == 200
        await raw.send(GET + b"X-Padding: " + b"x" * (2 * HEAD_LIMIT_BYTES))
        status, problem = await response(raw)
        assert status == 431
        assert msgspec.json.decode(problem)["code"] == "head_too_large"


@pytest.mark.parametrize(
    "head",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"HELLO\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\n\n\n\n",
    ],
)
async def test_what_is_no_request_is_answered_and_closed(head: bytes) -> None:
    async with serving() as server:
        raw = await dial(server)
        await raw.send(head)
        assert (await response(raw))[0] == 400
        assert await ended(raw)


async def test_no_room_for_another_connection() -> None:
    async with serving(EdgeSettings(port=0, connections_limit=1)) as server:
        first = await dial(server)
        await first.send(GET + b"\r\n")
        assert (await response(first))[0] == 200
        second = await dial(server)
        assert (await response(second))[0] == 503
        await first.stream.aclose()
        with trio.fail_after(DEADLINE_S):
            while server.edge.statistics()["connections"]:
                await trio.sleep(0.001)
        third = await dial(server)
        await third.send(GET + b"\r\n")
        assert (await response(third))[0] == 200


async def test_frames_in_the_segment_of_the_upgrade_are_not_lost() -> None:
    async with serving() as server:
        raw = await dial(server)
        ping = frame(TEXT, b'{"op":"ping","n":4}')
        await raw.open(pipelined=ping + ping[:5])
        await raw.send(ping[5:])
        for _ in range(2):
            assert await raw.receive() == (TEXT, b'{"op":"pong","n":4}')


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /v1/socket HTTP/1.1\r\nHost: x\r\n\r\n", 426),
        (HANDSHAKE.replace(b"13", b"8") + b"\r\n", 426),
        (HANDSHAKE.replace(b"dGhl", b"") + b"\r\n", 400),
        (HANDSHAKE.replace(b"GET", b"POST") + b"\r\n", 400),
        (HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n", 400),
        (HANDSHAKE.replace(b"/v1/socket", b"/v1/other") + b"\r\n", 404),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ],
)
async def test_an_upgrade_that_is_none(head: bytes, status: int) -> None:
    async with serving() as server:
        raw = await dial(server)
        await raw.send(head)
        answer = await raw.head()
        assert int(answer.split()[1]) == status


async def test_the_client_leaves_in_the_middle_of_a_head_and_of_a_body() -> None:
    async with serving() as server:
        for data in (GET, HANDSHAKE, b"POST /v1/matches HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab"):
            raw = await dial(server)
            await raw.send(data)
            await raw.stream.aclose()
        with trio.fail_after(DEADLINE_S):
            while server.edge.statistics()["connections"]:
                await trio.sleep(0.001)


async def test_a_drain_answers_what_is_under_way_and_says_when_to_come_back() -> None:
    async with serving() as server:
        go_on = trio.Event()
        asked = trio.Event()

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            asked.set()
            await go_on.wait()
            return Accepted(command.id, command.match, 1, 1, "")

        server.service.handler = handler
        idle = await dial(server)
        await idle.send(GET + b"\r\n")
        assert (await response(idle))[0] == 200
        silent = await dial(server)
        raw = await dial(server)
        await raw.open(token=server.tokens["scorer"])
        await raw.send(frame(TEXT, msgspec.json.encode(ball(1))))
        await asked.wait()
        drained = trio.Event()

        async def drain() -> None:
            await server.edge.drain(DEADLINE_S)
            drained.set()

        server.nursery.start_soon(drain)
        assert await ended(idle)
        assert await ended(silent)
        await raw.send(frame(TEXT, msgspec.json.encode(ball(2, "OTHER"))))
        found = await raw.receive()
        assert found is not None
        late = msgspec.json.decode(found[1])
        assert (late["id"], late["outcome"], late["reason"]) == (ball(2)["id"], "try_again", "draining")
        go_on.set()
        code, reason = await raw.receive_close()
        assert code == 1001
        assert reason.startswith("retry ")
        assert msgspec.json.decode(raw.frames[-1][1])["outcome"] == "accepted"
        await raw.stream.aclose()
        with trio.fail_after(DEADLINE_S):
            await drained.wait()
        with pytest.raises(OSError):
            await server.dial()


async def test_a_drain_ends_at_its_deadline_whatever_clients_do() -> None:
    async with serving() as server:
        server.service.matches_by_ref[MATCH].ballast = "x" * 4_000_000
        stream = await server.dial()
        stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, 4096)
        # A large answer to a client that reads none of it: hypercorn's write to it is shielded.
        await stream.send_all(f"GET /v1/matches/{MATCH}/document HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        await stream.receive_some(10)
        stuck = trio.Event()

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            stuck.set()
            await trio.sleep_forever()
            raise AssertionError

        server.service.handler = handler
        raw = await dial(server)
        await raw.open(token=server.tokens["scorer"])
        await raw.send(frame(TEXT, msgspec.json.encode(ball(1))))
        await stuck.wait()
        with trio.fail_after(DEADLINE_S):
            await server.edge.drain(0.1)
            while server.edge.statistics()["connections"]:
                await trio.sleep(0.001)


@pytest.mark.parametrize(
    "request_head",
    [
        GET + b"Connection: close\r\n\r\n",
        GET.replace(b"HTTP/1.1", b"HTTP/1.0") + b"\r\n",
        b"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    ],
)
async def test_a_connection_is_closed_after_the_answer_where_the_client_wants_it_so(
    request_head: bytes,
) -> None:
    async with serving(EdgeSettings(port=0, keep_alive_s=10 * DEADLINE_S)) as server:
        raw = await dial(server)
        await raw.send(request_head)
        await response(raw)
        assert await ended(raw)


@pytest.mark.parametrize("size", [20, 5_000_000])
async def test_an_answer_before_the_body_came_is_read_and_ends_the_connection(size: int) -> None:
    async with serving(EdgeSettings(port=0, keep_alive_s=10 * DEADLINE_S)) as server:
        raw = await dial(server)
        await raw.send(f"POST /v1/matches HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode())
        head = await raw.head()
        assert head.startswith("HTTP/1.1 401")
        assert "connection: close" in head
        # The client sends on, as one does that reads only afterwards.
        await raw.send(b"x" * size)
        assert await ended(raw)
        assert msgspec.json.decode(raw.buffer)["code"] == "unauthenticated"


async def test_an_upgrade_to_another_protocol_is_not_taken() -> None:
    async with serving() as server:
        raw = await dial(server)
        offer = (
            b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
        )
        await raw.send(GET + offer)
        assert (await response(raw))[0] == 200


async def test_a_drain_says_that_its_answers_are_the_last() -> None:
    async with serving() as server:
        asked, go_on = trio.Event(), trio.Event()

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            asked.set()
            await go_on.wait()
            return Accepted(command.id, command.match, 1, 1, "")

        server.service.handler = handler
        raw = await dial(server)
        body = msgspec.json.encode({k: v for k, v in ball(1).items() if k not in ("op", "match")})
        head = f"POST /v1/matches/{MATCH}/commands HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        head += f"Authorization: Bearer {server.tokens['scorer']}\r\n\r\n"
        await raw.send(head.encode() + body)
        await asked.wait()
        server.nursery.start_soon(server.edge.drain, DEADLINE_S)
        await trio.testing.wait_all_tasks_blocked()
        go_on.set()
        assert "connection: close" in await raw.head()
        assert await ended(raw)


async def http_stream(received: bytes) -> tuple[HttpStream, trio.SocketStream]:
    """A stream whose first head was read, and the client's end of it."""
    ours, theirs = trio.socket.socketpair()
    return HttpStream(trio.SocketStream(ours), None, received, DEADLINE_S), trio.SocketStream(theirs)


async def test_a_request_whose_body_is_on_its_way_when_the_drain_begins_is_taken() -> None:
    stream, client = await http_stream(b"POST / HTTP/1.1\r\n\r\n")
    async with stream, client:
        stream.finish()
        assert await stream.receive_some() == b"POST / HTTP/1.1\r\n\r\n"
        await client.send_all(b"body")
        assert await stream.receive_some() == b"body"
        stream.begin()
        stream.done()
        assert await stream.receive_some() == b""


async def test_a_later_request_that_has_begun_to_come_when_the_drain_begins_is_taken() -> None:
    stream, client = await http_stream(b"GET / HTTP/1.1\r\n\r\n")
    async with stream, client:
        await stream.receive_some()
        stream.begin()
        stream.done()
        await client.send_all(b"POST / HTTP/1.1\r\n\r\n")
        await stream.receive_some()
        stream.finish()
        await client.send_all(b"body")
        assert await stream.receive_some() == b"body"


@pytest.mark.parametrize(
    "body",
    [
        b"Transfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        b"Content-Length: 10\r\n\r\nhalf",
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
async def test_what_hypercorn_refuses_by_itself_is_refused_with_a_sentence(body: bytes) -> None:
    async with serving() as server:
        raw = await dial(server)
        await raw.send(GET + b"\r\n")
        assert (await response(raw))[0] == 200
        head = f"POST /v1/matches/{MATCH}/commands HTTP/1.1\r\nHost: x\r\n"
        head += f"Authorization: Bearer {server.tokens['scorer']}\r\n"
        await raw.send(head.encode() + body)
        await raw.stream.send_eof()
        status, problem = await response(raw)
        assert status == 400
        assert set(msgspec.json.decode(problem)) == {"code", "sentence"}
        assert await ended(raw)


def test_the_end_of_a_head() -> None:
    assert end_of_head(b"GET / HTTP/1.1\r\nA: b\r\n\r\nrest") == len(b"GET / HTTP/1.1\r\nA: b\r\n\r\n")
    assert end_of_head(b"GET / HTTP/1.1\n\nrest") == len(b"GET / HTTP/1.1\n\n")
    assert end_of_head(b"GET / HTTP/1.1\r\n") is None


def test_who_takes_a_head() -> None:
    assert judge(GET + b"\r\n") == Http()
    asked = HANDSHAKE + b"Authorization: Bearer t\r\nSec-WebSocket-Protocol: a, b\r\n\r\n"
    assert judge(asked) == Upgrade("Bearer t", ("a", "b"))
    assert judge(asked.replace(b"/v1/socket", b"/v1/socket?x=1")) == Upgrade("Bearer t", ("a", "b"))
    assert isinstance(judge(b"nonsense\r\n\r\n"), TurnAway)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"host": "203.0.113.9"}, "203.0.113.9, port 0"),
        (
            {"certificate": Path("/nowhere.pem"), "key": Path("/nokey.pem")},
            "/nowhere.pem with the key /nokey.pem",
        ),
    ],
)
async def test_what_is_wrong_at_the_start_is_named(settings: dict[str, Any], named: str) -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(OSError, match=named), allow_unwrapped=True, flatten_subgroups=True
    ):
        async with serving(EdgeSettings(**{"port": 0} | settings)):
            pass
