"""Brings a database's schema up to this server's: numbered SQL files, each in one transaction.

Every server of a database may run it at its start: an advisory lock lets one at a time through. The table
`schema_migration` keeps what was applied with a checksum. A schema newer than the files is refused.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import structlog

from runtime.database import SERVER_ROLE, Database, Session
from runtime.errors import SchemaChanged, SchemaForbidden, SchemaTooNew

MIGRATION_LOCK_KEY = 0x5C02_EB0C
"""Key of the advisory lock, the same for every server."""
MIGRATION_LIMIT_S = 600.0
"""A migration may rewrite a large table."""
FILE_NAME = re.compile(r"^(\d{4})_([a-z0-9_]+)\.sql$")

log = structlog.get_logger("scorebox.migrate")

_TABLE = """
CREATE TABLE IF NOT EXISTS schema_migration (
    version    integer PRIMARY KEY,
    name       varchar(128) NOT NULL,
    checksum   varchar(64)  NOT NULL,
    applied_at timestamptz  NOT NULL DEFAULT now()
);
COMMENT ON TABLE schema_migration IS 'Migrations applied to this database, with the checksum of each file.';
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: its number, its name, its SQL."""

    version: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """sha256 of the SQL."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def read_migrations(folder: Path) -> list[Migration]:
    """The migrations in a folder, in order. Numbers start at 1 and leave no gap."""
    found = []
    for path in sorted(folder.glob("*.sql")):
        if (name := FILE_NAME.match(path.name)) is None:
            raise ValueError(f"{path.name} is not named like 0001_what_it_does.sql")
        found.append(Migration(int(name[1]), name[2], path.read_text("utf-8")))
    if [each.version for each in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the numbers of the migrations in {folder} have a gap or a double")
    return found


def pending(migrations: list[Migration], applied: dict[int, str]) -> list[Migration]:
    """What is still to be applied, given version → checksum of what was.

    Raises:
        SchemaTooNew: the database knows a version that is not here.
        SchemaChanged: a file is not what was applied.
    """
    if applied and max(applied) > len(migrations):
        raise SchemaTooNew(
            f"the database has schema version {max(applied)}, this server knows {len(migrations)}: "
            "start the newer server"
        )
    for each in migrations:
        if each.version in applied and applied[each.version] != each.checksum:
            raise SchemaChanged(f"migration {each.version:04}_{each.name} is not the one that was applied")
    return [each for each in migrations if each.version not in applied]


async def apply(session: Session, migrations: Sequence[Migration]) -> None:
    """Apply migrations on the caller's session and note them, in his transaction where he is in one."""
    await session.execute(_TABLE)
    for each in migrations:
        # A simple query of several statements is one transaction.
        await session.execute(_record(each) + each.sql, deadline_s=MIGRATION_LIMIT_S)


async def migrate(database: Database, folder: Path) -> list[Migration]:
    """Apply what is missing and return it.

    Raises:
        SchemaTooNew, SchemaChanged: as `pending`.
        SchemaForbidden: who logs in may not make the schema; nothing of the migration was applied.
        DatabaseAway: the database cannot be reached.
    """
    migrations = read_migrations(folder)
    async with database.dedicated(role=None) as session:
        await session.execute("SET statement_timeout = 0")
        await session.execute("SET idle_in_transaction_session_timeout = 0")
        await session.fetchval(
            "SELECT pg_advisory_lock($1)", MIGRATION_LOCK_KEY, deadline_s=MIGRATION_LIMIT_S
        )
        try:
            await session.execute(_TABLE)
            rows = await session.fetch("SELECT version, checksum FROM schema_migration")
            todo = pending(migrations, {row["version"]: row["checksum"] for row in rows})
            for each in todo:
                await apply(session, [each])
                log.info("migrated", version=each.version, name=each.name)
        except asyncpg.InsufficientPrivilegeError as error:
            raise SchemaForbidden(
                f"the database does not let its login make the schema ({error.args[0]}): make the login the "
                f"owner of the database, and run once as an administrator: CREATE ROLE {SERVER_ROLE}; "
                f"GRANT {SERVER_ROLE} TO <login>"
            ) from error
        return todo


def _record(migration: Migration) -> str:
    """SQL that notes a migration as applied. Name and checksum hold nothing that needs quoting."""
    values = f"{migration.version}, '{migration.name}', '{migration.checksum}'"
    return f"INSERT INTO schema_migration (version, name, checksum) VALUES ({values});\n"  # noqa: S608
