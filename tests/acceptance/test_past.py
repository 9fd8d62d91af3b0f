"""Looks into the past down the real road: a match as it was at any seq, and the history of one event."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.acceptance.server import ServerProcess
from tests.acceptance.test_corrections import REASON, Book

EVENTS = 24


class PastBook(Book):
    """A desk that keeps what the match's document was after every row, and reads it again."""

    documents: dict[int, dict[str, Any]]

    async def begin(self, count: int = 0) -> "PastBook":
        self.documents = {}
        await super().begin(count)
        self.documents[self.saw] = await self.document(self.match)
        return self

    async def take(self, code: str, given: dict[str, Any], **how: Any) -> dict[str, Any]:
        answer = await super().take(code, given, **how)
        self.documents[self.saw] = await self.document(self.match)
        return answer

    async def at(self, seq: int | str) -> httpx.Response:
        return await self._http.get(f"/v1/matches/{self.match}/document", params={"at": seq})

    async def event(self, name: str, *, token: str | None = None) -> httpx.Response:
        headers = None if token is None else {"Authorization": token}
        return await self._http.get(f"/v1/matches/{self.match}/events/{name}", headers=headers)


@asynccontextmanager
async def corrected(server: ServerProcess) -> AsyncIterator[PastBook]:
    """A match with every kind of correction in its log."""
    async with PastBook(server) as book:
        await book.begin(EVENTS)
        newest = book.saw
        await book.take("match.undo", {}, device="tablet-1")
        await book.take("cricket.interval", {"kind": "drinks"})
        await book.take("match.undo", {})
        await book.take("match.undo", {})
        row = (await book.log(book.match))[newest - 4]
        wrong = {"event": newest - 3, "input": row["input"] | {"note": "seen again"}, **REASON}
        if "note" not in row["input"]:
            wrong["input"] = row["input"] | {"bat": 0}
        await book.take("match.correct", wrong | {"force": True}, device="tablet-2")
        correction = book.saw
        await book.take("match.void", {"event": newest - 5, **REASON, "force": True})
        await book.take(
            "match.insert", {"after": 10, "code": "cricket.interval", "input": {"kind": "drinks"}} | REASON
        )
        await book.take("match.revert", {"seq": correction, **REASON})
        edits = [{"edit": "insert", "after": 12, "code": "cricket.interval", "input": {"kind": "drinks"}}] * 2
        await book.take("match.amend", {"edits": edits, **REASON})
        await book.take("match.rebuild", {**REASON})
        await book.take("match.undo", {})
        yield book


async def test_a_match_is_read_as_it_was_after_every_row(shared_server: ServerProcess) -> None:
    async with corrected(shared_server) as book:
        rows = await book.log(book.match)
        for row in rows:
            response = await book.at(row["seq"])
            assert response.status_code == 200, response.text
            then = response.json()
            assert (then["seq"], then["state_hash"]) == (row["seq"], row["state_hash"])
            if row["seq"] in book.documents:
                assert then == book.documents[row["seq"]]
                assert response.headers["etag"] == f'"{then["epoch"]}-{then["seq"]}"'
        assert len({row["state_hash"] for row in rows}) > EVENTS


@pytest.mark.parametrize(
    ("seq", "status", "code"),
    [("999", 404, "unknown_seq"), ("0", 400, "invalid"), ("-1", 400, "invalid"), ("now", 400, "invalid")],
)
async def test_a_seq_that_is_not_there_is_a_sentence(
    shared_server: ServerProcess, seq: str, status: int, code: str
) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(2)
        response = await book.at(seq)
        problem = response.json()
        assert (response.status_code, problem["code"], problem["field"]) == (status, code, "at")
        assert problem["sentence"]


async def test_the_history_of_an_event_names_who_when_and_from_which_device(
    shared_server: ServerProcess,
) -> None:
    async with PastBook(shared_server) as book:
        await book.begin()
        await book.take("cricket.innings", {"batting": "A"}, device="tablet-1")
        ball = {"striker": "A1", "non_striker": "A2", "bowler": "B11", "bat": 1}
        event = str((await book.take("cricket.delivery", ball, device="tablet-1"))["seq"])
        wrong = book.saw
        right = ball | {"bat": 2}
        await book.take("match.correct", {"event": wrong, "input": right, **REASON}, device="tablet-2")
        await book.take("match.void", {"event": wrong, **REASON})
        await book.take("match.revert", {"seq": book.saw, "reason": "he was right"})
        rows = await book.log(book.match)
        told = (await book.event(event)).json()
        assert {name: told[name] for name in ("event", "code", "input", "standing", "voided", "skipped")} == {
            "event": event,
            "code": "cricket.delivery",
            "input": right,
            "standing": True,
            "voided": False,
            "skipped": False,
        }
        history = told["history"]
        assert [(one["seq"], one["code"], one["input"], one["standing"]) for one in history] == [
            (3, "cricket.delivery", ball, True),
            (4, "match.correct", right, True),
            (5, "match.void", None, False),
            (6, "match.revert", right, True),
        ]
        assert [one.get("reason") for one in history] == [
            None,
            REASON["reason"],
            REASON["reason"],
            "he was right",
        ]
        assert [one.get("device") for one in history] == ["tablet-1", "tablet-2", None, None]
        assert [one["by"] for one in history] == [row["source"]["account"] for row in rows[2:]]
        assert [one["at"] for one in history] == [row["received_at"] for row in rows[2:]]
        assert (await book.event("newest")).json() == told


async def test_who_changed_an_event_is_told_to_those_who_may_score(shared_server: ServerProcess) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(3)
        async with httpx.AsyncClient(base_url=shared_server.url, trust_env=False) as reader:
            told = (await reader.get(f"/v1/matches/{book.match}/events/4")).json()
        assert [set(one) & {"by", "device"} for one in told["history"]] == [set()]
        assert (await book.event("4")).json()["history"][0]["by"]


async def test_events_that_an_amendment_brought_are_named_by_their_place(
    shared_server: ServerProcess,
) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(4)
        edits = [
            {"edit": "insert", "after": 3, "code": "cricket.interval", "input": {"kind": kind}}
            for kind in ("drinks", "lunch")
        ]
        await book.take("match.amend", {"edits": edits, **REASON})
        for place, kind in enumerate(("drinks", "lunch")):
            name = f"{book.saw}/{place}" if place else str(book.saw)
            told = (await book.event(name)).json()
            assert (told["event"], told["input"]) == (name, {"kind": kind})
            assert [one["code"] for one in told["history"]] == ["match.amend"]
        brought = book.saw
        await book.take("match.revert", {"seq": brought, **REASON})
        told = (await book.event(f"{brought}/1")).json()
        assert (told["standing"], told["voided"]) == (False, True)
        assert [one["code"] for one in told["history"]] == ["match.amend", "match.revert"]


async def test_what_was_passed_over_by_force_is_shown_as_such(shared_server: ServerProcess) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(4)
        await book.take("match.void", {"event": 2, **REASON, "force": True})
        told = (await book.event("4")).json()
        assert (told["standing"], told["voided"], told["skipped"]) == (False, False, True)
        assert [one["code"] for one in told["history"]] == ["cricket.delivery", "match.void"]


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("99", 404, "unknown_event"),
        ("3/1", 404, "unknown_event"),
        ("1", 404, "unknown_event"),
        ("x", 400, "invalid"),
        ("3/1/1", 400, "invalid"),
    ],
)
async def test_an_event_that_is_not_there_is_a_sentence(
    shared_server: ServerProcess, name: str, status: int, code: str
) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(2)
        response = await book.event(name)
        assert (response.status_code, response.json()["code"]) == (status, code)
        assert response.json()["field"] == "event"


async def test_the_past_of_a_match_that_is_not_there(shared_server: ServerProcess) -> None:
    async with httpx.AsyncClient(base_url=shared_server.url, trust_env=False) as reader:
        for path in ("document?at=3", "events/3", "events/newest"):
            for ref in ("nobody", "0190b0a0-0000-7000-8000-00000000000a"):
                response = await reader.get(f"/v1/matches/{ref}/{path}")
                assert (response.status_code, response.json()["code"]) == (404, "unknown_match")


async def every_row_is_read_as_it_was(book: PastBook) -> None:
    for row in await book.log(book.match):
        assert (await book.at(row["seq"])).json().get("state_hash") == row["state_hash"], row


async def test_an_undo_leaves_passed_over_what_was(shared_server: ServerProcess) -> None:
    async with PastBook(shared_server) as book:
        await book.begin(4)
        await book.take("match.void", {"event": 2, **REASON, "force": True})
        forced = await book.score()
        await book.take("cricket.innings", {"batting": "A"})
        await book.take("match.undo", {})
        assert await book.score() == forced
        assert (await book.event("4")).json()["skipped"] is True
        await every_row_is_read_as_it_was(book)
        await book.take("match.rebuild", {**REASON})
        assert await book.score() == forced


async def test_a_forced_revert_passes_over_what_no_longer_fits(shared_server: ServerProcess) -> None:
    async with PastBook(shared_server) as book:
        await book.begin()
        inserted = {"after": 1, "code": "cricket.innings", "input": {"batting": "A"}, **REASON}
        await book.take("match.insert", inserted)
        brought = book.saw
        ball = {"striker": "A1", "non_striker": "A2", "bowler": "B11", "bat": 1}
        await book.take("cricket.delivery", ball)
        first = book.saw
        await book.take("match.revert", {"seq": brought, **REASON, "force": True})
        forced = await book.score()
        assert (await book.event(str(first))).json()["skipped"] is True
        await book.take("match.rebuild", {**REASON})
        assert await book.score() == forced
        await book.take("match.insert", inserted)
        assert (await book.event(str(first))).json()["standing"] is True
        await every_row_is_read_as_it_was(book)
