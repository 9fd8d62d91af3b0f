"""Tokens in the database: kept, found, ended. Only their hashes are there."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from gateway.auth import Identity, Role, StoredToken
from gateway.queries import load_blocks
from gateway.rows import Row
from runtime.database import Database

_ACCESS = load_blocks("access.sql")


class Tokens:
    """Every method raises DatabaseAway when the database cannot be reached."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, token: StoredToken, expires_at: datetime | None = None) -> bool:
        """Keep a token. False where the match it is bound to does not exist."""
        identity = token.identity
        added = await self._database.fetchval(
            _ACCESS["add_token"],
            uuid7(),
            token.hash,
            identity.role.value,
            identity.account,
            None if identity.match is None else UUID(identity.match),
            expires_at,
        )
        return added is not None

    async def find(self, hashes: Sequence[bytes]) -> dict[bytes, StoredToken]:
        """Those that are valid now, by their sha256."""
        rows = await self._database.fetch(_ACCESS["find_tokens"], list(hashes))
        return {row["hash"]: StoredToken(row["hash"], _identity(row)) for row in rows}

    async def revoke(self, hash: bytes) -> bool:
        """End a token's validity. False where there is none that was valid."""
        return await self._database.fetchval(_ACCESS["revoke_token"], hash) is not None


def _identity(row: Row) -> Identity:
    match = None if row["fixture_id"] is None else str(row["fixture_id"])
    return Identity(row["account"], Role(row["role"]), match, row["match_code"])
