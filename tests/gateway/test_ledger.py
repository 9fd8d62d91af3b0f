from datetime import date
from uuid import UUID, uuid4

import pytest
import trio

from gateway.errors import CodeTaken, OutsideIdTaken
from gateway.ledger import TAIL_ROWS, Ledger
from gateway.records import Committed, NewCompetitor, Source
from runtime.database import Database
from tests.gateway.scoring import CODE_SHA, RECEIVED_AT, ball, digest, line, opened, opening, text


async def test_an_opened_match_is_read_back_whole(ledger: Ledger):
    asked = opening("m1")
    stored, created = await ledger.open_match(asked)
    assert created
    assert (stored.match, stored.code, stored.name, stored.sport) == (
        asked.match,
        "m1",
        "Match m1",
        "cricket",
    )
    assert (stored.version, stored.code_sha, stored.status) == ("1.0.0", CODE_SHA, "SCHEDULED")
    assert (stored.last_seq, stored.events_seq, stored.epoch) == (1, 1, 1)
    assert stored.state == asked.state.encode()
    assert stored.state_hash == digest(asked.state)
    assert text(stored.opening) == asked.opening
    assert list(stored.keys) == ["IND", "AUS", "IND1", "IND2", "AUS1", "AUS2"]
    assert stored.names["AUS2"] == "Player 2 of AUS"
    assert stored.lines == ()
    (first,) = stored.tail
    assert (first.seq, first.code, first.input, first.id) == (1, "match.open", asked.opening, None)
    assert first.source == Source("operator")
    assert first.received_at == RECEIVED_AT


async def test_a_match_is_found_by_its_code_and_by_sport_and_code(ledger: Ledger):
    stored = await opened(ledger, "final")
    for ref in (stored.match, str(stored.match), "final", "cricket:final"):
        found = await ledger.load(ref)
        assert found is not None
        assert found.match == stored.match
    assert await ledger.load("chess:final") is None
    assert await ledger.load(uuid4()) is None


async def test_a_code_used_in_two_sports_needs_its_sport(ledger: Ledger):
    cricket = await opened(ledger, "final")
    football = await opened(ledger, "final", sport="football", sport_name="Football")
    assert await ledger.load("final") is None
    for stored, ref in ((cricket, "cricket:final"), (football, "football:final")):
        found = await ledger.load(ref)
        assert found is not None
        assert found.match == stored.match


async def test_the_same_outside_id_gives_the_same_match(ledger: Ledger):
    asked = opening("m1", external_source="cricsheet", external_id="1068348")
    first, created = await ledger.open_match(asked)
    again, created_again = await ledger.open_match(
        opening("another", external_source="cricsheet", external_id="1068348")
    )
    assert (created, created_again) == (True, False)
    assert again == first


async def test_a_match_created_ten_times_at_once_is_one(ledger: Ledger, database: Database):
    found: list[tuple[UUID, bool]] = []

    async def create(number: int) -> None:
        stored, created = await ledger.open_match(opening(f"m{number}", external_source="s", external_id="1"))
        found.append((stored.match, created))

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(create, number)
    assert len({match for match, _ in found}) == 1
    assert sum(created for _, created in found) == 1
    assert await database.fetchval("SELECT count(*) FROM fixture") == 1


async def test_a_taken_code_is_refused_and_leaves_nothing(ledger: Ledger, database: Database):
    await opened(ledger, "m1")
    people = await database.fetchval("SELECT count(*) FROM participant")
    with pytest.raises(CodeTaken, match="m1"):
        await ledger.open_match(opening("m1", competitors=(NewCompetitor("NEW", "Newcomers"),)))
    assert await database.fetchval("SELECT count(*) FROM participant") == people


async def test_parties_are_found_by_outside_id_then_by_code_and_name(ledger: Ledger):
    def team(external: str | None, name: str = "India") -> tuple[NewCompetitor, ...]:
        return (
            NewCompetitor("IND", name, None, "s" if external else None, external),
            NewCompetitor("p", "P", "IND"),
        )

    first = (await opened(ledger, "a", competitors=team("17"))).keys
    by_id = (await opened(ledger, "b", competitors=team("17", "Bharat"))).keys
    by_code = (await opened(ledger, "c", competitors=team(None))).keys
    other_id = (await opened(ledger, "d", competitors=team("18"))).keys
    other_name = (await opened(ledger, "e", competitors=team(None, "Indiana"))).keys
    assert by_id["IND"] == first["IND"]
    assert by_code["IND"] == first["IND"]
    assert by_code["p"] == first["p"]
    assert other_id["IND"] != first["IND"]
    assert other_name["IND"] not in {first["IND"], other_id["IND"]}


async def test_a_merged_party_is_the_one_that_survived(ledger: Ledger, database: Database):
    def one(code: str, external: str) -> dict[str, object]:
        return {"competitors": (NewCompetitor(code, code, None, "s", external),)}

    old = (await opened(ledger, "a", **one("OLD", "1"))).keys["OLD"]
    new = (await opened(ledger, "b", **one("NEW", "2"))).keys["NEW"]
    await database.execute("UPDATE participant SET merged_into_id = $1 WHERE id = $2", new, old)
    assert (await opened(ledger, "c", **one("OLD", "1"))).keys["OLD"] == new


async def test_a_player_without_a_side_is_refused(ledger: Ledger, database: Database):
    with pytest.raises(ValueError, match="no side"):
        await ledger.open_match(opening(competitors=(NewCompetitor("p", "P", "NOBODY"),)))
    assert await database.fetchval("SELECT count(*) FROM fixture") == 0


async def test_competition_and_version_are_shared(ledger: Ledger, database: Database):
    await opened(ledger, "a")
    await opened(ledger, "b")
    await opened(ledger, "c", version="1.1.0", code_sha="d00d" * 16)
    assert await database.fetchval("SELECT count(*) FROM competition") == 1
    assert await database.fetchval("SELECT count(*) FROM scoring_program_version") == 2


async def test_a_manifest_is_kept_and_not_written_again(ledger: Ledger, database: Database):
    manifest = text({"sport": "cricket", "commands": {}})
    await opened(ledger, "a", manifest=manifest)
    await opened(ledger, "b")
    assert await database.fetchval("SELECT manifest FROM scoring_program_version") == manifest


async def test_what_was_committed_is_read_back(ledger: Ledger):
    stored = await opened(ledger)
    first = ball(
        stored, 1, lines=(line(stored, "IND1", 4),), override=("wide_ball",), parts={"innings-1": text([1])}
    )
    second = ball(stored, 2, lines=(line(stored, "IND1", 6, before=4),), parts={"innings-2": text([2])})
    assert await ledger.commit([first]) == [Committed(2, 1)]
    assert await ledger.commit([second]) == [Committed(3, 1)]
    after = await ledger.load(stored.match)
    assert after is not None
    assert (after.last_seq, after.events_seq, after.status) == (3, 3, "LIVE")
    assert after.state == second.state.encode()
    (written,) = after.lines
    assert (written.key, written.role, written.segment, written.values) == (
        "IND1",
        "batting",
        "innings-1",
        text({"runs": 6}).encode(),
    )
    assert [row.seq for row in after.tail] == [1, 2, 3]
    row = await ledger.find(stored.match, first.id)
    assert row is not None
    assert row == first.row(2, 1)
    document = await ledger.document("m1")
    assert document is not None
    assert (document.match, document.epoch, document.seq) == (str(stored.match), 1, 3)
    assert document.state_hash == second.state_hash.hex()
    assert document.head == second.head.encode()
    assert document.parts == {"innings-1": b"[1]", "innings-2": b"[2]"}


async def test_the_devices_time_comes_back_in_utc(ledger: Ledger):
    stored = await opened(ledger)
    item = ball(stored, 1, sent_at="2024-06-01T10:00:00+05:30")
    await ledger.commit([item])
    row = await ledger.find(stored.match, item.id)
    assert row is not None
    assert row.sent_at == "2024-06-01T04:30:00Z"


async def test_before_images_stand_in_the_log(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    await ledger.commit([ball(stored, 1, lines=(line(stored, "IND1", 4), line(stored, "AUS1", 2, before=1)))])
    images = await database.fetchval("SELECT lines_before FROM timeline_item WHERE seq = 2")
    assert images == text(
        [
            {
                "participant": str(stored.keys["IND1"]),
                "role": "batting",
                "segment": "innings-1",
                "values": None,
            },
            {
                "participant": str(stored.keys["AUS1"]),
                "role": "batting",
                "segment": "innings-1",
                "values": {"runs": 1},
            },
        ]
    )


async def test_the_tail_is_bounded_and_the_log_is_paged(ledger: Ledger):
    stored = await opened(ledger)
    for seq in range(1, TAIL_ROWS + 10):
        await ledger.commit([ball(stored, seq)])
    after = await ledger.load(stored.match)
    assert after is not None
    assert [row.seq for row in after.tail] == list(range(11, TAIL_ROWS + 11))
    page = await ledger.log("m1", 5, 3)
    assert page is not None
    assert [row.seq for row in page] == [6, 7, 8]
    assert await ledger.log("m1", 10_000, 3) == []
    assert await ledger.log(uuid4(), 0, 3) is None
    assert await ledger.log("nothing", 0, 3) is None


async def test_matches_are_listed_live_ones_first(ledger: Ledger):
    first = await opened(ledger, "a")
    await opened(ledger, "b")
    last = await opened(ledger, "c")
    await ledger.commit([ball(first, 1, head=text({"score": "4/0"}))])
    listed = await ledger.matches()
    assert [row.code for row in listed] == ["a", "c", "b"]
    assert (listed[0].status, listed[0].last_seq, listed[0].head) == ("LIVE", 2, {"score": "4/0"})
    assert [row.code for row in await ledger.matches("SCHEDULED")] == ["c", "b"]
    assert [row.code for row in await ledger.matches(limit=2)] == ["a", "c"]
    assert await ledger.newest_seqs([first.match, last.match, uuid4()]) == {first.match: 2, last.match: 1}


async def test_lines_lie_in_the_year_of_the_first_day(ledger: Ledger, database: Database):
    for day, partition in (
        (date(1999, 12, 31), "other"),
        (date(2019, 7, 14), "2019"),
        (date(2041, 1, 1), "other"),
    ):
        stored = await opened(ledger, f"m{day.year}", first_day=day)
        await ledger.commit([ball(stored, 1, lines=(line(stored, "IND1", 1),))])
        found = await database.fetchval(
            "SELECT tableoid::regclass::text FROM stat_value WHERE fixture_id = $1", stored.match
        )
        assert found == f"stat_value_{partition}"


async def test_a_reference_that_cannot_be_asked_for_is_no_match(ledger: Ledger):
    assert await ledger.load("\0") is None
    assert await ledger.document("a\0b") is None
    assert await ledger.log("cricket:\0", 0, 10) is None


async def test_an_outside_id_of_a_match_of_another_sport_is_refused(ledger: Ledger):
    await ledger.open_match(opening("m1", external_source="s", external_id="1"))
    with pytest.raises(OutsideIdTaken, match="s '1' is a match of cricket"):
        await ledger.open_match(opening("m1", sport="football", external_source="s", external_id="1"))


async def test_one_outside_id_in_two_sports_at_the_same_moment_makes_one_match(ledger: Ledger):
    made: list[str] = []
    refused: list[str] = []

    async def make(sport: str) -> None:
        try:
            await ledger.open_match(opening("m1", sport=sport, external_source="s", external_id="1"))
            made.append(sport)
        except OutsideIdTaken:
            refused.append(sport)

    async with trio.open_nursery() as nursery:
        for sport in ("cricket", "football", "tennis"):
            nursery.start_soon(make, sport)
    assert (len(made), len(refused)) == (1, 2)
