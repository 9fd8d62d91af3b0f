"""Flags down the real road: everybody sees them at once, and nobody is behind by them."""

import json
from typing import Any

import httpx
import pytest
from trio_websocket import WebSocketConnection, open_websocket_url

from tests.acceptance.server import ServerProcess, server_process
from tests.acceptance.test_corrections import Book
from tests.acceptance.test_past import PastBook

FLAG = "match.flag"
UP = {"flag": "uncertain", "on": True, "reason": "the two scorers differ"}
DOWN = {"flag": "uncertain", "on": False, "reason": "counted again"}
REVIEW = {"flag": "under_review", "on": True, "reason": "was that a no-ball?"}


async def flags(book: Book) -> dict[str, Any]:
    document = await book.document(book.match)
    up: dict[str, Any] = document["document"]["head"]["flags"]
    return up


async def test_a_flag_changes_the_head_and_nothing_else(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(10)
        saw, before = book.saw, await book.document(book.match)
        answer = await book.take(FLAG, UP)
        after = await book.document(book.match)
        assert (answer["seq"], answer["epoch"]) == (saw + 1, before["epoch"])
        assert answer["state_hash"] == after["state_hash"] == before["state_hash"]
        flag = after["document"]["head"]["flags"].pop("uncertain")
        assert (flag["reason"], flag["since_seq"]) == (UP["reason"], saw + 1)
        assert flag["by"] == (await book.log(book.match))[-1]["source"]["account"]
        assert after["document"] == before["document"]
        await book.take(FLAG, DOWN)
        assert await flags(book) == {}


async def test_a_flag_makes_nobody_stale_and_is_never_stale_itself(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(5)
        saw = book.saw
        await book.take(FLAG, UP)
        first = await book.send(book.match, "cricket.interval", {"kind": "drinks"}, saw)
        assert first["outcome"] == "accepted"
        late = await book.send(book.match, "cricket.interval", {"kind": "drinks"}, saw)
        assert (late["outcome"], late["resync"]) == ("conflict", False)
        assert [row["code"] for row in late["missed"]] == [FLAG, "cricket.interval"]
        old = await book.send(book.match, FLAG, REVIEW, 1)
        assert old["outcome"] == "accepted"
        ahead = await book.send(book.match, FLAG, DOWN, old["seq"] + 1)
        assert ahead["outcome"] == "conflict"


async def test_an_undo_takes_the_event_before_a_flag(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(55)
        before = await book.score()
        await book.take("cricket.interval", {"kind": "drinks"})
        await book.take(FLAG, UP)
        await book.take("match.undo", {})
        after = await book.score()
        assert list(after["document"]["head"].pop("flags")) == ["uncertain"]
        assert before["document"]["head"].pop("flags") == {}
        assert after == before
        flagged = await flags(book)
        await book.take("match.rebuild", {"reason": "to see"})
        assert await flags(book) == flagged


async def test_every_row_with_a_flag_is_read_as_it_was(shared_server: ServerProcess) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(3)
        for given in (UP, REVIEW, DOWN):
            await book.take(FLAG, given)
            await book.take("cricket.interval", {"kind": "drinks"})
        await book.take("match.undo", {})
        for seq, document in book.documents.items():
            assert (await book.at(seq)).json() == document


@pytest.mark.parametrize(
    ("code", "given", "field"),
    [
        (FLAG, DOWN, "flag"),
        (FLAG, UP | {"flag": "wrong"}, "flag"),
        (FLAG, UP | {"reason": ""}, "reason"),
        ("match.void", {"event": 4, "reason": "not an event"}, "event"),
        ("match.revert", {"seq": 4, "reason": "not a correction"}, "seq"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_field(
    shared_server: ServerProcess, code: str, given: dict[str, Any], field: str
) -> None:
    async with Book(shared_server) as book:
        await book.begin(2)
        await book.take(FLAG, REVIEW)
        answer = await book.send(book.match, code, given, book.saw)
        assert (answer["outcome"], answer["field"]) == ("refused", field)
        assert len(await book.log(book.match)) == book.saw


async def receive(socket: WebSocketConnection, op: str) -> dict[str, Any]:
    while True:
        frame: dict[str, Any] = json.loads(await socket.get_message())
        if frame["op"] == op:
            return frame


async def test_watchers_of_both_kinds_hear_of_it_at_once(shared_server: ServerProcess) -> None:
    url = f"{shared_server.url.replace('http', 'ws')}/v1/socket"
    headers = [(b"Authorization", f"Bearer {shared_server.token}".encode())]
    async with Book(shared_server) as book:
        await book.begin(3)
        async with (
            open_websocket_url(url, extra_headers=headers) as scorer,
            open_websocket_url(url) as viewer,
        ):
            for socket, audience in ((scorer, "scorer"), (viewer, "viewer")):
                watch = {"op": "watch", "match": book.match, "audience": audience}
                await socket.send_message(json.dumps(watch))
                await receive(socket, "document")
            await book.take(FLAG, UP)
            event, changed = await receive(scorer, "event"), await receive(viewer, "changed")
            assert event["event"]["code"] == FLAG
            assert event["seq"] == changed["seq"] == book.saw
            assert list(event["head"]["flags"]) == list(changed["head"]["flags"]) == ["uncertain"]
            assert event["parts"] == changed["parts"] == {}


async def test_a_page_shows_it_in_words(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(1)
        await book.take(FLAG, REVIEW | {"reason": f"look at {book.match} <again>"})
        async with httpx.AsyncClient(trust_env=False) as browser:
            page = (await browser.get(f"{shared_server.url}/matches/{book.match}")).text
            home = (await browser.get(shared_server.url)).text
            for shown in (page, home):
                assert f"<strong>Under review</strong>: look at {book.match} &lt;again&gt;" in shown


async def test_flags_outlive_a_restart_and_the_verifier_agrees() -> None:
    with server_process() as server:
        async with Book(server) as book:
            await book.begin(49)
            for given in (UP, REVIEW, DOWN):
                await book.take(FLAG, given)
            await book.take("cricket.interval", {"kind": "drinks"})
            document = await book.document(book.match)
            server.kill()
            server.start()
            assert await book.document(book.match) == document
            await book.take(FLAG, REVIEW | {"reason": "the third umpire looks"})
            up = await flags(book)
            assert up["under_review"]["reason"] == "the third umpire looks"
            assert up["under_review"]["since_seq"] < book.saw
            # Refused with a non-zero code where anything differs.
            assert server.run("verify", book.match).returncode == 0
