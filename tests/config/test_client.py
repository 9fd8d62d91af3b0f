"""The client's patience: what it does when a server stumbles. The server here is made up."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio_websocket

from config.client import open_client
from config.errors import TokenRefused, Unexpected
from gateway.protocol import CLOSE_GOING_AWAY, CLOSE_UNAUTHENTICATED, Accepted

Answer = dict[str, Any]
Script = list[Answer | list[Answer] | int]
"""What the server does with each command: an answer or several, or a close code."""


def accepted(**fields: Any) -> Answer:
    return {"outcome": "accepted", "match": "m", "seq": 2, "epoch": 0, "state_hash": "00"} | fields


def try_again(**fields: Any) -> Answer:
    return {"outcome": "try_again", "match": "m", "reason": "worker killed", "after_ms": 10} | fields


@asynccontextmanager
async def stumbling(script: Script) -> AsyncIterator[tuple[str, list[Answer]]]:
    """A server that follows the script over all its connections, and the frames that reached it."""
    heard: list[Answer] = []
    steps = iter(script)

    async def serve(request: trio_websocket.WebSocketRequest) -> None:
        assert request.path == "/v1/socket"
        assert ("authorization", b"Bearer secret") in [
            (name.decode().lower(), value) for name, value in request.headers
        ]
        socket = await request.accept(subprotocol="scorebox.json")
        try:
            while True:
                frame = json.loads(await socket.get_message())
                heard.append(frame)
                step = next(steps)
                if isinstance(step, int):
                    await socket.aclose(code=step, reason="by the script")
                    return
                for answer in step if isinstance(step, list) else [step]:
                    await socket.send_message(json.dumps({"op": "answer", "id": frame["id"]} | answer))
        except trio_websocket.ConnectionClosed:
            return

    async with trio.open_nursery() as nursery:
        server: trio_websocket.WebSocketServer = await nursery.start(
            trio_websocket.serve_websocket, serve, "127.0.0.1", 0, None
        )
        yield f"http://127.0.0.1:{server.port}", heard
        nursery.cancel_scope.cancel()


async def over(url: str) -> Any:
    async with open_client(url, "secret", device="tablet 1") as client:
        return await client.command("m", "cricket.over", {}, 1)


@pytest.mark.parametrize(
    "stumbles",
    [
        [try_again()],
        [try_again(), try_again(reason="draining")],
        [CLOSE_GOING_AWAY],
        [CLOSE_GOING_AWAY, try_again(), CLOSE_GOING_AWAY],
    ],
)
async def test_the_same_command_is_sent_until_it_is_answered(stumbles: Script):
    async with stumbling([*stumbles, accepted()]) as (url, heard):
        answer = await over(url)
    assert isinstance(answer, Accepted)
    assert len(heard) == len(stumbles) + 1
    assert all(frame == heard[0] for frame in heard)
    assert heard[0]["device"] == "tablet 1"


async def test_every_tap_has_an_id_of_its_own():
    async with stumbling([accepted(), accepted()]) as (url, heard), open_client(url, "secret") as client:
        await client.command("m", "cricket.over", {}, 1)
        await client.command("m", "cricket.over", {}, 1)
    assert heard[0]["id"] != heard[1]["id"]


async def test_an_answer_to_another_command_is_not_taken():
    other = accepted(id="00000000-0000-4000-8000-000000000000", seq=99)
    async with stumbling([[other, accepted(seq=5)]]) as (url, _):
        answer = await over(url)
    assert answer.seq == 5


@pytest.mark.parametrize(
    ("code", "error"), [(CLOSE_UNAUTHENTICATED, TokenRefused), (4400, Unexpected), (4499, Unexpected)]
)
async def test_a_socket_closed_for_good_is_not_opened_again(code: int, error: type[Exception]):
    async with stumbling([code, accepted()]) as (url, heard):
        with pytest.raises(error):
            await over(url)
    assert len(heard) == 1


async def test_a_problem_with_the_frame_is_an_error():
    problem = {"op": "error", "code": "malformed", "sentence": "this is no frame"}
    async with stumbling([problem]) as (url, _):
        with pytest.raises(Unexpected, match="this is no frame"):
            await over(url)
