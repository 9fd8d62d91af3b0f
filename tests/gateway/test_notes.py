"""Notes in the outbox, until every subscriber has them."""

from gateway.ledger import Ledger
from gateway.notes import Notes
from runtime.database import Database
from tests.gateway.scoring import ball, opened


async def test_every_note_waits_in_order_until_all_have_it(ledger: Ledger, database: Database) -> None:
    outbox = Notes(database)
    stored = await opened(ledger, "a")
    other = await opened(ledger, "b")
    await ledger.commit([ball(stored, 1)])
    await ledger.commit([ball(stored, 2), ball(other, 1)])
    assert await outbox.matches(10) == sorted([stored.match, other.match])
    assert await outbox.matches(1) == [min(stored.match, other.match)]
    notes = await outbox.waiting(stored.match, "feed", 10)
    assert [(note["seq"], note["event_type"], note["emits"]) for note in notes] == [
        (1, "match.open", []),
        (2, "cricket.delivery", ["ball"]),
        (3, "cricket.delivery", ["ball"]),
    ]
    await outbox.delivered(stored.match, "feed", 2)
    await outbox.delivered(stored.match, "feed", 1)
    assert [note["seq"] for note in await outbox.waiting(stored.match, "feed", 10)] == [3]
    await outbox.forget(stored.match, ["feed", "hook"])
    assert [note["seq"] for note in await outbox.waiting(stored.match, "hook", 10)] == [1, 2, 3]
    await outbox.delivered(stored.match, "hook", 3)
    await outbox.forget(stored.match, ["feed", "hook"])
    assert [note["seq"] for note in await outbox.waiting(stored.match, "late", 10)] == [3]
