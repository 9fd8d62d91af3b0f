"""A backup: every row of the database and the code of every sport in one file, and the way back.

The file is an archive (`runtime/archive.py`): `tables/NAME` are rows as PostgreSQL's COPY writes them,
`sports/SPORT/VERSION/…` the code. Matches are pinned to their code, so one is of no use without the other.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from config.server import APPLICATION
from runtime.archive import Archive, ArchiveWriter, new_archive
from runtime.database import Database, Session
from runtime.dump import Table, count, dump, load, schema_of, snapshot, tables
from runtime.errors import NotRestored, VersionConflict
from runtime.fingerprint import code_sha, package_files, python_minor
from runtime.migrate import Migration, migrate, read_migrations
from runtime.versions import SportVersion, VersionStore, dev_version

KIND = "scorebox-backup"
VERSION = 1
READS = range(1, VERSION + 1)
_PART = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_.\- ]*$")
"""Of the path of a sport's file: nothing that leads out of its folder."""
_PINNED = """
SELECT b.code_sha, s.code AS sport, v.version, count(*) AS matches
  FROM scoreboard b JOIN fixture f ON f.id = b.fixture_id
  JOIN sport s ON s.id = f.sport_id JOIN scoring_program_version v ON v.id = b.rules_id
 GROUP BY b.code_sha, s.code, v.version ORDER BY s.code, v.version
"""

Tell = Callable[[int], None]
"""Is told of rows that are done."""


class TableEntry(msgspec.Struct, frozen=True):
    """A table in a backup."""

    name: str
    columns: list[str]
    rows: int


class SportEntry(msgspec.Struct, frozen=True):
    """A version of a sport in a backup. `current` is the one that new matches used.

    `bundled` code came with the application, which says how strong the guard of its workers must be.
    """

    sport: str
    version: str
    package: str
    code_sha: str
    current: bool
    bundled: bool


class Missing(msgspec.Struct, frozen=True):
    """Code that matches are pinned to and that was not there."""

    sport: str
    version: str
    code_sha: str
    matches: int


class About(msgspec.Struct, frozen=True):
    """What a backup says of itself."""

    made_at: datetime
    release: str
    python: str
    schema: list[str]
    """The checksums of the migrations that were applied, in order."""
    matches: int
    tables: list[TableEntry]
    """Each after those it refers to."""
    sports: list[SportEntry]
    missing: list[Missing]


async def back_up(
    database: Database, versions: VersionStore, target: Path, begin: Callable[[int], Tell]
) -> "tuple[About, str]":
    """Write a backup of this moment; the server may run on. What it says of itself, and its sha256.

    `begin` hears how many rows there are and gives what is told of those done.

    Raises:
        FileTaken: the target is there.
        OSError: it cannot be written.
        DatabaseAway: the database cannot be reached.
    """
    with new_archive(target) as archive:
        async with snapshot(database) as session:
            about = await _write_tables(session, versions, archive, begin)
        for entry in about.sports:
            _write_sport(archive, versions.find(entry.code_sha))
        sha = archive.finish(KIND, VERSION, about)
    return about, sha


async def _write_tables(
    session: Session, versions: VersionStore, archive: ArchiveWriter, begin: Callable[[int], Tell]
) -> About:
    schema = await schema_of(session)
    found = await tables(session)
    entries = [TableEntry(table.name, list(table.columns), await count(session, table)) for table in found]
    tell = begin(total(entries))
    for table in found:
        with archive.member(f"tables/{table.name}") as write:

            def take(data: bytes, write: Callable[[bytes], None] = write) -> None:
                write(data)
                tell(data.count(b"\n"))

            await dump(session, table, take)
    versions.refresh()
    sports = [
        SportEntry(
            each.sport,
            each.version,
            each.package,
            each.code_sha,
            versions.current(sport) == each,
            versions.is_bundled(each),
        )
        for sport in versions.sports()
        for each in versions.versions(sport)
    ]
    there = {entry.code_sha for entry in sports}
    pinned = await session.fetch(_PINNED) if schema else []
    return About(
        made_at=datetime.now(UTC),
        release=_release(),
        python=python_minor(),
        schema=schema,
        matches=sum(row["matches"] for row in pinned),
        tables=entries,
        sports=sports,
        missing=[
            Missing(row["sport"], row["version"], row["code_sha"], row["matches"])
            for row in pinned
            if row["code_sha"] not in there
        ],
    )


def _write_sport(archive: ArchiveWriter, found: SportVersion) -> None:
    for name, content in package_files(found.folder / found.package).items():
        with archive.member(_folder(found) + name) as write:
            write(content)


def _folder(each: SportVersion | SportEntry) -> str:
    return f"sports/{each.sport}/{each.version}/"


def _release() -> str:
    with suppress(PackageNotFoundError):
        return version("scorebox")
    return "unknown"


def read_about(archive: Archive) -> "tuple[About, list[Migration]]":
    """What a backup says of itself, and the migrations it was written under.

    Raises:
        NotRestored: it was made by a newer server, or under a schema or a Python that are not here.
    """
    try:
        about = msgspec.json.decode(archive.about, type=About)
    except msgspec.MsgspecError as error:
        raise NotRestored(f"the backup's manifest cannot be read: {error}") from error
    migrations = read_migrations(APPLICATION / "migrations")
    if len(about.schema) > len(migrations):
        raise NotRestored(
            f"the backup has schema version {len(about.schema)}, this program knows {len(migrations)}: "
            f"restore it with Scorebox {about.release} or newer"
        )
    for each, checksum in zip(migrations, about.schema, strict=False):
        if each.checksum != checksum:
            raise NotRestored(
                f"the backup was made under another migration {each.version:04}_{each.name}: "
                f"restore it with Scorebox {about.release}"
            )
    if about.python != python_minor() and about.sports:
        raise NotRestored(
            f"the backup was made under Python {about.python} and matches are pinned to it; this is "
            f"{python_minor()}: restore it under Python {about.python}"
        )
    return about, migrations[: len(about.schema)]


def read_sports(archive: Archive, about: About) -> "list[tuple[SportEntry, dict[str, bytes]]]":
    """The code in a backup, and that it is the code it says.

    Raises:
        NotRestored: it is not.
    """
    found = []
    for entry in about.sports:
        folder = _folder(entry)
        files = {
            name[len(folder) :]: archive.read(name) for name in archive.members if name.startswith(folder)
        }
        if not all(_PART.match(part) for name in files for part in name.split("/")):
            raise NotRestored(
                f"{entry.sport} {entry.version} in the backup has files with names that cannot be"
            )
        if code_sha(files) != entry.code_sha:
            raise NotRestored(
                f"{entry.sport} {entry.version} in the backup has the code_sha {code_sha(files)}, "
                f"its matches are pinned to {entry.code_sha}: use another copy"
            )
        found.append((entry, files))
    return found


async def restore(
    archive: Archive, database: Database, versions: VersionStore, begin: Callable[[int], Tell]
) -> About:
    """Put a backup into an empty database and its code beside it, then bring the schema up to date.

    Raises:
        NotRestored: see its text; nothing was changed.
        DatabaseAway: the database cannot be reached, or has no room; nothing was changed.
    """
    about, migrations = read_about(archive)
    sports = read_sports(archive, about)
    tell = begin(total(about.tables))
    placed: list[tuple[SportEntry, SportVersion, bool]] = []
    try:
        for entry, files in sports:
            placed.append((entry, *_place(versions, entry, files)))
        await load(database, migrations, [_rows(archive, entry, tell) for entry in about.tables])
    except BaseException:
        for _, each, fresh in placed:
            if fresh:
                versions.remove(each)
        raise
    for entry, each, _ in placed:
        if entry.bundled:
            versions.note_bundled(each)
        if entry.current:
            versions.use(each)
    await migrate(database, APPLICATION / "migrations")
    return about


def _place(versions: VersionStore, entry: SportEntry, files: dict[str, bytes]) -> "tuple[SportVersion, bool]":
    """The version in its folder, and whether it was put there now."""
    there = {each.code_sha: each for each in versions.versions(entry.sport)}
    if (found := there.get(entry.code_sha)) is not None:
        return found, False
    try:
        return versions.place(files, entry.package, entry.sport, entry.version), True
    except VersionConflict:
        # The number is taken by other content here: what counts is the code_sha.
        return versions.place(files, entry.package, entry.sport, dev_version(entry.version, files)), True


def _rows(archive: Archive, entry: TableEntry, tell: Tell) -> "tuple[Table, int, Iterator[bytes]]":
    def chunks() -> Iterator[bytes]:
        for data in archive.chunks(f"tables/{entry.name}"):
            yield data
            tell(data.count(b"\n"))

    return Table(entry.name, tuple(entry.columns)), entry.rows, chunks()


def total(entries: Sequence[TableEntry]) -> int:
    """All rows."""
    return sum(entry.rows for entry in entries)
