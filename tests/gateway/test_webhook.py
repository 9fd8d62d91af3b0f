"""The webhook, against a real receiver on loopback."""

import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import h11
import msgspec
import pytest
import trio

from gateway.errors import NotDelivered
from gateway.webhook import DEADLINE_S, Webhook, sign

MATCH = UUID(int=7)
NOTES: list[dict[str, Any]] = [
    {
        "seq": seq,
        "epoch": 1,
        "event_type": "cricket.delivery",
        "emits": ["four"],
        "created_at": datetime(2026, 6, 1, tzinfo=UTC),
    }
    for seq in (2, 3)
]


class Receiver:
    """An HTTP server that keeps what it was sent."""

    def __init__(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.status = status
        self.headers = headers
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.url = ""

    async def serve(self, stream: trio.SocketStream) -> None:
        connection, headers, body = h11.Connection(h11.SERVER), {}, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(65536))
            elif isinstance(event, h11.Request):
                headers = {name.decode(): value.decode() for name, value in event.headers}
            elif isinstance(event, h11.Data):
                body += event.data
            else:
                break
        self.requests.append((headers, body))
        answer = h11.Response(status_code=self.status, headers=[*self.headers, ("content-length", "0")])
        for part in (answer, h11.EndOfMessage()):
            await stream.send_all(connection.send(part) or b"")
        await stream.aclose()


@asynccontextmanager
async def receiving(status: int = 204, *headers: tuple[str, str]) -> AsyncIterator[Receiver]:
    receiver = Receiver(status, list(headers))
    async with trio.open_nursery() as nursery:
        listeners: list[trio.SocketListener] = await nursery.start(
            lambda task_status: trio.serve_tcp(receiver.serve, 0, host="127.0.0.1", task_status=task_status)
        )
        receiver.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/hook"
        yield receiver
        nursery.cancel_scope.cancel()


async def test_events_are_posted_signed_and_named() -> None:
    async with receiving() as receiver:
        await Webhook(receiver.url, "secret", allow_private=True).deliver(MATCH, NOTES)
    [(headers, body)] = receiver.requests
    seconds, mac = (word.partition("=")[2] for word in headers["scorebox-signature"].split(","))
    assert hmac.new(b"secret", f"{seconds}.".encode() + body, hashlib.sha256).hexdigest() == mac
    sent = msgspec.json.decode(body)
    assert [event["id"] for event in sent["events"]] == [f"{MATCH}:2", f"{MATCH}:3"]
    assert sent["match"] == str(MATCH)
    assert sent["events"][0]["emits"] == ["four"]


@pytest.mark.parametrize(
    ("status", "headers"), [(500, []), (302, [("location", "http://127.0.0.1:1/")]), (404, [])]
)
async def test_anything_but_success_comes_again(status: int, headers: list[tuple[str, str]]) -> None:
    async with receiving(status, *headers) as receiver:
        with pytest.raises(NotDelivered, match=str(status)):
            await Webhook(receiver.url, "secret", allow_private=True).deliver(MATCH, NOTES)
    assert len(receiver.requests) == 1


async def test_an_answer_without_an_end_holds_nothing_up() -> None:
    async def serve(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n")
            while True:
                await stream.send_all(b"x" * 65536)

    async with trio.open_nursery() as nursery:
        listeners: list[trio.SocketListener] = await nursery.start(
            lambda task_status: trio.serve_tcp(serve, 0, host="127.0.0.1", task_status=task_status)
        )
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/"
        with trio.fail_after(DEADLINE_S / 2):
            await Webhook(url, "secret", allow_private=True).deliver(MATCH, NOTES)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("url", ["http://:0:0/", "http://", "gopher://127.0.0.1/"])
async def test_an_address_that_is_none_comes_again(url: str) -> None:
    with pytest.raises(NotDelivered):
        await Webhook(url, "secret", allow_private=True).deliver(MATCH, NOTES)


async def test_nobody_there_comes_again() -> None:
    async with receiving() as receiver:
        pass
    with pytest.raises(NotDelivered, match="no answer"):
        await Webhook(receiver.url, "secret", allow_private=True).deliver(MATCH, NOTES)


@pytest.mark.parametrize(
    "address",
    [lambda url: url, lambda url: url.replace("127.0.0.1", "localhost"), lambda url: "http://[::1]:9/"],
)
async def test_private_addresses_are_refused_unless_allowed(address: Callable[[str], str]) -> None:
    async with receiving() as receiver:
        with pytest.raises(NotDelivered, match="private address"):
            await Webhook(address(receiver.url), "secret").deliver(MATCH, NOTES)
    assert receiver.requests == []


def test_a_signature_is_of_time_and_body() -> None:
    assert sign(b"k", b"body", 1) != sign(b"k", b"body", 2)
    assert sign(b"k", b"body", 1) != sign(b"k", b"other", 1)
    assert sign(b"k", b"body", 1).startswith("t=1,v1=")
