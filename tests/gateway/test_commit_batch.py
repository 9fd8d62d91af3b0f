"""The one commit call: what it saves, and that one bad item spoils no other."""

import json
from uuid import uuid4

import pytest
import trio
from uuid_utils.compat import uuid7

from gateway.ledger import Ledger
from gateway.records import (
    CodeMismatch,
    Committed,
    Known,
    LineRow,
    Locked,
    Malformed,
    NewCompetitor,
    Stale,
    Unknown,
)
from gateway.rows import commit_argument
from runtime.database import Database
from tests.gateway.scoring import ball, line, opened, text


async def test_malformed_stale_and_locked_spoil_nothing(ledger: Ledger, database: Database):
    matches = [await opened(ledger, f"m{n}") for n in range(7)]
    items = [ball(match, 1) for match in matches]
    items[1] = ball(matches[1], 1, state="{not json")
    items[2] = ball(matches[2], 9)
    items[4] = ball(matches[4], 1, code_sha="beef" * 16)
    items[5] = ball(uuid4(), 1)
    async with database.transaction() as somebody:
        await somebody.fetch("SELECT id FROM fixture WHERE id = $1 FOR NO KEY UPDATE", matches[3].match)
        with trio.fail_after(5):
            outcomes = await ledger.commit(items)
    assert outcomes[0] == Committed(2, 1)
    assert isinstance(outcomes[1], Malformed)
    assert "json" in outcomes[1].message
    assert outcomes[2] == Stale(1)
    assert outcomes[3] == Locked()
    assert outcomes[4] == CodeMismatch(matches[4].code_sha)
    assert outcomes[5] == Unknown()
    assert outcomes[6] == Committed(2, 1)
    rows = await database.fetch("SELECT stream_id FROM timeline_item WHERE seq > 1 ORDER BY stream_id")
    assert [row["stream_id"] for row in rows] == sorted([matches[0].match, matches[6].match])


async def test_an_item_that_fails_late_leaves_nothing_of_itself(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    ghost = LineRow(uuid4(), "batting", "innings-1", "{}", None)
    (outcome,) = await ledger.commit([ball(stored, 1, lines=(line(stored, "IND1", 1), ghost))])
    assert isinstance(outcome, Malformed)
    after = await ledger.load(stored.match)
    assert after == stored
    for table in ("stat_value", "scoring_checkpoint"):
        assert await database.fetchval(f"SELECT count(*) FROM {table}") == 0


@pytest.mark.parametrize("sent_at", ["yesterday", "now", "2024-06-01T10:00:00", "infinity"])
async def test_a_time_that_is_none_is_malformed(ledger: Ledger, sent_at: str):
    first, second = await opened(ledger, "a"), await opened(ledger, "b")
    bad, good = await ledger.commit([ball(first, 1, sent_at=sent_at), ball(second, 1)])
    assert isinstance(bad, Malformed)
    assert good == Committed(2, 1)


@pytest.mark.parametrize(
    "change",
    [{"code": "c" * 65}, {"code": "c\0"}, {"code": "\ud800"}, {"input": '"\0"'}],
    ids=["too long", "NUL", "lone surrogate", "NUL in JSON"],
)
async def test_what_the_database_cannot_hold_spoils_nothing(ledger: Ledger, change: dict[str, object]):
    first, second = await opened(ledger, "a"), await opened(ledger, "b")
    bad, good = await ledger.commit([ball(first, 1, **change), ball(second, 1)])
    assert isinstance(bad, Malformed)
    assert good == Committed(2, 1)


async def test_the_same_id_ten_times_is_one_row(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    item = ball(stored, 1)
    outcomes = [(await ledger.commit([item]))[0] for _ in range(10)]
    assert outcomes[0] == Committed(2, 1)
    row = await ledger.find(stored.match, item.id)
    assert row is not None
    assert outcomes[1:] == [Known(row)] * 9
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 2


async def test_the_same_id_at_the_newest_seq_is_known(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    item = ball(stored, 1)
    await ledger.commit([item])
    (outcome,) = await ledger.commit([ball(stored, 2, id=item.id)])
    assert isinstance(outcome, Known)
    assert outcome.row.seq == 2
    assert await database.fetchval("SELECT last_seq FROM fixture") == 2


async def test_an_id_is_unique_in_its_match_only(ledger: Ledger):
    first, second = await opened(ledger, "a"), await opened(ledger, "b")
    item = ball(first, 1)
    outcomes = await ledger.commit([item, ball(second, 1, id=item.id)])
    assert outcomes == [Committed(2, 1), Committed(2, 1)]


async def test_two_at_once_with_the_same_seq_one_is_saved(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    outcomes = []

    async def send() -> None:
        outcomes.extend(await ledger.commit([ball(stored, 1)]))

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(send)
    assert outcomes.count(Committed(2, 1)) == 1
    assert all(isinstance(outcome, Committed | Stale | Locked) for outcome in outcomes)
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 2


async def test_a_match_twice_in_a_batch_goes_in_order(ledger: Ledger):
    stored = await opened(ledger)
    assert await ledger.commit([ball(stored, 1), ball(stored, 2), ball(stored, 2)]) == [
        Committed(2, 1),
        Committed(3, 1),
        Stale(3),
    ]


async def test_a_held_match_is_waited_for_patiently(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    async with database.session() as session:
        async with database.transaction() as somebody:
            await somebody.fetch("SELECT id FROM fixture FOR NO KEY UPDATE")
            assert await ledger.commit_on(session, [ball(stored, 1)], patience_ms=20) == [Locked()]
        assert await ledger.commit_on(session, [ball(stored, 1)], patience_ms=5_000) == [Committed(2, 1)]


async def test_every_fiftieth_event_has_a_checkpoint(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    items = [ball(stored, seq) for seq in range(1, 121)]
    await ledger.commit(items)
    rows = await database.fetch(
        "SELECT epoch, position, seq, state, code_sha FROM scoring_checkpoint ORDER BY seq"
    )
    assert [(row["epoch"], row["position"], row["seq"]) for row in rows] == [(1, 50, 51), (1, 100, 101)]
    assert rows[0]["state"] == items[49].state
    assert rows[0]["code_sha"] == stored.code_sha


async def test_players_who_join_can_have_lines_at_once(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    party = uuid7()
    joins = ball(
        stored,
        1,
        joined=(NewCompetitor("IND3", "Third", "IND", participant=party),),
        lines=(LineRow(party, "batting", "innings-1", text({"runs": 1}), None),),
    )
    assert await ledger.commit([joins]) == [Committed(2, 1)]
    after = await ledger.load(stored.match)
    assert after is not None
    assert after.keys["IND3"] == party
    assert after.names["IND3"] == "Third"
    assert after.lines[0].key == "IND3"
    assert await database.fetchval("SELECT ordinal FROM fixture_competitor WHERE key = 'IND3'") == 2


async def test_a_joining_players_code_that_is_taken_gets_a_tail(ledger: Ledger, database: Database):
    first, second = await opened(ledger, "a"), await opened(ledger, "b")
    parties = [uuid7(), uuid7()]
    for match, party in zip((first, second), parties, strict=True):
        joined = (NewCompetitor("SUB", "Sub", "IND", participant=party),)
        assert await ledger.commit([ball(match, 1, joined=joined)]) == [Committed(2, 1)]
    codes = await database.fetch("SELECT code FROM participant WHERE id = ANY ($1) ORDER BY id", parties)
    assert [row["code"] for row in codes] == ["SUB", f"SUB-{parties[1].hex[-12:]}"]


async def test_players_of_an_item_that_is_not_saved_do_not_join(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    await ledger.commit([ball(stored, 1)])
    people = await database.fetchval("SELECT count(*) FROM participant")
    joined = (NewCompetitor("SUB", "Sub", "IND", participant=uuid7()),)
    assert await ledger.commit([ball(stored, 1, joined=joined)]) == [Stale(2)]
    assert await database.fetchval("SELECT count(*) FROM participant") == people


async def test_a_result_ranks_the_sides(ledger: Ledger, database: Database):
    stored = await opened(ledger)
    over = ball(stored, 1, status="COMPLETED", result=text({"kind": "won"}), ranks={"IND": 1, "AUS": 2})
    assert await ledger.commit([over]) == [Committed(2, 1)]
    row = await database.fetchrow("SELECT status, result FROM fixture")
    assert row is not None
    assert (row["status"], row["result"]) == ("COMPLETED", '{"kind": "won"}')
    sides = await database.fetch(
        "SELECT key, rank, result_status FROM fixture_competitor WHERE rank IS NOT NULL"
    )
    assert {side["key"]: side["rank"] for side in sides} == {"IND": 1, "AUS": 2}
    assert {side["result_status"] for side in sides} == {"FINISHED"}


async def test_a_flag_on_a_match_of_which_nothing_is_known_takes_no_result_back(
    ledger: Ledger, database: Database
):
    stored = await opened(ledger)
    over = ball(stored, 1, status="COMPLETED", result=text({"kind": "won"}), ranks={"IND": 1, "AUS": 2})
    flag = ball(stored, 2, code="match.flag", status="LIVE", result=None, ranks={}, quiet=True)
    assert await ledger.commit([over]) == [Committed(2, 1)]
    assert await ledger.commit([flag]) == [Committed(3, 1)]
    row = await database.fetchrow("SELECT status, result, last_seq FROM fixture")
    assert row is not None
    assert tuple(row) == ("COMPLETED", '{"kind": "won"}', 3)
    ranks = await database.fetch("SELECT rank FROM fixture_competitor WHERE rank IS NOT NULL ORDER BY rank")
    assert [each["rank"] for each in ranks] == [1, 2]


async def test_the_work_of_a_ball_does_not_depend_on_the_log(ledger: Ledger, database: Database):
    """Pages touched by the 2,000th ball and by the 100th."""
    stored = await opened(ledger)
    lines = (line(stored, "IND1", 1),)
    touched = []
    for first in (100, 2_000):
        while (seq := (await ledger.newest_seqs([stored.match]))[stored.match]) < first:
            end = min(seq + 100, first)
            await ledger.commit([ball(stored, n, lines=lines) for n in range(seq, end)])
        async with database.session() as session:
            counts = []
            for seq in range(first, first + 9):
                item = commit_argument(ball(stored, seq, lines=lines))
                plan = json.loads(await session.fetchval(EXPLAIN, [item]))[0]["Plan"]
                counts.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
        touched.append(sorted(counts)[4])
    assert (await ledger.newest_seqs([stored.match]))[stored.match] == 2_009
    assert touched[0] > 20
    assert touched[1] <= touched[0] * 1.25


@pytest.mark.parametrize("size", [1_000, 3_500, 8_000])
async def test_updates_stay_on_their_page(ledger: Ledger, database: Database, size: int):
    """No index grows with the balls: states and parts of real sizes are updated in place."""
    stored = await opened(ledger)
    balls = 200
    async with database.session() as session:
        for seq in range(1, balls + 1):
            padding = "".join(str(n * seq % 9973) for n in range(size // 4))
            state, part = text({"balls": seq, "padding": padding}), text({"balls": seq, "card": padding})
            item = ball(
                stored, seq, state=state, parts={"innings-1": part}, lines=(line(stored, "IND1", seq),)
            )
            assert await ledger.commit_on(session, [item]) == [Committed(seq + 1, 1)]
        await session.fetchval("SELECT pg_stat_force_next_flush()")
    rows = await database.fetch(
        "SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE n_tup_upd >= $1", balls - 1
    )
    in_place = {row["relname"]: row["n_tup_hot_upd"] / row["n_tup_upd"] for row in rows}
    assert set(in_place) == {"fixture", "scoreboard", "published_document", "stat_value_2024"}
    assert all(part > 0.9 for part in in_place.values()), in_place


EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT commit_batch($1)"


async def test_two_matches_may_be_joined_under_one_new_key_at_the_same_moment(
    ledger: Ledger, database: Database
):
    first, second = await opened(ledger, "a"), await opened(ledger, "b")
    items = [
        ball(match, 1, joined=(NewCompetitor("SUB", "Sub", "IND", participant=uuid7()),))
        for match in (first, second)
    ]
    outcomes = []

    async def commit_second() -> None:
        outcomes.extend(await ledger.commit([items[1]]))

    async with trio.open_nursery() as nursery, database.transaction() as session:
        assert await ledger.commit_on(session, [items[0]]) == [Committed(2, 1)]
        nursery.start_soon(commit_second)
        # It waits for the first one's end, who has the code.
        while not await database.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            await trio.sleep(0.01)
    assert outcomes == [Committed(2, 1)]
    assert await database.fetchval("SELECT count(*) FROM participant WHERE code LIKE 'SUB%'") == 2


async def test_a_line_written_twice_spoils_its_own_item_only(ledger: Ledger):
    matches = [await opened(ledger, f"m{n}") for n in range(3)]
    twice = line(matches[1], "IND1", 1)
    items = [ball(matches[0], 1), ball(matches[1], 1, lines=(twice, twice)), ball(matches[2], 1)]
    outcomes = await ledger.commit(items)
    assert outcomes[0] == outcomes[2] == Committed(2, 1)
    assert isinstance(outcomes[1], Malformed)
