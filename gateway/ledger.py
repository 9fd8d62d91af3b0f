"""The ledger: the reads and writes of matches in the database. SQL stands in `gateway/sql`."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from gateway.card import Card
from gateway.errors import CodeTaken
from gateway.fanout import Snapshot
from gateway.opening_rows import pin, write_opening
from gateway.queries import load_blocks
from gateway.records import (
    BeforeImage,
    Checkpoint,
    CommitItem,
    HistoryRow,
    Known,
    LogRow,
    Malformed,
    MatchListing,
    OpenMatch,
    Outcome,
    StoredMatch,
)
from gateway.rows import (
    HEAD,
    before_images,
    commit_argument,
    correction_arguments,
    history_row,
    log_row,
    match_listing,
    outcome_of,
    parse_id,
    parse_ref,
    stored_match,
)
from runtime.database import CALL_DEADLINE_S, Database, Session
from runtime.versions import SportVersion

TAIL_ROWS = 64
"""Newest rows of the log that come with a match."""
LOG_PAGE_ROWS = 1_000
"""Rows of the log read at once, at most."""
LIST_LIMIT_MATCHES = 500
ITEM_FAULTS = ("21", "22", "23", "54")
"""Classes of SQLSTATE that are the fault of the arguments: a row written twice, data, constraints, limits."""
FIXTURE_CODE = "fixture_sport_id_code_key"
"""The constraint on the code of a match."""
READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

_SQL = load_blocks("matches.sql")

Ref = UUID | str
"""A match by its id (also as text), its code, or "sport:code"."""


class Ledger:
    """Matches in the database. Every method raises DatabaseAway when it cannot be reached."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, ref: Ref) -> StoredMatch | None:
        """All that an actor needs to go on, at one moment. None where there is no such match."""
        async with self._database.transaction(begin=READ_ONLY) as session:
            match = await self._resolve(session, ref)
            if match is None or (head := await session.fetchrow(_SQL["match_head"], match)) is None:
                return None
            competitors = await session.fetch(_SQL["match_competitors"], match)
            lines = await session.fetch(_SQL["match_lines"], match)
            tail = await session.fetch(_SQL["log_tail"], match, TAIL_ROWS)
        return stored_match(head, competitors, lines, tail)

    async def resolve(self, ref: Ref) -> UUID | None:
        """The id that a reference stands for. An id stands for itself, whether or not there is a match."""
        async with self._database.session() as session:
            return await self._resolve(session, ref)

    async def _resolve(self, session: Session, ref: Ref) -> UUID | None:
        if isinstance(ref, UUID):
            return ref
        if "\0" in ref:
            # Nothing that is stored has one, and it cannot be asked for.
            return None
        if (match := parse_id(ref)) is not None:
            return match
        found: UUID | None = await session.fetchval(_SQL["match_of_code"], *parse_ref(ref))
        return found

    async def find(self, match: UUID, id: UUID) -> LogRow | None:
        """The row of a command's id, or None: one indexed read."""
        row = await self._database.fetchrow(_SQL["log_row_of_id"], match, id)
        return None if row is None else log_row(row)

    async def log(self, ref: Ref, after: int, limit: int) -> list[LogRow] | None:
        """Rows after a seq, oldest first, at most LOG_PAGE_ROWS. None where there is no such match."""
        async with self._database.session() as session:
            match = await self._resolve(session, ref)
            if match is None:
                return None
            rows = await session.fetch(_SQL["log_after"], match, after, min(limit, LOG_PAGE_ROWS))
            if not rows and not await session.fetchval(_SQL["match_exists"], match):
                return None
        return [log_row(row) for row in rows]

    async def log_rows(self, match: UUID, seqs: Sequence[int]) -> list[LogRow]:
        """The rows with these seqs, oldest first."""
        return [log_row(row) for row in await self._database.fetch(_SQL["log_rows"], match, list(seqs))]

    async def document(self, ref: Ref) -> Snapshot | None:
        """The stored document: head and parts, with the position it stands at."""
        async with self._database.session() as session:
            match = await self._resolve(session, ref)
            if match is None:
                return None
            rows = await session.fetch(_SQL["document"], match)
        bodies = {row["segment"]: row["body"].encode() for row in rows}
        if HEAD not in bodies:
            # No such match, or one whose head is lost: what else is saved says who plays.
            stored = await self.load(match)
            return None if stored is None else Card.of(stored).snapshot()
        first = rows[0]
        return Snapshot(
            str(match), first["epoch"], first["last_seq"], first["state_hash"].hex(), bodies.pop(HEAD), bodies
        )

    async def matches(self, status: str | None = None, limit: int = 100) -> list[MatchListing]:
        """Matches, live ones first, then the newest."""
        rows = await self._database.fetch(_SQL["match_list"], status, min(limit, LIST_LIMIT_MATCHES))
        return [match_listing(row) for row in rows]

    async def newest_seqs(self, matches: Sequence[UUID]) -> dict[UUID, int]:
        """How far these matches are in the database."""
        rows = await self._database.fetch(_SQL["newest_seqs"], list(matches))
        return {row["id"]: row["last_seq"] for row in rows}

    async def commit(self, items: Sequence[CommitItem]) -> list[Outcome]:
        """Save commands of different matches in one call; the outcomes are in the order of the items.

        Raises:
            AnswerLost: the call may have been carried out.
        """
        async with self._database.session() as session:
            return await self.commit_on(session, items)

    async def commit_on(
        self,
        session: Session,
        items: Sequence[CommitItem],
        *,
        patience_ms: int | None = None,
        deadline_s: float = CALL_DEADLINE_S,
    ) -> list[Outcome]:
        """As `commit`, on the caller's session. With `patience_ms` one item waits so long for its lock.

        A caller that is cancelled meanwhile waits for the end; each statement has the deadline.
        """
        outcomes: list[Outcome | None] = [None] * len(items)
        sent: list[int] = []
        arguments = []
        for position, item in enumerate(items):
            try:
                arguments.append(commit_argument(item))
                sent.append(position)
            except ValueError as error:
                outcomes[position] = Malformed(str(error))
        if arguments and patience_ms is not None and (correction := items[0].correction) is not None:
            extra: tuple[Any, ...] = (*correction_arguments(correction), patience_ms)
            sql = _SQL["commit_correction"]
            if correction.moved_from is not None:
                sql, extra = _SQL["commit_move"], (*extra, correction.moved_from)
            rows = await self._call(session, sql, arguments, extra, deadline_s)
        elif arguments and patience_ms is not None:
            sql = _SQL["commit_patiently"]
            rows = await self._call(session, sql, arguments, (patience_ms,), deadline_s)
        else:
            rows = await self._call(session, None, arguments, (), deadline_s) if arguments else []
        for position, row in zip(sent, rows, strict=True):
            if isinstance(row, Malformed):
                outcomes[position] = row
            elif row["kind"] == "known":
                item = items[position]
                found = await session.fetchrow(_SQL["log_row_of_id"], item.match, item.id, shield=True)
                assert found is not None, "the log is append-only"
                outcomes[position] = Known(log_row(found))
            else:
                outcomes[position] = outcome_of(row)
        return [outcome for outcome in outcomes if outcome is not None]

    async def _call(
        self,
        session: Session,
        alone: str | None,
        arguments: list[Any],
        extra: tuple[Any, ...],
        deadline_s: float,
    ) -> list[asyncpg.Record | Malformed]:
        """One commit call: `alone` is the SQL for one item and `extra`, else it is the batch's.

        One that cannot even be read (a NUL in a text) is made again item by item.
        """
        try:
            if alone is not None:
                return await session.fetch(alone, arguments[0], *extra, deadline_s=deadline_s, shield=True)
            return await session.fetch(_SQL["commit_batch"], arguments, deadline_s=deadline_s, shield=True)
        except asyncpg.PostgresError as error:
            if error.sqlstate is None or error.sqlstate[:2] not in ITEM_FAULTS:
                raise
            if len(arguments) == 1:
                return [Malformed(str(error))]
        rows: list[asyncpg.Record | Malformed] = []
        for argument in arguments:
            rows += await self._call(session, alone, [argument], extra, deadline_s)
        return rows

    async def history(self, match: UUID) -> list[HistoryRow]:
        """The whole log as corrections need it, oldest first, the opening included."""
        rows = await self._database.fetch(_SQL["history"], match)
        return [history_row(row) for row in rows]

    async def checkpoint(self, match: UUID, code_sha: str, position: int) -> Checkpoint | None:
        """The newest checkpoint of this code with at most so many events in it."""
        row = await self._database.fetchrow(_SQL["checkpoint"], match, code_sha, position)
        if row is None:
            return None
        return Checkpoint(row["position"], row["seq"], row["state"].encode(), row["lines"])

    async def before_images(self, match: UUID, after: int) -> list[list[BeforeImage]]:
        """The before-images of every row after a seq, newest row first."""
        rows = await self._database.fetch(_SQL["before_images"], match, after)
        return [before_images(row["lines_before"]) for row in rows]

    async def ensure_version(self, version: SportVersion, manifest: dict[str, Any]) -> None:
        """Let a match be moved to a version.

        Raises:
            VersionRetired: it was retired.
        """
        async with self._database.transaction() as session:
            await pin(
                session,
                sport=version.sport,
                sport_name=str(manifest.get("name", version.sport)),
                version=version.version,
                code_sha=version.code_sha,
                manifest=msgspec.json.encode(manifest).decode(),
            )

    async def open_match(self, opening: OpenMatch) -> tuple[StoredMatch, bool]:
        """Create a match and its first log row in one transaction. True when it was created.

        The same outside id gives the match that has it.

        Raises:
            CodeTaken: another match of the sport has the code.
            OutsideIdTaken: a match of another sport has the outside id.
            VersionRetired: no match may be opened in the version any longer.
            ValueError: competitors that cannot be (see `find_entrants`).
        """
        try:
            match, created = await self._open_once(opening)
        except asyncpg.UniqueViolationError as error:
            if error.constraint_name == FIXTURE_CODE:
                raise CodeTaken(f"another match of {opening.sport} has the code {opening.code!r}") from error
            # An outside id came in with a match of another sport at the same moment: now it is there.
            match, created = await self._open_once(opening)
        stored = await self.load(match)
        assert stored is not None, "a match is never deleted"
        return stored, created

    async def _open_once(self, opening: OpenMatch) -> tuple[UUID, bool]:
        async with self._database.transaction() as session:
            return await write_opening(session, opening)
