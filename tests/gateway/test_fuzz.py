"""Whatever bytes a client sends: no fault of ours is logged, and the others are served."""

import msgspec
import structlog
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.gateway.rawsocket import HANDSHAKE, RawSocket, frame
from tests.gateway.standin import MATCH, ball, serving

FRAMES = [
    {"op": "watch", "match": MATCH, "audience": "scorer"},
    {"op": "watch", "match": MATCH, "after": {"epoch": 1, "seq": 1}},
    {"op": "unwatch", "match": MATCH},
    {"op": "ping", "n": 3},
    {"op": "command"},
    ball(1),
    ball(2, "NOWHERE"),
]
PAYLOADS = (
    st.sampled_from(FRAMES).map(msgspec.json.encode)
    | st.sampled_from(FRAMES).map(msgspec.msgpack.encode)
    | st.binary(max_size=130)
)
PIECES = st.builds(
    frame,
    st.integers(0, 15),
    PAYLOADS,
    first=st.sampled_from([0x80, 0x80, 0x80, 0x00, 0xC0]),
    masked=st.sampled_from([True, True, True, False]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    sent=st.lists(PIECES | st.binary(max_size=40), min_size=1, max_size=12),
    handshake=st.booleans(),
    known=st.booleans(),
)
async def test_no_bytes_make_a_fault(sent: list[bytes], handshake: bool, known: bool) -> None:
    with structlog.testing.capture_logs() as logs:
        async with serving() as server:
            raw = RawSocket(await server.dial())
            token = f"Authorization: Bearer {server.tokens['scorer']}\r\n".encode() if known else b""
            head = HANDSHAKE + token + b"\r\n" if handshake else b""
            try:
                await raw.send(head + sent[0])
                for piece in sent[1:]:
                    await raw.send(piece)
            except trio.BrokenResourceError:
                pass
            bystander = await server.connect()
            assert (await bystander.ask(ball(99)))["outcome"] == "accepted"
            raw.stream.socket.close()
            while server.edge.statistics()["connections"] > 1:
                await trio.sleep(0.001)
    assert [entry for entry in logs if entry["log_level"] in ("error", "critical")] == []
