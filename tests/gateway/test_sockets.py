"""The WebSocket protocol over real sockets."""

from typing import Any

import msgspec
import pytest
import trio

from gateway.auth import Identity
from gateway.edge import EdgeSettings
from gateway.protocol import Accepted, Answer, CommandFrame
from gateway.service import Hear
from gateway.sockets import BAD_FRAMES_LIMIT, IN_FLIGHT_LIMIT, WATCH_LIMIT, Heartbeat
from tests.gateway.rawsocket import BINARY, CLOSE, HANDSHAKE, PING, PONG, TEXT, RawSocket, frame
from tests.gateway.standin import CODE, DEADLINE_S, MATCH, OTHER, OTHER_CODE, Server, ball, serving

PROTOCOLS = ["scorebox.json", "scorebox.msgpack", None]


async def raw_socket(server: Server, **options: Any) -> RawSocket:
    raw = RawSocket(await server.dial())
    assert (await raw.open(**options)).startswith("HTTP/1.1 101")
    return raw


def text(value: Any) -> bytes:
    return frame(TEXT, msgspec.json.encode(value))


async def answer_of(raw: RawSocket) -> dict[str, Any]:
    found = await raw.receive()
    assert found is not None
    assert found[0] == TEXT
    decoded: dict[str, Any] = msgspec.json.decode(found[1])
    return decoded


async def test_a_command_is_answered() -> None:
    async with serving() as server:
        client = await server.connect()
        answer = await client.ask(ball(1))
        assert answer["op"] == "answer"
        assert answer["outcome"] == "accepted"
        assert answer["seq"] == 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_a_scorer_sees_every_event_and_a_viewer_the_changed_parts(protocol: str | None) -> None:
    async with serving() as server:
        scorer = await server.connect(protocol=protocol)
        viewer = await server.connect(role=None, protocol=protocol)
        document = await viewer.ask({"op": "watch", "match": MATCH})
        assert document["op"] == "document"
        assert document["document"]["head"]["code"] == CODE
        assert (await scorer.ask({"op": "watch", "match": MATCH, "audience": "scorer"}))["op"] == "document"
        await scorer.send(ball(1))
        event = await scorer.receive_op("event")
        assert (event["seq"], event["event"]["input"]) == (1, {"bat": 1})
        changed = await viewer.receive_op("changed")
        assert changed["seq"] == 1
        assert changed["head"]["sides"][0]["score"] == "1/0"
        assert changed["parts"]["innings-1"]["lines"][0]["values"]["runs"] == 1


async def test_unwatch_ends_the_events() -> None:
    async with serving() as server:
        client = await server.connect()
        assert (await client.ask({"op": "watch", "match": MATCH, "audience": "scorer"}))["op"] == "document"
        assert await client.ask({"op": "unwatch", "match": MATCH}) == {"op": "unwatched", "match": MATCH}
        assert (await client.ask(ball(1)))["op"] == "answer"
        assert await client.ask({"op": "ping", "n": 7}) == {"op": "pong", "n": 7}
        assert server.service.matches_by_ref[MATCH].topic.watchers == 0


async def test_leaving_unwatches() -> None:
    async with serving() as server:
        client = await server.connect()
        await client.ask({"op": "watch", "match": MATCH})
        await client.connection.aclose()
        topic = server.service.matches_by_ref[MATCH].topic
        with trio.fail_after(DEADLINE_S):
            while topic.watchers:
                await trio.sleep(0.001)


async def test_watching_again_replaces() -> None:
    async with serving() as server:
        client = await server.connect()
        await client.ask({"op": "watch", "match": MATCH})
        await client.ask({"op": "watch", "match": MATCH})
        assert server.service.matches_by_ref[MATCH].topic.watchers == 1


@pytest.mark.parametrize("in_frame", [False, True])
async def test_a_token_that_is_revoked_ends_with_the_next_command_of_an_open_socket(in_frame: bool) -> None:
    async with serving() as server:
        client = await server.connect(role=None if in_frame else "scorer")
        if in_frame:
            await client.ask({"op": "auth", "token": server.tokens["scorer"]})
        assert (await client.ask(ball(1)))["outcome"] == "accepted"
        server.revoke("scorer")
        answer = await client.ask(ball(2))
        assert (answer["outcome"], answer["reason"]) == ("denied", "unauthenticated")
        problem = await client.ask({"op": "watch", "match": MATCH, "audience": "scorer"})
        assert problem["code"] == "forbidden"
        assert (await client.ask({"op": "watch", "match": MATCH}))["op"] == "document"


async def test_a_match_is_watched_once_however_it_is_named() -> None:
    async with serving() as server:
        client = await server.connect()
        topic = server.service.matches_by_ref[MATCH].topic
        for name in (CODE, MATCH, CODE, MATCH):
            assert (await client.ask({"op": "watch", "match": name}))["op"] == "document"
            assert topic.watchers == 1
        name = MATCH.upper()
        assert await client.ask({"op": "unwatch", "match": name}) == {"op": "unwatched", "match": name}
        assert topic.watchers == 0


async def test_a_browser_sends_its_token_in_a_frame() -> None:
    async with serving() as server:
        client = await server.connect(role=None)
        denied = await client.ask(ball(1))
        assert (denied["outcome"], denied["reason"]) == ("denied", "unauthenticated")
        assert await client.ask({"op": "auth", "token": server.tokens["scorer"]}) == {
            "op": "welcome",
            "role": "scorer",
        }
        assert (await client.ask(ball(1)))["outcome"] == "accepted"


async def test_a_command_right_behind_the_token_is_judged_by_it() -> None:
    async with serving() as server:
        behind = text({"op": "auth", "token": server.tokens["scorer"]}) + text(ball(1))
        raw = await raw_socket(server, pipelined=behind)
        assert (await answer_of(raw))["op"] == "welcome"
        assert (await answer_of(raw))["outcome"] == "accepted"


async def test_an_unknown_token_closes() -> None:
    async with serving() as server:
        raw = await raw_socket(server)
        await raw.send(text({"op": "auth", "token": "nobody"}))
        assert (await raw.receive_close())[0] == 4401
        other = RawSocket(await server.dial())
        assert "401" in await other.open(token="nobody")


@pytest.mark.parametrize(
    ("role", "fields", "reason"),
    [
        ("viewer", {}, "forbidden"),
        ("bound", {}, "forbidden"),
        ("scorer", {"code": "results.set_line"}, "forbidden"),
        (None, {}, "unauthenticated"),
    ],
)
async def test_who_may_not_is_denied(role: str | None, fields: dict[str, Any], reason: str) -> None:
    async with serving() as server:
        client = await server.connect(role=role)
        answer = await client.ask(ball(1, **fields))
        assert (answer["outcome"], answer["reason"], answer["id"]) == ("denied", reason, ball(1)["id"])
        assert server.service.commands == []


async def test_a_token_for_one_match_scores_it_by_uuid_and_by_code() -> None:
    async with serving() as server:
        client = await server.connect(role="bound")
        assert (await client.ask(ball(1, OTHER)))["outcome"] == "accepted"
        assert (await client.ask(ball(2, OTHER_CODE)))["outcome"] == "accepted"


async def test_watching_as_a_scorer_takes_a_scorers_token() -> None:
    async with serving() as server:
        for role in (None, "viewer", "bound"):
            client = await server.connect(role=role)
            problem = await client.ask({"op": "watch", "match": MATCH, "audience": "scorer"})
            assert (problem["op"], problem["code"]) == ("error", "forbidden")


async def test_an_unknown_match() -> None:
    async with serving() as server:
        client = await server.connect()
        problem = await client.ask({"op": "watch", "match": "NOWHERE"})
        assert (problem["op"], problem["code"], problem["where"]) == ("error", "unknown_match", "match")
        answer = await client.ask(ball(1, "NOWHERE"))
        assert (answer["outcome"], answer["code"]) == ("refused", "unknown_match")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(TEXT, b"nonsense"), "malformed"),
        (frame(TEXT, b"[1,2]"), "invalid"),
        (frame(TEXT, b'{"op":"dance"}'), "unknown_op"),
        (frame(TEXT, b'{"op":"ping","n":"one"}'), "invalid"),
        (frame(BINARY, b"\xc1"), "malformed"),
        (frame(BINARY, b'{"op":"ping"}'), "invalid"),
        (frame(TEXT, b""), "malformed"),
    ],
)
async def test_a_bad_frame_is_answered_and_the_socket_stays(data: bytes, code: str) -> None:
    async with serving() as server:
        raw = await raw_socket(server)
        await raw.send(data)
        problem = await answer_of(raw)
        assert (problem["op"], problem["code"]) == ("error", code)
        await raw.send(text({"op": "ping", "n": 1}))
        assert (await answer_of(raw))["op"] == "pong"


async def test_binary_is_msgpack_and_text_is_json_whatever_was_agreed() -> None:
    async with serving() as server:
        raw = await raw_socket(server)
        await raw.send(frame(BINARY, msgspec.msgpack.encode({"op": "ping", "n": 5})))
        assert await answer_of(raw) == {"op": "pong", "n": 5}


async def test_frame_after_bad_frame_closes() -> None:
    async with serving() as server:
        raw = await raw_socket(server)
        for _ in range(BAD_FRAMES_LIMIT):
            await raw.send(frame(TEXT, b"?"))
        assert (await raw.receive_close())[0] == 4400
        assert len(raw.frames) == BAD_FRAMES_LIMIT - 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(TEXT, b"x" * (64 * 1024 + 1)), 1009),
        (frame(TEXT, b"x" * (64 * 1024), first=0) + frame(0, b"x"), 1009),
        (frame(TEXT, b"x", masked=False), 1002),
        (frame(5, b"x"), 1002),
        (frame(TEXT, b"x", first=0xC0), 1002),
        (frame(TEXT, b"\xc3\x28"), 1007),
    ],
)
async def test_a_client_that_breaks_the_protocol_is_closed_with_its_code(data: bytes, code: int) -> None:
    async with serving() as server:
        bystander = await server.connect()
        raw = await raw_socket(server)
        await raw.send(data)
        assert (await raw.receive_close())[0] == code
        assert (await bystander.ask(ball(1)))["outcome"] == "accepted"


async def test_a_frame_of_the_limit_is_taken() -> None:
    async with serving() as server:
        client = await server.connect()
        room = 64 * 1024 - len(msgspec.json.encode(ball(1, input={"note": ""})))
        answer = await client.ask(ball(1, input={"note": "x" * room}))
        assert answer["outcome"] == "accepted"


async def test_a_message_in_fragments_with_pings_between() -> None:
    async with serving() as server:
        raw = await raw_socket(server, token=server.tokens["scorer"])
        whole = msgspec.json.encode(ball(1))
        await raw.send(frame(TEXT, whole[:9], first=0) + frame(PING, b"are you there"))
        assert await raw.receive() == (PONG, b"are you there")
        await raw.send(frame(0, whole[9:]))
        assert (await answer_of(raw))["outcome"] == "accepted"


async def test_the_client_closes() -> None:
    async with serving() as server:
        raw = await raw_socket(server)
        await raw.send(frame(CLOSE, b"\x03\xe8bye"))
        assert (await raw.receive_close())[0] == 1000
        assert await raw.receive() is None


@pytest.mark.parametrize(
    "data", [frame(CLOSE, b"\x03"), frame(CLOSE, b"\x00\x00"), frame(CLOSE, b"\x03\xe8\xff")]
)
async def test_a_broken_close_ends_the_socket_and_nobody_elses(data: bytes) -> None:
    async with serving() as server:
        bystander = await server.connect()
        raw = await raw_socket(server)
        await raw.send(data)
        assert await raw.receive() is None
        assert (await bystander.ask(ball(1)))["outcome"] == "accepted"


async def test_talking_on_after_a_close_hurts_nobody() -> None:
    async with serving() as server:
        raw = await raw_socket(server)
        await raw.send(text({"op": "auth", "token": "nobody"}) + frame(PING, b"x") * 50 + text(ball(1)) * 50)
        assert (await raw.receive_close())[0] == 4401
        bystander = await server.connect()
        assert (await bystander.ask(ball(1)))["outcome"] == "accepted"


async def test_commands_of_one_match_keep_their_order_and_matches_do_not_wait_for_each_other() -> None:
    async with serving() as server:
        blocked = trio.Event()
        order: list[str] = []

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            if command.match == MATCH:
                await blocked.wait()
                order.append(command.id)
            return Accepted(command.id, command.match, len(order), 1, "")

        server.service.handler = handler
        client = await server.connect()
        for number in (1, 2, 3):
            await client.send(ball(number))
        # The other match is scored while the first one's command is still under way.
        assert (await client.ask(ball(9, OTHER)))["id"] == ball(9)["id"]
        blocked.set()
        answers = [(await client.receive())["id"] for _ in range(3)]
        assert answers == [ball(number)["id"] for number in (1, 2, 3)]
        assert order == answers


async def test_a_client_in_a_hurry_waits_and_every_command_is_answered() -> None:
    async with serving() as server:
        go_on = trio.Event()
        most = 0
        waiting = 0

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            nonlocal waiting, most
            waiting += 1
            most = max(most, waiting)
            await go_on.wait()
            waiting -= 1
            return Accepted(command.id, command.match, 1, 1, "")

        server.service.handler = handler
        raw = await raw_socket(server, token=server.tokens["scorer"])
        total = 3 * IN_FLIGHT_LIMIT
        await raw.send(b"".join(text(ball(number, f"M-{number}")) for number in range(total)))
        with trio.fail_after(DEADLINE_S):
            while most < IN_FLIGHT_LIMIT:
                await trio.sleep(0.001)
        await trio.testing.wait_all_tasks_blocked(0.02)
        assert most == IN_FLIGHT_LIMIT
        go_on.set()
        ids = {(await answer_of(raw))["id"] for _ in range(total)}
        assert len(ids) == total


async def test_a_fault_behind_the_socket_is_an_answer_and_not_silence() -> None:
    async with serving() as server:

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            raise RuntimeError("a fault of ours")

        server.service.handler = handler
        client = await server.connect()
        assert (await client.ask(ball(1)))["outcome"] == "try_again"
        server.service.handler = None
        assert (await client.ask(ball(1)))["outcome"] == "accepted"


@pytest.mark.parametrize("fails", [False, True], ids=["and goes on", "and fails"])
async def test_a_saved_command_is_answered_at_once_and_only_once(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving() as server:
        go_on = trio.Event()

        async def command(asked: CommandFrame, who: Identity, hear: Hear) -> Answer:
            answer = Accepted(asked.id, MATCH, 1, 1, "0" * 64)
            hear(answer)
            await go_on.wait()
            if fails:
                raise RuntimeError("a fault of ours, after the command was saved")
            return answer

        monkeypatch.setattr(server.service, "command", command)
        client = await server.connect()
        assert (await client.ask(ball(1)))["outcome"] == "accepted"
        go_on.set()
        # Of the same match, so it is looked at once the command is done with.
        await client.send({"op": "unwatch", "match": MATCH})
        assert (await client.receive())["op"] == "unwatched"


async def test_an_answer_to_a_client_that_has_left_hurts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as server:
        heard: list[Hear] = []
        left = trio.Event()

        async def command(asked: CommandFrame, who: Identity, hear: Hear) -> Answer:
            heard.append(hear)
            try:
                await trio.sleep_forever()
            finally:
                left.set()
            raise AssertionError

        monkeypatch.setattr(server.service, "command", command)
        raw = await raw_socket(server, token=server.tokens["scorer"])
        await raw.send(text(ball(1)))
        await raw.stream.aclose()
        with trio.fail_after(DEADLINE_S):
            await left.wait()
            while server.edge.statistics()["connections"]:
                await trio.sleep(0.001)
        heard[0](Accepted(str(ball(1)["id"]), MATCH, 1, 1, "0" * 64))


async def test_too_many_watches() -> None:
    async with serving() as server:
        client = await server.connect()
        for number in range(WATCH_LIMIT + 1):
            server.service.add(f"0190b0a0-0000-7000-8000-{number:012d}", f"W-{number}")
        for number in range(WATCH_LIMIT):
            assert (await client.ask({"op": "watch", "match": f"W-{number}"}))["op"] == "document"
        problem = await client.ask({"op": "watch", "match": f"W-{WATCH_LIMIT}"})
        assert problem["code"] == "too_many_watches"


async def test_no_pong_closes() -> None:
    async with serving(EdgeSettings(port=0, heartbeat=Heartbeat(every_s=0.02, answer_s=0.05))) as server:
        raw = await raw_socket(server)
        assert (await raw.receive_close())[0] == 4002
        assert raw.frames[0][0] == PING


async def test_a_client_that_answers_pings_stays() -> None:
    async with serving(EdgeSettings(port=0, heartbeat=Heartbeat(every_s=0.02, answer_s=5.0))) as server:
        raw = await raw_socket(server)
        for _ in range(3):
            found = await raw.receive()
            assert found is not None
            assert found[0] == PING
            await raw.send(frame(PONG, found[1]))
        await raw.send(text({"op": "ping", "n": 1}))
        while (found := await raw.receive()) != (TEXT, b'{"op":"pong","n":1}'):
            assert found is not None
            await raw.send(frame(PONG, found[1]))


async def test_no_room_for_another_socket() -> None:
    async with serving(EdgeSettings(port=0, sockets_limit=1)) as server:
        await (await server.connect()).ask({"op": "ping"})
        raw = await raw_socket(server)
        assert (await raw.receive_close())[0] == 4003


async def test_an_unknown_sub_protocol_is_refused() -> None:
    async with serving() as server:
        raw = RawSocket(await server.dial())
        await raw.send(HANDSHAKE + b"Sec-WebSocket-Protocol: soap\r\n\r\n")
        assert "400" in await raw.head()
        assert await raw.fill() or b"unknown_subprotocol" in raw.buffer
