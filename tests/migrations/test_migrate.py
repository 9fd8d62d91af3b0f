from pathlib import Path

import asyncpg
import pytest
import trio

from runtime.database import Database, open_database
from runtime.errors import SchemaChanged, SchemaForbidden, SchemaTooNew
from runtime.migrate import Migration, migrate, pending, read_migrations
from tests.conftest import MIGRATIONS


def write(folder: Path, *statements: str) -> Path:
    for number, sql in enumerate(statements, 1):
        (folder / f"{number:04}_step.sql").write_text(sql)
    return folder


async def tables(database: Database) -> set[str]:
    async with database.dedicated(role=None) as session:
        rows = await session.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {row["tablename"] for row in rows}


async def test_all_is_applied_once_and_noted(empty_database_url: str):
    async with open_database(empty_database_url) as database:
        applied = await migrate(database, MIGRATIONS)
        assert [each.version for each in applied] == list(range(1, len(applied) + 1))
        assert await migrate(database, MIGRATIONS) == []
        async with database.dedicated(role=None) as session:
            rows = await session.fetch(
                "SELECT version, name, checksum FROM schema_migration ORDER BY version"
            )
        assert [tuple(row) for row in rows] == [(each.version, each.name, each.checksum) for each in applied]


async def test_servers_that_start_together_migrate_once(empty_database_url: str, tmp_path: Path):
    folder = write(tmp_path, "CREATE TABLE a (n integer); SELECT pg_sleep(0.1)", "CREATE TABLE b (n integer)")
    applied: list[Migration] = []

    async def start() -> None:
        async with open_database(empty_database_url) as database:
            applied.extend(await migrate(database, folder))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(start)
    assert [each.version for each in applied] == [1, 2]


async def test_a_newer_schema_is_refused(empty_database_url: str, tmp_path: Path):
    write(tmp_path, "CREATE TABLE a (n integer)", "CREATE TABLE b (n integer)")
    async with open_database(empty_database_url) as database:
        await migrate(database, tmp_path)
        (tmp_path / "0002_step.sql").unlink()
        with pytest.raises(SchemaTooNew, match="version 2, this server knows 1"):
            await migrate(database, tmp_path)


async def test_a_changed_file_is_refused(empty_database_url: str, tmp_path: Path):
    write(tmp_path, "CREATE TABLE a (n integer)")
    async with open_database(empty_database_url) as database:
        await migrate(database, tmp_path)
        write(tmp_path, "CREATE TABLE a (n bigint)")
        with pytest.raises(SchemaChanged, match="0001_step"):
            await migrate(database, tmp_path)


async def test_a_failing_migration_leaves_nothing_of_itself(empty_database_url: str, tmp_path: Path):
    write(tmp_path, "CREATE TABLE a (n integer)", "CREATE TABLE b (n integer); SELECT 1 / 0")
    async with open_database(empty_database_url) as database:
        with pytest.raises(asyncpg.DivisionByZeroError):
            await migrate(database, tmp_path)
        assert await tables(database) == {"schema_migration", "a"}
        write(tmp_path, "CREATE TABLE a (n integer)", "CREATE TABLE b (n integer)")
        assert [each.version for each in await migrate(database, tmp_path)] == [2]


async def test_a_login_without_the_rights_is_told_which(empty_database_url: str, tmp_path: Path):
    write(tmp_path, "CREATE ROLE plain_login; SET LOCAL ROLE plain_login; CREATE ROLE scorebox_other")
    async with open_database(empty_database_url) as database:
        with pytest.raises(SchemaForbidden, match=r"permission denied.* CREATE ROLE scorebox_server; GRANT"):
            await migrate(database, tmp_path)


def test_numbers_without_a_gap_are_wanted(tmp_path: Path):
    write(tmp_path, "SELECT 1", "SELECT 2", "SELECT 3")
    (tmp_path / "0002_step.sql").unlink()
    with pytest.raises(ValueError, match="gap"):
        read_migrations(tmp_path)


def test_a_name_without_a_number_is_refused(tmp_path: Path):
    (tmp_path / "more.sql").write_text("SELECT 1")
    with pytest.raises(ValueError, match=r"more\.sql"):
        read_migrations(tmp_path)


def test_what_is_pending_follows_from_what_was_applied():
    first, second = Migration(1, "a", "SELECT 1"), Migration(2, "b", "SELECT 2")
    assert pending([first, second], {}) == [first, second]
    assert pending([first, second], {1: first.checksum}) == [second]
    assert pending([first, second], {1: first.checksum, 2: second.checksum}) == []


async def test_every_table_says_what_it_is(database: Database):
    silent = await database.fetch(
        "SELECT c.relname FROM pg_class c"
        " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')"
        " AND NOT c.relispartition AND obj_description(c.oid) IS NULL"
    )
    assert [row["relname"] for row in silent] == []


STANDING = 7
ADD_MATCH = """
WITH sport AS (
    INSERT INTO sport (id, code, name) VALUES (gen_random_uuid(), $1, $1) RETURNING id
), rules AS (
    INSERT INTO scoring_program_version (id, sport_id, version, code_sha)
    SELECT gen_random_uuid(), id, '1.0.0', $1 FROM sport RETURNING id
), match AS (
    INSERT INTO fixture (id, sport_id, code, archetype, first_day)
    SELECT gen_random_uuid(), id, $1, 'events', '2026-06-01' FROM sport RETURNING id
), board AS (
    INSERT INTO scoreboard (
        fixture_id, snapshot, summary, last_seq, events_seq, position, epoch, rules_id, code_sha, state_hash)
    SELECT match.id, '{}', $2::json, 1, 1, 0, 1, rules.id, $1, '' FROM match, rules
)
INSERT INTO published_document (fixture_id, segment, body, last_seq, epoch)
SELECT match.id, '', $3::json, 1, 1 FROM match
"""
"""A match as stored before the standing: code, summary, head."""


async def test_heads_from_before_the_standing_get_it_in_their_own_order(
    empty_database_url: str, tmp_path: Path
):
    steps = sorted(MIGRATIONS.glob("*.sql"))
    before = [step for step in steps if int(step.name[:4]) < STANDING]
    for step in before:
        (tmp_path / step.name).write_text(step.read_text())
    async with open_database(empty_database_url) as database:
        await migrate(database, tmp_path)
        async with database.dedicated(role=None) as owner:
            for code, phase in (("a", "play"), ("b", "over")):
                await owner.execute(ADD_MATCH, code, f'{{"phase":"{phase}"}}', f'{{"z":1,"code":"{code}"}}')
        await migrate(database, MIGRATIONS)
        async with database.dedicated(role=None) as owner:
            bodies = await owner.fetch("SELECT body FROM published_document ORDER BY body ->> 'code'")
    assert [row["body"] for row in bodies] == [
        '{"z":1,"code":"a","standing":null,"revision":0,"ruling":null}',
        '{"z":1,"code":"b","standing":"provisional","revision":0,"ruling":null}',
    ]
