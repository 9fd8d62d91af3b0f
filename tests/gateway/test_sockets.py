"""The WebSocket protocol over real sockets."""

import pytest

from tests.gateway.standin import MATCH, ball, serving


async def test_a_command_is_answered() -> None:
    async with serving() as server:
        client = await server.connect()
        answer = await client.ask(ball(1))
        assert answer["op"] == "answer"
        assert answer["outcome"] == "accepted"
        assert answer["seq"] == 1


@pytest.mark.parametrize("protocol", ["scorebox.json", "scorebox.msgpack", None])
async def test_a_scorer_sees_every_event_and_a_viewer_the_changed_parts(protocol: str | None) -> None:
    async with serving() as server:
        scorer = await server.connect(protocol=protocol)
        viewer = await server.connect(role=None, protocol=protocol)
        document = await viewer.ask({"op": "watch", "match": MATCH})
        assert document["op"] == "document"
        assert document["document"]["head"]["code"] == "CRI-1"
        assert (await scorer.ask({"op": "watch", "match": MATCH, "audience": "scorer"}))["op"] == "document"
        await scorer.send(ball(1))
        event = await scorer.receive_op("event")
        assert (event["seq"], event["event"]["input"]) == (1, {"bat": 1})
        changed = await viewer.receive_op("changed")
        assert changed["seq"] == 1
        assert changed["head"]["sides"][0]["score"] == "1/0"
        assert changed["parts"]["innings-1"]["lines"][0]["values"]["runs"] == 1
