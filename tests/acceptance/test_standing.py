"""Provisional, official, reopened: down the real road, over the socket, HTTP and the database."""

import json
from functools import partial
from typing import Any
from uuid import uuid4

import h11
import httpx
import pytest
import trio
from trio_websocket import open_websocket_url

from bench.play import opening
from tests.acceptance.server import ServerProcess, server_process
from tests.acceptance.test_corrections import REASON
from tests.acceptance.test_flags import FLAG, REVIEW, UP, receive
from tests.acceptance.test_past import PastBook

OFFICIAL, REOPEN = "match.official", "match.reopen"
BALLS = 6
ONE_OVER = {"name": "T1", "innings_a_side": 1, "overs": 1}
LATE = {"reason": "the last run was short"}


class Final(PastBook):
    """A desk with a match of one over a side, and where its last ball is in the log."""

    last_ball: int

    async def begin(self, count: int = 0) -> "Final":
        """A makes 1; then `count` balls of B, the last of six an equaliser."""
        self.match = (await self.create(opening=opening() | {"format": ONE_OVER}))["match"]
        self.saw, self.documents = 1, {}
        await self.bowl("A", 1, 0, 0, 0, 0, 0)
        await self.take("cricket.over", {})
        await self.bowl("B", *([0, 0, 0, 0, 0, 1][:count]))
        if count == BALLS:
            await self.take("cricket.over", {})
        return self

    async def bowl(self, batting: str, *runs: int) -> None:
        await self.take("cricket.innings", {"batting": batting})
        for number, run in enumerate(runs):
            await self.take("cricket.delivery", self.ball(batting, run, odd=sum(runs[:number]) % 2))
        self.last_ball = self.saw

    def ball(self, batting: str, runs: int, *, odd: int = 0) -> dict[str, Any]:
        striker, other = ("1", "2") if not odd else ("2", "1")
        bowler = {"A": "B11", "B": "A11"}[batting]
        return {
            "striker": f"{batting}{striker}",
            "non_striker": f"{batting}{other}",
            "bowler": bowler,
            "bat": runs,
        }

    async def overturn(self) -> dict[str, Any]:
        """The equaliser never was."""
        return await self.take("match.correct", {"event": self.last_ball, "input": self.ball("B", 0)} | LATE)

    async def head(self) -> dict[str, Any]:
        head: dict[str, Any] = (await self.document(self.match))["document"]["head"]
        return head

    async def stands(self) -> tuple[str | None, int]:
        head = await self.head()
        return head["standing"], head["revision"]


async def test_an_equaliser_overturned_after_the_end_is_reissued_as_revision_two(
    shared_server: ServerProcess,
) -> None:
    async with Final(shared_server) as book:
        await book.begin(5)
        assert await book.stands() == (None, 0)
        await book.take("cricket.delivery", book.ball("B", 1))
        book.last_ball = book.saw
        await book.take("cricket.over", {})
        head = await book.head()
        assert (head["standing"], head["result"]["kind"], head["ruling"]) == ("provisional", "tie", None)
        made = await book.take(OFFICIAL, {"reason": "the referee's report"})
        assert made["emits"] == ["official"]
        head = await book.head()
        account = (await book.log(book.match))[-1]["source"]["account"]
        said = {"reason": "the referee's report", "by": account, "since_seq": book.saw}
        assert (head["standing"], head["revision"], head["ruling"]) == ("official", 1, said)
        await book.take(REOPEN, LATE)
        assert await book.stands() == ("reopened", 1)
        await book.overturn()
        head = await book.head()
        assert (head["standing"], head["result"]["winner"]) == ("reopened", "A")
        await book.take(OFFICIAL, {})
        assert await book.stands() == ("official", 2)
        for seq, document in book.documents.items():
            assert (await book.at(seq)).json() == document


async def test_an_official_score_does_not_change(shared_server: ServerProcess) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        await book.take(OFFICIAL, {})
        before, rows = await book.score(), len(await book.log(book.match))
        changes: list[tuple[str, dict[str, Any]]] = [
            ("cricket.delivery", book.ball("B", 4)),
            ("cricket.interval", {"kind": "drinks"}),
            ("match.undo", {}),
            ("match.undo", {"preview": True}),
            ("match.correct", {"event": book.last_ball, "input": book.ball("B", 0), **REASON}),
            ("match.void", {"event": book.last_ball, **REASON}),
            ("match.rebuild", {**REASON, "force": True}),
        ]
        for code, given in changes:
            answer = await book.send(book.match, code, given, book.saw)
            assert (answer["outcome"], answer["code"]) == ("refused", "official"), code
            assert "match.reopen" in answer["sentence"]
        assert len(await book.log(book.match)) == rows
        await book.take(FLAG, REVIEW)
        await book.take(FLAG, REVIEW | {"on": False})
        await book.take("match.rebuild", {**REASON})
        assert await book.score() == before
        await book.take(REOPEN, LATE)
        await book.take("match.undo", {})
        assert await book.stands() == ("reopened", 1)


async def test_the_standing_follows_the_score_back_into_play_and_out_of_it(
    shared_server: ServerProcess,
) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        assert await book.stands() == ("provisional", 0)
        await book.take("match.undo", {})
        assert await book.stands() == (None, 0)
        refused = await book.send(book.match, OFFICIAL, {}, book.saw)
        assert (refused["outcome"], refused["code"]) == ("refused", "not_over")
        await book.take("cricket.over", {})
        await book.take(OFFICIAL, {})
        await book.take(REOPEN, LATE)
        await book.take("match.undo", {})
        head = await book.head()
        assert (head["standing"], head["status"]) == ("reopened", "LIVE")
        refused = await book.send(book.match, OFFICIAL, {}, book.saw)
        assert (refused["outcome"], refused["code"]) == ("refused", "not_over")
        await book.take("cricket.over", {})
        assert await book.stands() == ("reopened", 1)
        await book.take(OFFICIAL, {})
        assert await book.stands() == ("official", 2)


async def test_a_ruling_changes_no_figure_and_makes_nobody_stale(shared_server: ServerProcess) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        await book.take(FLAG, UP)
        saw, before = book.saw, await book.document(book.match)
        await book.take(OFFICIAL, {})
        await book.take(REOPEN, LATE)
        after = await book.document(book.match)
        for name in ("epoch", "state_hash"):
            assert after[name] == before[name]
        assert after["document"]["parts"] == before["document"]["parts"]
        assert after["document"]["head"]["flags"] == before["document"]["head"]["flags"]
        first = await book.send(book.match, "cricket.interval", {"kind": "drinks"}, saw)
        assert first["outcome"] == "accepted"
        late = await book.send(book.match, "cricket.interval", {"kind": "drinks"}, saw)
        assert (late["outcome"], late["resync"]) == ("conflict", False)
        assert [row["code"] for row in late["missed"]] == [OFFICIAL, REOPEN, "cricket.interval"]


async def test_only_who_has_seen_the_newest_score_makes_it_official(shared_server: ServerProcess) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        saw = book.saw
        await book.overturn()
        behind = await book.send(book.match, OFFICIAL, {}, saw)
        assert (behind["outcome"], behind["resync"]) == ("conflict", True)
        await book.take(OFFICIAL, {})
        # Who opens it again vouches for nothing.
        opened = await book.send(book.match, REOPEN, LATE, saw)
        assert opened["outcome"] == "accepted"


@pytest.mark.parametrize(
    ("code", "given", "refused", "field"),
    [
        (REOPEN, LATE, "not_official", None),
        (OFFICIAL, {"reason": 7}, "invalid_input", "reason"),
        (OFFICIAL, {"sure": True}, "invalid_input", "sure"),
        (REOPEN, {}, "invalid_input", "reason"),
        ("match.void", {"event": 18, "reason": "no event"}, "cannot_correct", "event"),
        ("match.revert", {"seq": 18, "reason": "no correction"}, "cannot_correct", "seq"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_code(
    shared_server: ServerProcess, code: str, given: dict[str, Any], refused: str, field: str | None
) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        await book.take(OFFICIAL, {})
        assert book.saw == 18
        await book.take(REOPEN, LATE)
        answer = await book.send(book.match, code, given, book.saw)
        assert (answer["outcome"], answer["code"], answer["field"]) == ("refused", refused, field)


async def test_an_answer_that_was_lost_is_given_again_while_it_is_official(
    shared_server: ServerProcess,
) -> None:
    async with Final(shared_server) as book:
        await book.begin(5)
        await book.take("cricket.delivery", book.ball("B", 1))
        saw, id = book.saw, str(uuid4())
        first = await book.take("cricket.over", {}, id=id)
        made = await book.take(OFFICIAL, {})
        assert await book.send(book.match, "cricket.over", {}, saw, id=id) == first | {"duplicate": True}
        again = await book.send(book.match, OFFICIAL, {}, made["seq"])
        assert (again["outcome"], again["code"]) == ("refused", "official")


async def test_a_scorer_may_not_make_it_official(shared_server: ServerProcess) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        for role, allowed in (("scorer", False), ("operator", False), ("ops", False), ("supervisor", True)):
            token = shared_server.run("token", "create", "--role", role).stdout.strip()
            headers = [(b"Authorization", f"Bearer {token}".encode())]
            url = f"{shared_server.url.replace('http', 'ws')}/v1/socket"
            async with open_websocket_url(url, extra_headers=headers) as socket:
                command = {"op": "command", "id": str(uuid4()), "match": book.match, "code": OFFICIAL}
                await socket.send_message(json.dumps(command | {"input": {}, "saw": book.saw}))
                answer = await receive(socket, "answer")
                assert answer["outcome"] == ("accepted" if allowed else "denied"), role
                assert allowed or "take a token of supervisor or admin" in answer["sentence"]


async def test_watchers_of_both_kinds_hear_of_it_at_once(shared_server: ServerProcess) -> None:
    url = f"{shared_server.url.replace('http', 'ws')}/v1/socket"
    headers = [(b"Authorization", f"Bearer {shared_server.token}".encode())]
    async with Final(shared_server) as book:
        await book.begin(6)
        async with (
            open_websocket_url(url, extra_headers=headers) as scorer,
            open_websocket_url(url) as viewer,
        ):
            for socket, audience in ((scorer, "scorer"), (viewer, "viewer")):
                watch = {"op": "watch", "match": book.match, "audience": audience}
                await socket.send_message(json.dumps(watch))
                await receive(socket, "document")
            await book.take(OFFICIAL, {})
            event, changed = await receive(scorer, "event"), await receive(viewer, "changed")
            assert (event["event"]["code"], event["event"]["emits"]) == (OFFICIAL, ["official"])
            assert event["seq"] == changed["seq"] == book.saw
            assert event["head"]["standing"] == changed["head"]["standing"] == "official"
            assert event["parts"] == changed["parts"] == {}


async def test_pages_and_the_list_show_it(shared_server: ServerProcess) -> None:
    async with Final(shared_server) as book:
        await book.begin(6)
        await book.take(OFFICIAL, {})
        async with httpx.AsyncClient(trust_env=False, base_url=shared_server.url) as browser:
            assert ">Official</span>" in (await browser.get(f"/matches/{book.match}")).text
            await book.take(REOPEN, {"reason": "the <last> run"})
            for page in (f"/matches/{book.match}", "/"):
                text = (await browser.get(page)).text
                assert '<span class="standing standing-reopened"' in text
            await book.take(OFFICIAL, {})
            assert ">Official, revision 2</span>" in (await browser.get(f"/matches/{book.match}")).text
            listed = (await browser.get("/v1/matches", params={"status": "COMPLETED"})).json()["matches"]
            entry = next(entry for entry in listed if entry["match"] == book.match)
            assert (entry["standing"], entry["revision"]) == ("official", 2)


async def take_posts(heard: trio.MemorySendChannel[bytes], stream: trio.SocketStream) -> None:
    """A subscriber of the webhook: takes every post and hands on its body."""
    connection, body = h11.Connection(h11.SERVER), b""
    while not isinstance(event := connection.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.ConnectionClosed):
            return
    answer = h11.Response(status_code=200, headers=[("content-length", "0")])
    await stream.send_all((connection.send(answer) or b"") + (connection.send(h11.EndOfMessage()) or b""))
    await heard.send(body)


async def test_the_webhook_tells_of_it_in_its_place() -> None:
    posts, heard = trio.open_memory_channel[bytes](100)
    async with trio.open_nursery() as nursery:
        [listener] = await nursery.start(
            partial(trio.serve_tcp, partial(take_posts, posts), 0, host="127.0.0.1")
        )
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/"
        server = server_process(webhook_url=url, webhook_secret="s" * 32, webhook_private="true")
        started = await trio.to_thread.run_sync(server.__enter__)
        try:
            async with Final(started) as book:
                await book.begin(6)
                await book.take(OFFICIAL, {})
                await book.take(REOPEN, LATE)
                told: list[dict[str, Any]] = []
                with trio.fail_after(30):
                    while len(told) < book.saw:
                        told += json.loads(await heard.receive())["events"]
            assert [event["seq"] for event in told] == list(range(1, book.saw + 1))
            assert [(event["code"], event["emits"]) for event in told[-2:]] == [
                (OFFICIAL, ["official"]),
                (REOPEN, ["reopened"]),
            ]
        finally:
            await trio.to_thread.run_sync(partial(server.__exit__, None, None, None))
        nursery.cancel_scope.cancel()


async def test_it_outlives_a_restart_and_the_verifier_agrees() -> None:
    with server_process() as server:
        async with Final(server) as book:
            await book.begin(6)
            await book.take(OFFICIAL, {})
            for standing in (("official", 1), ("reopened", 1)):
                document = await book.document(book.match)
                server.kill()
                server.start()
                assert await book.document(book.match) == document
                assert await book.stands() == standing
                # Refused with a non-zero code where anything differs.
                assert server.run("verify", book.match).returncode == 0
                answer = await book.send(book.match, "match.undo", {}, book.saw)
                if standing[0] == "official":
                    assert answer["code"] == "official"
                    await book.take(REOPEN, LATE)
                else:
                    assert answer["outcome"] == "accepted"
