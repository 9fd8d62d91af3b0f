"""Puts an exported match into the database: played again, compared hash by hash, then written as it stood.

What is derived is worked out here, from the log and the match's own code. Nothing is written unless the
replay gives the very state hash of every row in force; then all of it is, in one transaction.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import asyncpg
import msgspec
import trio
from uuid_utils.compat import uuid7

from gateway.document import compose_head
from gateway.effective import CannotEdit, Entry, Row, effective, standing
from gateway.entrants import PERSON
from gateway.errors import CorrectionRefused, SportMisbehaved, TransferTaken, TransferUnfit, VersionRetired
from gateway.exporting import read_rows
from gateway.marks import QUIET, Marks, marks_of
from gateway.opening_rows import find_competition, pin
from gateway.protocol import Created
from gateway.queries import load_blocks
from gateway.quiet import CannotMark, QuietRow
from gateway.records import Checkpoint
from gateway.replaying import Replayed, opened, replay
from gateway.rows import HEAD
from gateway.ruling import is_official
from gateway.segments import segments_of
from gateway.summary import Summary, read_summary
from gateway.transfer import Competitor, Header, TransferRow, decode, first_difference
from runtime.database import Database, Session
from runtime.errors import CodeMissing, RuleFailed
from runtime.pool import Pools
from runtime.versions import VersionStore
from scorebox_contract import state_hash

IMPORTS_AT_ONCE = 1
"""Live commands have the rest of the server."""
IMPORT_LIMIT_S = 300.0
"""Wall time of one, its turn included."""
CHECKPOINT_EVENTS = 50
"""As `commit_item` keeps them."""
ROWS_AT_ONCE = 250

_SQL = load_blocks("transfer.sql")
_OPEN = load_blocks("opening.sql")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class Played(msgspec.Struct):
    """What the log of a file comes to."""

    events: list[Entry]
    found: Replayed
    checkpoints: list[Checkpoint]
    marks: Marks
    summary: Summary


class Importer:
    """Puts matches in."""

    def __init__(self, database: Database, pools: Pools, versions: VersionStore) -> None:
        self._database = database
        self._pools = pools
        self._versions = versions
        self._turn = trio.CapacityLimiter(IMPORTS_AT_ONCE)

    async def import_match(self, data: bytes, account: str) -> Created:
        """A match, from its file. One that is here already, row for row, is left as it is.

        Raises:
            TransferUnfit: the file is none, was changed, or its log does not give its hashes.
            TransferTaken: another match has the id or the code, or this one went on differently.
            CodeMissing: the match's code is not installed; the text says which.
            VersionRetired: it was retired.
            RuntimeFault: the workers or the database could not do it.
            trio.TooSlowError: it took longer than IMPORT_LIMIT_S.
        """
        header, rows = decode(data)
        with trio.fail_after(IMPORT_LIMIT_S):
            async with self._turn:
                return await self._import(header, rows, account)

    async def _import(self, header: Header, rows: list[TransferRow], account: str) -> Created:
        answer = Created(
            str(header.match), header.code, header.at, header.epoch, header.state_hash, created=True
        )
        if await self._is_here(header, rows):
            return msgspec.structs.replace(answer, created=False)
        played = await self._play(header, rows)
        try:
            async with self._database.transaction() as session:
                await self._write(session, header, rows, played, account)
        except asyncpg.UniqueViolationError as error:
            # Put in by somebody else at the same moment.
            if await self._is_here(header, rows):
                return msgspec.structs.replace(answer, created=False)
            raise TransferTaken(f"another match took its place meanwhile: {error}") from error
        except asyncpg.PostgresError as error:
            raise TransferUnfit(f"the database cannot hold what the file says: {error}") from error
        return answer

    async def _is_here(self, header: Header, rows: Sequence[TransferRow]) -> bool:
        """Whether this very match is here. Raises TransferTaken where it is, and went on differently."""
        async with self._database.session() as session:
            newest = await session.fetchval(_SQL["match_of_id"], header.match)
            if newest is None:
                return False
            competitors = await session.fetch(_SQL["transfer_competitors"], header.match)
            keys = {row["party"]: row["key"] for row in competitors}
            there = await read_rows(session, header.match, newest, keys)
        if [_encode(row) for row in there] == [_encode(row) for row in rows]:
            return True
        parted = next(
            (row.seq for row, other in zip(rows, there, strict=False) if _encode(row) != _encode(other)), None
        )
        how = (
            f"they part at row {parted}"
            if parted is not None
            else f"here it has {newest} rows, the file {len(rows)}"
        )
        raise TransferTaken(
            f"the match {header.code} ({header.match}) is here already and {how}: a log is never changed; "
            "import it where it is not"
        )

    async def _play(self, header: Header, rows: Sequence[TransferRow]) -> Played:
        version = self._find(header)
        try:
            log = [_effective_row(row) for row in rows[1:]]
            events = standing(effective(log))
        except (CannotEdit, KeyError, TypeError, msgspec.MsgspecError) as error:
            raise TransferUnfit(f"the log cannot be read: {error!r}") from error
        user = f"import/{header.match}"
        self._pools.hold(version, user)
        try:
            return await self._replay(header, rows, events)
        except (CorrectionRefused, RuleFailed, SportMisbehaved) as error:
            raise TransferUnfit(f"the match's own code does not take its log: {error}") from error
        finally:
            self._pools.release(version, user)

    def _find(self, header: Header) -> str:
        try:
            version = self._versions.find(header.code_sha)
        except CodeMissing:
            here = ", ".join(
                f"{each.version} ({each.code_sha[:12]})" for each in self._versions.versions(header.sport)
            )
            raise CodeMissing(
                f"the match is scored by {header.sport} {header.sport_version} with the code_sha "
                f"{header.code_sha}, which is not installed here (here: {here or 'none'}): install that very "
                "wheel with `scorebox sport install FILE`, under the same Python, and import again"
            ) from None
        if version.sport != header.sport:
            raise TransferUnfit(f"the file is of {header.sport}, but its code_sha is of {version.sport}")
        return version.code_sha

    async def _replay(self, header: Header, rows: Sequence[TransferRow], events: list[Entry]) -> Played:
        found = await opened(self._pools, header.code_sha, bytes(rows[0].input))
        hashes = [state_hash(found.state)]
        checkpoints: list[Checkpoint] = []
        for end in range(CHECKPOINT_EVENTS, len(events) + CHECKPOINT_EVENTS, CHECKPOINT_EVENTS):
            await replay(
                self._pools,
                header.code_sha,
                events[:end],
                found,
                _refuse,
                heard=lambda _, reply: hashes.extend(reply["hashes"]),
            )
            if found.done == end:
                checkpoints.append(Checkpoint(end, events[end - 1].name.seq, found.state))
        if not events:
            await replay(self._pools, header.code_sha, events, found, _refuse)
        parted = first_difference(rows, hashes)
        if parted is not None:
            raise TransferUnfit(
                f"row {parted} carries another state hash than its log and code give: the file was changed, "
                "or its server was wrong; see `scorebox verify` there"
            )
        try:
            marks = marks_of(
                QuietRow(row.seq, row.account, row.code, _decode(row.input))
                for row in rows
                if row.code in QUIET
            )
        except CannotMark as error:
            raise TransferUnfit(f"a flag or a ruling in the log cannot be: {error}") from error
        return Played(events, found, checkpoints, marks, read_summary(found.summary))

    async def _write(
        self,
        session: Session,
        header: Header,
        rows: Sequence[TransferRow],
        played: Played,
        account: str,
    ) -> None:
        """All of the match, in the caller's transaction."""
        await session.fetchval(_OPEN["lock_openings"], header.sport)
        version = self._versions.find(header.code_sha)
        try:
            sport, _, rules = await pin(
                session,
                sport=header.sport,
                sport_name=header.sport_name,
                version=version.version,
                code_sha=header.code_sha,
                manifest=_encode(self._versions.manifest(version)).decode(),
            )
        except VersionRetired as error:
            raise VersionRetired(f"{error} here: install it again first") from error
        if await session.fetchval(_SQL["code_is_taken"], sport, header.code):
            raise TransferTaken(f"another match of {header.sport} has the code {header.code!r} here")
        competition, format_code = await find_competition(session, sport, header.competition)
        opening = _decode(rows[0].input)
        there = _present(header, opening, played.found)
        parties = await self._parties(session, sport, there, account)
        summary = played.summary
        await session.execute(
            _SQL["add_imported_fixture"],
            header.match,
            sport,
            competition,
            header.code,
            header.name,
            format_code,
            summary.status(events=len(played.events)),
            header.first_day,
            _encode(opening.get("format", {})).decode(),
            summary.result_text,
            is_official(played.marks.ruling),
            header.at,
            rules,
        )
        await _add_competitors(session, header.match, there, parties, summary.ranks)
        await session.execute(_OPEN["add_stream"], header.match)
        for first in range(0, len(rows), ROWS_AT_ONCE):
            page = [_logged(row, parties) for row in rows[first : first + ROWS_AT_ONCE]]
            await session.execute(_SQL["add_rows"], header.match, _encode(page).decode())
        await session.execute(
            _SQL["add_imported_scoreboard"],
            header.match,
            played.found.state.decode(),
            header.at,
            max(row.seq for row in rows if row.code not in QUIET),
            len(played.events),
            header.epoch,
            rules,
            header.code_sha,
            bytes.fromhex(header.state_hash),
        )
        await session.execute(
            _SQL["add_checkpoints"],
            header.match,
            header.epoch,
            header.code_sha,
            [each.position for each in played.checkpoints],
            [each.seq for each in played.checkpoints],
            [each.state.decode() for each in played.checkpoints],
            [state_hash(each.state) for each in played.checkpoints],
        )
        lines = played.found.lines
        await session.execute(
            _SQL["add_lines"],
            header.match,
            header.first_day,
            sport,
            competition,
            format_code,
            header.at,
            [parties[subject] for _, _, subject in lines],
            [role for _, role, _ in lines],
            [segment for segment, _, _ in lines],
            [values.decode() for values in lines.values()],
        )
        parts = _document(header, opening, there, played)
        await session.execute(
            _SQL["add_document"], header.match, header.at, header.epoch, list(parts), list(parts.values())
        )
        for each in header.external:
            await session.execute(
                _SQL["add_outside_ids"],
                "fixture",
                [uuid7()],
                [each.source],
                [each.id],
                [header.match],
                account,
            )

    async def _parties(
        self, session: Session, sport: UUID, there: Sequence[Competitor], account: str
    ) -> dict[str, UUID]:
        """Key → party: the same one, else one alike by type, code and name, else a new one of its own id."""
        known = await session.fetch(
            _SQL["known_parties"],
            sport,
            [each.key for each in there],
            [each.party for each in there],
            [each.type for each in there],
            [each.code for each in there],
            [each.party_name for each in there],
        )
        bound: dict[str, UUID] = {}
        for row in known:
            # Nobody is in a match twice, or his lines would be another's.
            if row["key"] not in bound and row["id"] not in bound.values():
                bound[row["key"]] = row["id"]
        new = [each for each in there if each.key not in bound]
        codes = [each.code for each in new]
        taken = {row["code"] for row in await session.fetch(_SQL["codes_taken"], sport, codes)}
        made = []
        for each in new:
            id = each.party if each.party not in bound.values() else uuid7()
            code = each.code if each.code not in taken else f"{each.code[:51]}-{id.hex[-12:]}"
            taken.add(code)
            bound[each.key] = id
            made.append((id, code, each.type, each.party_name))
        columns = [list(column) for column in zip(*made, strict=True)] or [[], [], [], []]
        await session.execute(_OPEN["add_parties"], sport, *columns)
        people = [id for id, _, kind, _ in made if kind == PERSON]
        await session.execute(_OPEN["add_party_sports"], sport, people)
        external = [(bound[each.key], outside) for each in new for outside in each.external]
        await session.execute(
            _SQL["add_outside_ids"],
            "participant",
            [uuid7() for _ in external],
            [outside.source for _, outside in external],
            [outside.id for _, outside in external],
            [party for party, _ in external],
            account,
        )
        return bound


def _refuse(entry: Entry, refusal: Mapping[str, Any]) -> bool:
    raise TransferUnfit(f"the match's own code refuses event {entry.name.seq}: {refusal['sentence']}")


def _effective_row(row: TransferRow) -> Row:
    return Row(row.seq, row.code, _decode(row.input), tuple(row.override), _decode(row.resolved))


def _present(header: Header, opening: Mapping[str, Any], found: Replayed) -> list[Competitor]:
    """Those in the match at the newest row of the file: of the opening, and who had joined. Sides first."""
    keys = {side["key"] for side in opening["sides"]}
    keys |= {player["key"] for side in opening["sides"] for player in side["players"]}
    keys |= {key for _, key, _ in found.joined}
    there = [each for each in header.competitors if each.key in keys]
    if missing := keys - {each.key for each in there}:
        raise TransferUnfit(f"the file says nothing of {', '.join(sorted(missing))}, who are in the match")
    sides = {each.key for each in there if each.side is None}
    if any(each.side is not None and each.side not in sides for each in there):
        raise TransferUnfit("a competitor's side is not in the file")
    return sorted(there, key=lambda each: each.side is not None)


async def _add_competitors(
    session: Session,
    match: UUID,
    there: Sequence[Competitor],
    parties: Mapping[str, UUID],
    ranks: Mapping[str, int],
) -> None:
    entries = {each.key: uuid7() for each in there}
    counts: dict[str | None, int] = {}
    ordinals = []
    for each in there:
        ordinals.append(counts.get(each.side, 0))
        counts[each.side] = ordinals[-1] + 1
    await session.execute(
        _SQL["add_imported_competitors"],
        match,
        [entries[each.key] for each in there],
        [parties[each.key] for each in there],
        [None if each.side is None else entries[each.side] for each in there],
        [each.key for each in there],
        [each.name for each in there],
        ordinals,
        [ranks.get(each.key) for each in there],
    )


def _logged(row: TransferRow, parties: Mapping[str, UUID]) -> dict[str, Any]:
    """A row as it is written: its before-images speak of the parties here."""
    plain: dict[str, Any] = {
        name: getattr(row, name) for name in row.__struct_fields__ if name != "lines_before"
    }
    before = [
        # Of somebody who joined after the row up to which the match was taken out there are no lines.
        {
            "participant": parties[line.subject],
            "role": line.role,
            "segment": line.segment,
            "values": line.values,
        }
        for line in row.lines_before
        if line.subject in parties
    ]
    return plain | {"lines_before": before}


def _document(
    header: Header,
    opening: Mapping[str, Any],
    there: Sequence[Competitor],
    played: Played,
) -> dict[str, str]:
    summary = played.summary
    segments = segments_of(played.found.lines)
    head = compose_head(
        match=str(header.match),
        code=header.code,
        name=header.name,
        sport=header.sport,
        status=summary.status(events=len(played.events)),
        sides=opening["sides"],
        names=msgspec.Raw(_encode({each.key: each.name for each in there})),
        summary=summary,
        marks=played.marks,
    )
    return {HEAD: head.decode()} | {name: segment.part.decode() for name, segment in segments.items()}
