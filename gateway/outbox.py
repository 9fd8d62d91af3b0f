"""The outbox's drain: hands every note of the log to the subscribers, per match in the order of its seq.

Notes are written in the transaction of their event, so none is lost; a note may be delivered twice, never
skipped. One node drains at a time: the one that holds the session lock. Polling is the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import structlog
import trio

from gateway.errors import NotDelivered
from gateway.notes import Note, Notes
from runtime.alerts import AlertBoard
from runtime.database import Database
from runtime.errors import DatabaseAway

OWNER_LOCK_KEY = 0x5C02_EB0D
"""Key of the advisory lock that makes one node the owner."""
POLL_S = 0.5
OWNER_POLL_S = 5.0
MATCHES_AT_ONCE = 500
NOTES_AT_ONCE = 200
BACKOFF_FIRST_S = 1.0
BACKOFF_MOST_S = 60.0
ALERT_AFTER_FAILURES = 5

log = structlog.get_logger("scorebox.outbox")


class Subscriber(Protocol):
    """Somebody who is told of every event of every match, at least once and in order."""

    name: str

    async def deliver(self, match: UUID, notes: Sequence[Note]) -> None:
        """Take these notes. Raises NotDelivered when they have to come again."""
        ...


class Nobody:
    """The subscriber of a server without subscribers: notes are done with at once."""

    name = "nobody"

    async def deliver(self, match: UUID, notes: Sequence[Note]) -> None:
        """Nothing to do."""


@dataclass(slots=True)
class Backoff:
    """How a subscriber fares with one match."""

    failures: int = 0
    not_before: float = 0.0

    def failed(self, now: float) -> None:
        """Wait twice as long as the last time."""
        self.not_before = now + min(BACKOFF_FIRST_S * 2**self.failures, BACKOFF_MOST_S)
        self.failures += 1


@dataclass(frozen=True, slots=True)
class OutboxStatistics:
    """What the status page shows: whether this node drains, what it delivered, who is behind."""

    owner: bool
    delivered: int
    failing: int


class Outbox:
    """Drains until cancelled, when this node is the owner."""

    def __init__(self, database: Database, subscribers: Sequence[Subscriber], alerts: AlertBoard) -> None:
        self._database = database
        self._notes = Notes(database)
        self._subscribers = tuple(subscribers) or (Nobody(),)
        self._alerts = alerts
        self._backoffs: dict[tuple[str, UUID], Backoff] = {}
        self._owner = False
        self._delivered = 0

    async def run(self) -> None:
        """Become the owner, drain, and start again when the database was away."""
        while True:
            try:
                async with self._database.dedicated() as session:
                    while not await session.fetchval("SELECT pg_try_advisory_lock($1)", OWNER_LOCK_KEY):
                        await trio.sleep(OWNER_POLL_S)
                    self._owner = True
                    while True:
                        # The lock lives as long as its session: no session, no draining.
                        await session.fetchval("SELECT 1")
                        await self.drain()
                        await trio.sleep(POLL_S)
            except DatabaseAway as error:
                log.info("the outbox waits for the database", error=str(error))
                await trio.sleep(POLL_S)
            finally:
                self._owner = False

    async def drain(self) -> None:
        """Hand over what waits now."""
        for match in await self._notes.matches(MATCHES_AT_ONCE):
            for subscriber in self._subscribers:
                await self._hand_over(subscriber, match)
            await self._notes.forget(match, [subscriber.name for subscriber in self._subscribers])

    def statistics(self) -> OutboxStatistics:
        """What it did so far."""
        return OutboxStatistics(self._owner, self._delivered, len(self._backoffs))

    async def _hand_over(self, subscriber: Subscriber, match: UUID) -> None:
        key, where = (subscriber.name, match), f"{subscriber.name}, match {match}"
        backoff = self._backoffs.get(key, Backoff())
        if backoff.not_before > trio.current_time():
            return
        notes = await self._notes.waiting(match, subscriber.name, NOTES_AT_ONCE)
        if not notes:
            return
        try:
            await subscriber.deliver(match, notes)
        except NotDelivered as error:
            backoff.failed(trio.current_time())
            self._backoffs[key] = backoff
            if backoff.failures == ALERT_AFTER_FAILURES:
                self._alerts.raise_alert("not_delivered", where, str(error))
            return
        if self._backoffs.pop(key, None) is not None:
            self._alerts.settle("not_delivered", where)
        self._delivered += len(notes)
        await self._notes.delivered(match, subscriber.name, notes[-1]["seq"])
