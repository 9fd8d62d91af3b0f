"""Notes in the outbox: one for every row of every log, until all subscribers have it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from gateway.queries import load_blocks
from runtime.database import Database

_OUTBOX = load_blocks("outbox.sql")

Note = dict[str, Any]
"""{seq, epoch, event_type, emits, created_at}"""


class Notes:
    """Every method raises DatabaseAway when the database cannot be reached."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def matches(self, limit: int) -> list[UUID]:
        """Matches with notes in the outbox, in the order of their ids."""
        return [row["fixture_id"] for row in await self._database.fetch(_OUTBOX["outbox_matches"], limit)]

    async def waiting(self, match: UUID, subscriber: str, limit: int) -> list[Note]:
        """Notes of a match that a subscriber does not have yet, in the order of their gap-free seq."""
        rows = await self._database.fetch(_OUTBOX["outbox_of_match"], match, subscriber, limit)
        return [dict(row) for row in rows]

    async def delivered(self, match: UUID, subscriber: str, seq: int) -> None:
        """Note that a subscriber has a match up to a seq."""
        await self._database.execute(_OUTBOX["deliver"], match, subscriber, seq)

    async def forget(self, match: UUID, subscribers: Sequence[str]) -> None:
        """Remove the notes of a match that all these subscribers have."""
        await self._database.execute(_OUTBOX["forget_delivered"], match, list(subscribers))
