"""Corrections down the real road: what is taken back is gone, what is corrected is as if scored right."""

from itertools import islice
from typing import Any

import pytest

from bench.play import opening, taps
from tests.acceptance.server import Desk, ServerProcess

EVENTS = 130
"""Enough for two checkpoints."""
REASON = {"reason": "the umpire changed his mind"}
ONE_OVER = opening() | {"format": {"name": "T20", "innings_a_side": 1, "overs": 1}}


class Book(Desk):
    """A desk that keeps one match's place."""

    match: str
    saw: int

    async def begin(self, count: int = 0) -> "Book":
        self.match, self.saw = (await self.create())["match"], 1
        for code, given in islice(taps(3), count):
            await self.take(code, given)
        return self

    async def take(self, code: str, given: dict[str, Any], **how: Any) -> dict[str, Any]:
        answer = await self.send(self.match, code, given, self.saw, **how)
        assert answer["outcome"] == "accepted", answer
        self.saw = answer["seq"]
        return answer

    async def score(self) -> dict[str, Any]:
        """State, lines and document without their place in the log."""
        document = await self.document(self.match)
        return {"state": document["state_hash"], "document": document["document"]}


def alike(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """The same score in two matches."""
    for score in (left, right):
        for name in ("match", "code"):
            score["document"]["head"].pop(name, None)
    return left == right


async def test_an_undo_of_each_event_gives_back_what_was(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin()
        for code, given in islice(taps(3), 40):
            before = await book.score()
            await book.take(code, given)
            after = await book.score()
            await book.take("match.undo", {})
            assert await book.score() == before
            await book.take("match.revert", {"seq": book.saw, **REASON})
            assert await book.score() == after


async def test_undo_did_nothing_once_the_over_had_turned(shared_server: ServerProcess) -> None:
    """A wicket on the last ball, then "over", are taken back: batter, bowler and over are as before."""
    at_the_crease = {"striker": "A1", "non_striker": "A2", "bowler": "B11"}
    async with Book(shared_server) as book:
        await book.begin()
        await book.take("cricket.innings", {"batting": "A"})
        for _ in range(5):
            await book.take("cricket.delivery", at_the_crease)
        before = await book.score()
        out = {"wickets": [{"kind": "bowled", "out": "A1"}]}
        await book.take("cricket.delivery", at_the_crease | out)
        await book.take("cricket.over", {})
        fresh = {"striker": "A2", "non_striker": "A3", "bowler": "B11"}
        refused = await book.send(book.match, "cricket.delivery", fresh, book.saw)
        assert (refused["outcome"], refused["field"]) == ("refused", "bowler")
        for _ in range(2):
            await book.take("match.undo", {})
        assert await book.score() == before
        await book.take("cricket.delivery", at_the_crease | {"bat": 2})
        lines = (await book.score())["document"]["parts"]["innings-1"]["lines"]
        figures = {(line["role"], line["subject"]): line["values"] for line in lines}
        assert (figures["batting", "A1"]["runs"], figures["batting", "A1"]["balls"]) == (2, 6)
        assert figures["bowling", "B11"]["wickets"] == 0


async def test_a_start_taken_back_and_given_again_at_once_landed_in_another_innings(
    shared_server: ServerProcess,
) -> None:
    """The restart begins the same innings, the first tap sent again begins none, a won match opens again."""
    async with Book(shared_server) as book:
        book.match, book.saw = (await book.create(opening=ONE_OVER))["match"], 1
        await book.take("cricket.innings", {"batting": "A"})
        for _ in range(6):
            await book.take("cricket.delivery", {"striker": "A1", "non_striker": "A2", "bowler": "B11"})
        await book.take("cricket.over", {})
        interval, start = await book.score(), {"batting": "B"}
        first = await book.take("cricket.innings", start)
        await book.take("match.undo", {})
        assert await book.score() == interval
        await book.take("cricket.innings", start)
        again = await book.send(book.match, "cricket.innings", start, first["seq"] - 1, id=first["id"])
        assert (again["seq"], again["duplicate"]) == (first["seq"], True)
        before = await book.score()
        assert before["document"]["head"]["segment"] == "innings-2"
        won = {"striker": "B1", "non_striker": "B2", "bowler": "A11", "bat": 1}
        await book.take("cricket.delivery", won)
        assert (await book.score())["document"]["head"]["phase"] == "over"
        await book.take("match.undo", {})
        assert await book.score() == before


async def test_many_undos_take_as_many_events_past_what_memory_holds(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(50)
        scores = [await book.score()]
        for code, given in islice(taps(3), 50, 65):
            await book.take(code, given)
            scores.append(await book.score())
        for expected in reversed(scores[:-1]):
            await book.take("match.undo", {})
            assert await book.score() == expected


async def test_every_correction_is_as_if_it_had_been_scored_right(shared_server: ServerProcess) -> None:
    right = list(islice(taps(3), EVENTS))
    async with Book(shared_server) as sound, Book(shared_server) as spoilt:
        await sound.begin(EVENTS)
        await spoilt.begin()
        wrong, missed, surplus = 60, 90, 100
        for place, (code, given) in enumerate(right):
            if place == missed:
                continue
            await spoilt.take(
                code, given | {"bat": 3} if place == wrong and code.endswith("delivery") else given
            )
            if place == surplus:
                await spoilt.take("cricket.interval", {"kind": "drinks"})
                extra = spoilt.saw
        # The seq of place n is n + 2, one less behind the missed one, one more behind the surplus one.
        await spoilt.take("match.void", {"event": extra, **REASON})
        code, given = right[missed]
        after = {"after": missed + 1, "code": code, "input": given}
        await spoilt.take("match.insert", {**after, **REASON, "force": True})
        await spoilt.take(
            "match.correct", {"event": wrong + 2, "input": right[wrong][1], **REASON, "force": True}
        )
        assert alike(await spoilt.score(), await sound.score())
        for rebuilt in (sound, spoilt):
            await rebuilt.take("match.rebuild", {**REASON})
        assert alike(await spoilt.score(), await sound.score())


async def test_an_amendment_is_done_whole_or_not_at_all(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(20)
        before = await book.score()
        edits = [{"edit": "void", "event": 21}, {"edit": "void", "event": 999}]
        answer = await book.send(book.match, "match.amend", {"edits": edits, **REASON}, book.saw)
        assert (answer["outcome"], answer["field"]) == ("refused", "edits[1].event")
        assert await book.score() == before
        await book.take("match.amend", {"edits": [edits[0], {"edit": "void", "event": 20}], **REASON})
        await book.take("match.revert", {"seq": book.saw, **REASON})
        assert await book.score() == before


async def test_a_preview_tells_and_writes_nothing(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(20)
        before = await book.score()
        given = {"event": 2, **REASON, "preview": True}
        answer = await book.send(book.match, "match.void", given, book.saw)
        assert answer["outcome"] == "preview"
        assert answer["parts"] == {"innings-1": None}
        assert len(answer["unfit"]) == 19
        assert answer["unfit"][0]["event"] == "3"
        assert await book.score() == before
        assert len(await book.log(book.match)) == book.saw


async def test_what_no_longer_fits_is_named_and_passed_over_only_by_force(
    shared_server: ServerProcess,
) -> None:
    async with Book(shared_server) as book:
        await book.begin(10)
        before = await book.score()
        answer = await book.send(book.match, "match.void", {"event": 2, **REASON}, book.saw)
        assert (answer["outcome"], answer["code"]) == ("refused", "does_not_fit")
        assert "event 3 (cricket.delivery)" in answer["sentence"]
        await book.take("match.void", {"event": 2, **REASON, "force": True})
        assert (await book.score())["document"]["parts"] == {}
        await book.take("match.revert", {"seq": book.saw, **REASON})
        assert await book.score() == before


async def test_watchers_and_old_saws_hear_of_the_new_epoch(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(5)
        saw = book.saw
        answer = await book.take("match.undo", {"event": saw})
        assert answer["epoch"] == 2
        late = await book.send(book.match, "cricket.over", {}, saw)
        assert (late["outcome"], late["resync"], late["epoch"]) == ("conflict", True, 2)


@pytest.mark.parametrize(
    ("code", "given", "field"),
    [
        ("match.undo", {"event": 3}, "event"),
        ("match.undo", {"event": "the last"}, "event"),
        ("match.undo", {"why": "a slip"}, "why"),
        ("match.void", {"event": 3}, "reason"),
        ("match.void", {"event": 99, **REASON}, "event"),
        ("match.correct", {"event": 3, "input": {"bat": -1}, **REASON}, "input.bat"),
        ("match.insert", {"after": 99, "code": "cricket.over", "input": {}, **REASON}, "after"),
        ("match.revert", {"seq": 3, **REASON}, "seq"),
        ("match.nothing", {}, "code"),
    ],
)
async def test_what_cannot_be_corrected_is_refused_with_its_field(
    shared_server: ServerProcess, code: str, given: dict[str, Any], field: str
) -> None:
    async with Book(shared_server) as book:
        await book.begin(6)
        if "input" in given and "bat" in given["input"]:
            given = given | {"input": {"striker": "A1", "non_striker": "A2", "bowler": "B11", "bat": -1}}
        answer = await book.send(book.match, code, given, book.saw)
        assert answer["outcome"] == "refused", answer
        assert (answer["field"] or "").startswith(field), answer
        assert len(await book.log(book.match)) == book.saw


async def test_the_same_correction_sent_again_is_done_once(shared_server: ServerProcess) -> None:
    async with Book(shared_server) as book:
        await book.begin(6)
        id = "6f1c0f0e-43f4-4b5e-9a53-0c3d6b1f4a01"
        first = await book.take("match.undo", {}, id=id)
        again = await book.send(book.match, "match.undo", {}, first["seq"], id=id)
        assert again == first | {"duplicate": True}
        assert len(await book.log(book.match)) == first["seq"]


async def test_a_player_whose_joining_was_taken_back_joins_again_under_the_right_name(
    shared_server: ServerProcess,
) -> None:
    async with Book(shared_server) as book:

        async def name() -> str:
            head = (await book.document(book.match))["document"]["head"]
            return str(head["names"]["A12"])

        await book.begin()
        player = {"side": "A", "key": "A12", "name": "Jon Smith"}
        await book.take("cricket.player", player)
        await book.take("match.undo", {})
        await book.take("cricket.player", player | {"name": "John Smith"})
        joined = book.saw
        assert await name() == "John Smith"
        await book.take("cricket.innings", {"batting": "A"})
        ball = {"striker": "A12", "non_striker": "A2", "bowler": "B11", "bat": 4}
        await book.take("cricket.delivery", ball)
        corrected = {"event": joined, "input": player | {"name": "Joan Smith"}, **REASON}
        await book.take("match.correct", corrected)
        assert await name() == "Joan Smith"
        await book.take("match.revert", {"seq": book.saw, **REASON})
        assert await name() == "John Smith"
        await book.take("cricket.delivery", ball)
        shared_server.run("verify", book.match)
