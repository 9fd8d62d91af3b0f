"""The versions of sports in the database: registered, counted, retired (design section 9)."""

from dataclasses import dataclass
from typing import Any

import msgspec
from uuid_utils.compat import uuid7

from gateway.errors import VersionInUse
from gateway.queries import load_blocks
from runtime.database import Database, Session
from runtime.versions import SportVersion

ACTIVE = "ACTIVE"
RETIRED = "RETIRED"
FINISHED = ("COMPLETED", "ABANDONED")
"""Statuses of matches that need their code no longer."""

_OPEN = load_blocks("opening.sql")
_SQL = load_blocks("versions.sql")


@dataclass(frozen=True, slots=True)
class Pinned:
    """Unfinished matches that are pinned to a version."""

    sport: str
    version: str
    code_sha: str
    matches: int


class Registry:
    """Versions in the database. Every method raises DatabaseAway when it cannot be reached."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def register(self, version: SportVersion, manifest: dict[str, Any]) -> None:
        """Let matches be opened in a version."""
        async with self._database.transaction() as session:
            await self._put(session, version, manifest, ACTIVE)

    async def retire(self, version: SportVersion, manifest: dict[str, Any]) -> None:
        """Let no match be opened in a version again, in the moment that none needs it.

        Raises:
            VersionInUse: unfinished matches are pinned to it.
        """
        async with self._database.transaction() as session:
            # Whoever opens a match of this sport waits for this transaction, and then finds it retired.
            await self._put(session, version, manifest, RETIRED)
            matches = await session.fetchval(
                _SQL["unfinished_of_code"], version.sport, version.code_sha, list(FINISHED)
            )
            if matches:
                raise VersionInUse(
                    f"{version.sport} {version.version} still scores {matches} unfinished "
                    f"match{'es' if matches > 1 else ''}; retire it when they are over"
                )

    async def unfinished(self) -> list[Pinned]:
        """What is pinned to which version at this moment."""
        rows = await self._database.fetch(_SQL["unfinished"], list(FINISHED))
        return [Pinned(row["sport"], row["version"], row["code_sha"], row["matches"]) for row in rows]

    async def _put(
        self, session: Session, version: SportVersion, manifest: dict[str, Any], status: str
    ) -> None:
        await session.fetchval(_OPEN["lock_openings"], version.sport)
        name = str(manifest.get("name", version.sport))
        sport = await session.fetchrow(_OPEN["ensure_sport"], uuid7(), version.sport, name)
        assert sport is not None, "an upsert returns its row"
        await session.execute(
            _SQL["register_version"],
            uuid7(),
            sport["id"],
            version.version,
            version.code_sha,
            msgspec.json.encode(manifest).decode(),
            status,
        )
