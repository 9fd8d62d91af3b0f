"""What a restore refuses, and backups of a PostgreSQL of one's own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from bench.play import opening
from config.backup import KIND, READS, About, back_up, read_about, read_sports, restore
from config.server import APPLICATION, Server, temporary_server
from gateway.auth import Identity, Role
from gateway.protocol import Created, CreateMatch
from runtime.archive import Archive, new_archive, open_archive
from runtime.database import Database, open_database
from runtime.errors import NotRestored
from runtime.migrate import migrate
from runtime.versions import VersionStore
from verifier.replay import open_verifier_pools
from verifier.verify import verify

WHO = Identity("scorer", Role.OPERATOR)


def silent(_: int) -> Callable[[int], None]:
    return lambda rows: None


@asynccontextmanager
async def backed_up(tmp_path: Path) -> AsyncIterator[tuple[Server, str, Path]]:
    """A server with a match, and a backup of it."""
    async with temporary_server() as server:
        created = await server.server.matches.create_match(CreateMatch("cricket", "A v B", opening()), WHO)
        assert isinstance(created, Created)
        # As after a webhook heard of the opening.
        await server.server.database.execute(
            "INSERT INTO delivery_cursor (subscriber, fixture_id, seq) VALUES ('webhook', $1, 1)",
            UUID(created.match),
        )
        file = tmp_path / "a.backup"
        await back_up(server.server.database, server.server.versions, file, silent)
        yield server.server, created.match, file


@asynccontextmanager
async def empty(url: str) -> AsyncIterator[Database]:
    async with open_database(url) as database:
        yield database


async def test_an_empty_database_of_ones_own_takes_a_backup_once(
    tmp_path: Path, empty_database_url: str
) -> None:
    async with backed_up(tmp_path) as (_, match, file), empty(empty_database_url) as database:
        versions = VersionStore(tmp_path / "sports")
        with open_archive(file, KIND, READS) as archive:
            about = await restore(archive, database, versions, silent)
            assert about.matches == 1
            # What was delivered is not delivered again.
            assert await database.fetchval("SELECT seq FROM delivery_cursor") == 1
            current = versions.current("cricket")
            assert current is not None
            assert versions.is_bundled(current)
            async with open_verifier_pools(versions) as pools:
                assert not (await verify(database, pools, match)).findings
            async with empty(empty_database_url) as again:
                await database.close()
                with pytest.raises(NotRestored, match="there is data already"):
                    await restore(archive, again, versions, silent)


async def test_a_database_that_was_only_migrated_is_as_good_as_an_empty_one(
    tmp_path: Path, database: Database
) -> None:
    async with backed_up(tmp_path) as (_, _, file):
        with open_archive(file, KIND, READS) as archive:
            await restore(archive, database, VersionStore(tmp_path / "sports"), silent)
        assert await database.fetchval("SELECT count(*) FROM fixture") == 1


async def test_tables_of_something_else_are_left_alone(tmp_path: Path, empty_database_url: str) -> None:
    async with backed_up(tmp_path) as (_, _, file), empty(empty_database_url) as database:
        async with database.dedicated(role=None) as session:
            await session.execute("CREATE TABLE dear (n integer)")
        versions = VersionStore(tmp_path / "sports")
        with open_archive(file, KIND, READS) as archive, pytest.raises(NotRestored, match="something else"):
            await restore(archive, database, versions, silent)
        async with database.dedicated(role=None) as session:
            assert await session.fetchval("SELECT count(*) FROM dear") == 0
        # The code that was put in place for it is gone again.
        assert versions.sports() == []


async def test_a_database_with_a_server_on_it_is_not_taken(tmp_path: Path) -> None:
    async with backed_up(tmp_path) as (server, _, file):
        with (
            open_archive(file, KIND, READS) as archive,
            pytest.raises(NotRestored, match="is running"),
        ):
            await restore(archive, server.database, VersionStore(tmp_path / "sports"), silent)


def forged(archive: Archive, target: Path, change: Callable[[About], About], **members: bytes) -> Path:
    """The same backup with another manifest, well packed."""
    about = msgspec.json.decode(archive.about, type=About)
    with new_archive(target) as made:
        for name in archive.members:
            with made.member(name) as put:
                put(members.get(name.rsplit("/", 1)[-1].partition(".")[0], archive.read(name)))
        made.finish(KIND, 1, change(about))
    return target


async def test_what_does_not_fit_here_is_refused_with_what_to_do(tmp_path: Path) -> None:
    replaced = msgspec.structs.replace
    changes: dict[str, tuple[Callable[[About], About], str]] = {
        "newer": (lambda about: replaced(about, schema=[*about.schema, "f" * 64]), "or newer"),
        "other": (
            lambda about: replaced(about, schema=["f" * 64, *about.schema[1:]]),
            "another migration 0001",
        ),
        "python": (lambda about: replaced(about, python="3.99"), "restore it under Python 3.99"),
    }
    async with backed_up(tmp_path) as (_, _, file):
        with open_archive(file, KIND, READS) as archive:
            for name, (change, words) in changes.items():
                with (
                    open_archive(forged(archive, tmp_path / name, change), KIND, READS) as other,
                    pytest.raises(NotRestored, match=words),
                ):
                    read_about(other)
            target = forged(archive, tmp_path / "code", lambda about: about, over=b"pass\n")
            with open_archive(target, KIND, READS) as other:
                about, _ = read_about(other)
                with pytest.raises(NotRestored, match="use another copy"):
                    read_sports(other, about)


async def test_rows_that_do_not_fit_leave_an_empty_database(tmp_path: Path, empty_database_url: str) -> None:
    async with backed_up(tmp_path) as (_, _, file), empty(empty_database_url) as database:
        versions = VersionStore(tmp_path / "sports")
        with open_archive(file, KIND, READS) as archive:
            target = forged(archive, tmp_path / "rows", lambda about: about, scoreboard=b"")
            with (
                open_archive(target, KIND, READS) as other,
                pytest.raises(NotRestored, match="got 0"),
            ):
                await restore(other, database, versions, silent)
            async with database.dedicated(role=None) as session:
                assert (
                    await session.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
                )
            assert versions.sports() == []
            await restore(archive, database, versions, silent)


async def test_a_backup_of_an_older_schema_is_brought_up_to_date(
    tmp_path: Path, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = tmp_path / "later"
    (later / "migrations").mkdir(parents=True)
    files = sorted((APPLICATION / "migrations").glob("*.sql"))
    for path in files:
        (later / "migrations" / path.name).write_text(path.read_text())
    new = later / "migrations" / f"{len(files) + 1:04}_later.sql"
    new.write_text("ALTER TABLE venue ADD COLUMN later integer NOT NULL DEFAULT 7;")
    async with backed_up(tmp_path) as (_, _, file), empty(empty_database_url) as database:
        monkeypatch.setattr("config.backup.APPLICATION", later)
        with open_archive(file, KIND, READS) as archive:
            await restore(archive, database, VersionStore(tmp_path / "sports"), silent)
        async with database.dedicated(role=None) as session:
            assert await session.fetchval("SELECT count(*) FROM fixture") == 1
            assert await session.fetchval("SELECT max(version) FROM schema_migration") == len(files) + 1
            await session.fetch("SELECT later FROM venue")


async def test_code_that_is_not_there_is_named_in_the_backup(tmp_path: Path) -> None:
    async with backed_up(tmp_path) as (server, _, _):
        file = tmp_path / "b.backup"
        about, _ = await back_up(server.database, VersionStore(tmp_path / "nothing"), file, silent)
        [missing] = about.missing
        assert (missing.sport, missing.matches) == ("cricket", 1)


@pytest.mark.parametrize("migrated", [False, True])
async def test_the_owner_of_a_database_needs_no_further_rights(
    tmp_path: Path, empty_database_url: str, migrated: bool
) -> None:
    async with empty(empty_database_url) as database, database.dedicated(role=None) as session:
        await session.execute(
            "DO $$ BEGIN CREATE ROLE plain_owner; EXCEPTION WHEN duplicate_object THEN NULL; END $$;"
            # The second as it takes the role over from another login, whose sessions it could not see.
            "GRANT scorebox_server, pg_read_all_stats TO plain_owner"
        )
        name = await session.fetchval("SELECT current_database()")
        await session.execute(f"ALTER DATABASE {name} OWNER TO plain_owner")
    async with (
        backed_up(tmp_path) as (_, match, file),
        empty(f"{empty_database_url}&role=plain_owner") as database,
    ):
        if migrated:
            await migrate(database, APPLICATION / "migrations")
        versions = VersionStore(tmp_path / "sports")
        with open_archive(file, KIND, READS) as archive:
            await restore(archive, database, versions, silent)
        async with database.dedicated(role=None) as session:
            assert await session.fetchval("SELECT current_user") == "plain_owner"
        async with open_verifier_pools(versions) as pools:
            assert not (await verify(database, pools, match)).findings
