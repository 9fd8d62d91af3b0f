"""The outbox: every event to every subscriber, per match in order, at least once, by one node at a time."""

from collections.abc import Sequence
from uuid import UUID

import pytest
import trio

from gateway.errors import NotDelivered
from gateway.ledger import Ledger
from gateway.notes import Note, Notes
from gateway.outbox import (
    ALERT_AFTER_FAILURES,
    BACKOFF_FIRST_S,
    BACKOFF_MOST_S,
    OWNER_LOCK_KEY,
    Backoff,
    Outbox,
)
from runtime.alerts import AlertBoard
from runtime.database import Database
from tests.gateway.scoring import ball, opened


class Feed:
    """A subscriber that remembers what it took, and can be told to take nothing."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seqs: dict[UUID, list[int]] = {}
        self.refuses = False

    async def deliver(self, match: UUID, notes: Sequence[Note]) -> None:
        await trio.lowlevel.checkpoint()
        if self.refuses:
            raise NotDelivered("not now")
        self.seqs.setdefault(match, []).extend(note["seq"] for note in notes)


async def scored(ledger: Ledger, code: str, balls: int) -> UUID:
    match = await opened(ledger, code)
    for seq in range(1, balls + 1):
        await ledger.commit([ball(match, seq)])
    return match.match


async def waiting(database: Database) -> int:
    count: int = await database.fetchval("SELECT count(*) FROM domain_event")
    return count


async def test_every_event_of_every_match_in_order_and_then_gone(database: Database, ledger: Ledger) -> None:
    matches = [await scored(ledger, code, 5) for code in ("m1", "m2")]
    feeds = [Feed("one"), Feed("two")]
    outbox = Outbox(database, feeds, AlertBoard())
    await outbox.drain()
    for feed in feeds:
        assert feed.seqs == {match: [1, 2, 3, 4, 5, 6] for match in matches}
    assert await waiting(database) == 0
    assert outbox.statistics().delivered == 24


async def test_what_one_subscriber_refuses_waits_for_him_and_for_nobody_else(
    database: Database, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbox.BACKOFF_MOST_S", 0.0)
    match = await scored(ledger, "m1", 3)
    good, bad = Feed("good"), Feed("bad")
    bad.refuses = True
    alerts = AlertBoard()
    outbox = Outbox(database, [good, bad], alerts)
    for _ in range(ALERT_AFTER_FAILURES):
        await outbox.drain()
    assert good.seqs == {match: [1, 2, 3, 4]}
    assert await waiting(database) == 4
    assert alerts.counts["not_delivered"] == 1
    bad.refuses = False
    await outbox.drain()
    assert bad.seqs == good.seqs
    assert await waiting(database) == 0
    [alert] = alerts.newest()
    assert (alert.where, alert.over_at is None) == (f"bad, match {match}", False)


async def test_a_delivery_that_was_not_noted_comes_again(database: Database, ledger: Ledger) -> None:
    match = await scored(ledger, "m1", 2)
    feed = Feed("feed")
    await feed.deliver(match, await Notes(database).waiting(match, "feed", 10))
    await Outbox(database, [feed], AlertBoard()).drain()
    assert feed.seqs[match] == [1, 2, 3, 1, 2, 3]


async def test_without_subscribers_notes_do_not_pile_up(database: Database, ledger: Ledger) -> None:
    await scored(ledger, "m1", 3)
    await Outbox(database, [], AlertBoard()).drain()
    assert await waiting(database) == 0


async def test_only_the_holder_of_the_lock_drains(
    database: Database, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.outbox.OWNER_POLL_S", 0.02)
    match = await scored(ledger, "m1", 1)
    feed = Feed("feed")
    outbox = Outbox(database, [feed], AlertBoard())
    async with database.dedicated() as other, trio.open_nursery() as nursery:
        assert await other.fetchval("SELECT pg_try_advisory_lock($1)", OWNER_LOCK_KEY)
        connects = database.statistics().connects
        nursery.start_soon(outbox.run)
        with trio.fail_after(20):
            while database.statistics().connects == connects:
                await trio.sleep(0.01)
        assert feed.seqs == {}
        assert not outbox.statistics().owner
        await other.fetchval("SELECT pg_advisory_unlock($1)", OWNER_LOCK_KEY)
        with trio.fail_after(20):
            while feed.seqs.get(match) != [1, 2]:
                await trio.sleep(0.02)
        assert outbox.statistics().owner
        nursery.cancel_scope.cancel()


def test_pauses_double_up_to_a_limit() -> None:
    backoff, pauses = Backoff(), []
    for _ in range(10):
        backoff.failed(100.0)
        pauses.append(backoff.not_before - 100.0)
    assert pauses[:3] == [BACKOFF_FIRST_S, 2 * BACKOFF_FIRST_S, 4 * BACKOFF_FIRST_S]
    assert pauses[-1] == BACKOFF_MOST_S
