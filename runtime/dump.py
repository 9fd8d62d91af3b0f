"""All rows of a database, out of one snapshot into files and back into an empty database in one transaction.

Only rows travel: the schema is made by the migrations, up to the number the rows were written under, and
brought up to date afterwards. So a dump goes into a newer server and another release of PostgreSQL.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter

import asyncpg

from runtime.database import Database, Session
from runtime.errors import NotRestored
from runtime.migrate import MIGRATION_LOCK_KEY, Migration, apply

COPY_DEADLINE_S = 6 * 3600.0
"""One table, out or in."""
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
MIGRATIONS_TABLE = "schema_migration"

_TABLES = """
SELECT c.relname AS name,
       array(SELECT a.attname FROM pg_attribute a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
              ORDER BY a.attnum)::text[] AS columns,
       array(SELECT DISTINCT other.relname FROM pg_constraint k JOIN pg_class other ON other.oid = k.confrelid
              WHERE k.contype = 'f' AND k.conrelid = c.oid AND k.confrelid <> c.oid)::text[] AS needs
  FROM pg_class c
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
 ORDER BY c.relname
"""
_COUNTERS = """
SELECT c.relname AS "table", a.attname AS "column"
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'public'::regnamespace AND a.attidentity <> ''
"""
_OTHERS = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND application_name = 'scorebox' AND pid <> pg_backend_pid()
"""


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows travel."""

    name: str
    columns: tuple[str, ...]


@asynccontextmanager
async def snapshot(database: Database) -> AsyncIterator[Session]:
    """A session that sees the database as it is now, for as long as it takes. It holds nobody up."""
    async with _unhurried(database) as session:
        await session.execute(SNAPSHOT)
        yield session


@asynccontextmanager
async def _unhurried(database: Database) -> AsyncIterator[Session]:
    async with database.dedicated(role=None) as session:
        await session.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        yield session


async def tables(session: Session) -> list[Table]:
    """The tables, each after those it refers to."""
    rows = await session.fetch(_TABLES)
    found = {row["name"]: Table(row["name"], tuple(row["columns"])) for row in rows}
    order = TopologicalSorter({row["name"]: [need for need in row["needs"] if need in found] for row in rows})
    return [found[name] for name in order.static_order() if name != MIGRATIONS_TABLE]


async def schema_of(session: Session) -> list[str]:
    """The checksums of the migrations that were applied, in order; empty where there is no schema."""
    if not await session.fetchval("SELECT to_regclass($1) IS NOT NULL", f"public.{MIGRATIONS_TABLE}"):
        return []
    rows = await session.fetch("SELECT checksum FROM schema_migration ORDER BY version")
    return [row["checksum"] for row in rows]


async def count(session: Session, table: Table) -> int:
    """The rows of a table."""
    rows: int = await session.fetchval(f'SELECT count(*) FROM "{table.name}"', deadline_s=COPY_DEADLINE_S)  # noqa: S608
    return rows


async def dump(session: Session, table: Table, write: Callable[[bytes], object]) -> None:
    """A table's rows as text, a line each."""
    query = f'SELECT {_listed(table.columns)} FROM "{table.name}"'  # noqa: S608
    await session.copy_out(query, write, deadline_s=COPY_DEADLINE_S)


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


async def load(
    database: Database,
    migrations: Sequence[Migration],
    rows: Sequence[tuple[Table, int, Iterable[bytes]]],
) -> None:
    """Make the schema and put the rows in, all in one transaction: whatever ends it leaves nothing behind.

    `rows` are tables, how many rows they have, and the rows, in the order of `tables`.

    Raises:
        NotRestored: there is data already, or a server is at it, or the rows do not fit.
        DatabaseAway: the database cannot be reached, or has no room.
    """
    async with _unhurried(database) as session:
        await session.execute("BEGIN")
        await session.fetchval("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK_KEY)
        await _make_room(session)
        try:
            await apply(session, migrations)
            for table, wanted, chunks in rows:
                await _fill(session, table, wanted, chunks)
            for counter in await session.fetch(_COUNTERS):
                await _advance(session, counter["table"], counter["column"])
        except asyncpg.PostgresError as error:
            raise NotRestored(f"the rows do not fit the schema they were written under: {error}") from error
        await session.execute("COMMIT", deadline_s=COPY_DEADLINE_S)


async def _make_room(session: Session) -> None:
    """An empty schema. Raises NotRestored where there is anything to lose."""
    if await session.fetchval(_OTHERS):
        raise NotRestored("a server is running on this database: stop it first")
    there = await tables(session)
    if not there:
        return
    if not await schema_of(session):
        raise NotRestored("the database has tables of something else: give the backup a database of its own")
    for table in there:
        if await session.fetchval(f'SELECT EXISTS (SELECT FROM "{table.name}")'):  # noqa: S608
            matches = await session.fetchval("SELECT count(*) FROM fixture")
            raise NotRestored(
                f"there is data already ({matches} matches, rows in {table.name}) and nothing is written "
                "over: restore into a fresh data folder (SCOREBOX_DATA), or an empty database"
            )
    await session.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


async def _fill(session: Session, table: Table, wanted: int, chunks: Iterable[bytes]) -> None:
    # Triggers keep what follows from rows; here it comes with them. Foreign keys are checked as ever.
    await session.execute(f'ALTER TABLE "{table.name}" DISABLE TRIGGER USER')
    loaded = await session.copy_in(table.name, table.columns, chunks, deadline_s=COPY_DEADLINE_S)
    await session.execute(f'ALTER TABLE "{table.name}" ENABLE TRIGGER USER')
    if loaded != wanted:
        raise NotRestored(f"{table.name} got {loaded} rows, the backup says {wanted}")


async def _advance(session: Session, table: str, column: str) -> None:
    """Set an identity behind the highest number that is in use."""
    await session.execute(
        f"SELECT setval(pg_get_serial_sequence('\"{table}\"', '{column}'), "  # noqa: S608
        f'coalesce(max("{column}"), 1), max("{column}") IS NOT NULL) FROM "{table}"',
        deadline_s=COPY_DEADLINE_S,
    )
