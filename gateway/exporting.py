"""Takes a match out of the database as a file, up to any row of its log."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from gateway.ledger import READ_ONLY, Ledger, Ref
from gateway.past import code_then
from gateway.protocol import Problem
from gateway.queries import load_blocks
from gateway.records import BeforeImage
from gateway.rows import before_images
from gateway.transfer import (
    FORMAT,
    NULL,
    VERSION,
    Competitor,
    Header,
    LineBefore,
    OutsideId,
    TransferRow,
    encode,
)
from runtime.database import Database, Session

ROWS_AT_ONCE = 500
"""Rows of a log in one read: other tasks go between."""

_SQL = load_blocks("transfer.sql")


class Exporter:
    """Reads matches whole."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger

    async def export(self, ref: Ref, at: int | None) -> bytes | Problem:
        """The file of a match up to the row `at`, or to its newest.

        The problems are unknown_match and unknown_seq.

        Raises:
            DatabaseAway: the database cannot be reached.
        """
        match = await self._ledger.resolve(ref)
        logged = [] if match is None else await self._ledger.history(match)
        if match is None or not logged:
            return Problem("unknown_match", f"there is no match {str(ref)[:64]!r}", "match")
        newest = logged[-1].seq
        at = newest if at is None else at
        if at > newest:
            return Problem("unknown_seq", f"there is no row {at}; the newest is {newest}", "at")
        now = await self._database.fetchval("SELECT code_sha FROM scoreboard WHERE fixture_id = $1", match)
        code_sha = code_then(logged, at, now)
        async with self._database.transaction(begin=READ_ONLY) as session:
            head = await session.fetchrow(_SQL["transfer_head"], match, code_sha)
            assert head is not None, "a match is never deleted"
            competitors = await session.fetch(_SQL["transfer_competitors"], match)
            parties = [row["party"] for row in competitors]
            external: dict[UUID, list[OutsideId]] = {}
            for row in await session.fetch(_SQL["transfer_external_ids"], match, parties):
                outside = OutsideId(row["source_code"], row["external_id"])
                external.setdefault(row["internal_id"], []).append(outside)
            rows = await read_rows(session, match, at, {row["party"]: row["key"] for row in competitors})
        header = Header(
            format=FORMAT,
            version=VERSION,
            match=match,
            code=head["code"],
            name=head["name"],
            sport=head["sport"],
            sport_name=head["sport_name"],
            sport_version=head["version"] or "unknown",
            code_sha=code_sha,
            first_day=head["first_day"],
            at=at,
            newest=newest,
            epoch=rows[-1].epoch,
            state_hash=rows[-1].state_hash,
            exported_at=datetime.now(UTC),
            competitors=[_competitor(row, external) for row in competitors],
            competition=head["competition"],
            external=external.get(match, []),
        )
        return encode(header, rows)


def _competitor(row: Mapping[str, Any], external: Mapping[UUID, list[OutsideId]]) -> Competitor:
    return Competitor(
        key=row["key"],
        name=row["name"],
        party=row["party"],
        type=row["type"],
        code=row["code"],
        party_name=row["party_name"],
        side=row["side"],
        external=external.get(row["party"], []),
    )


async def read_rows(session: Session, match: UUID, at: int, keys: Mapping[UUID, str]) -> list[TransferRow]:
    """The rows of a log up to `at`; `keys` are of the parties its before-images speak of."""
    rows: list[TransferRow] = []
    for first in range(1, at + 1, ROWS_AT_ONCE):
        last = min(first + ROWS_AT_ONCE - 1, at)
        rows += [_row(row, keys) for row in await session.fetch(_SQL["transfer_rows"], match, first, last)]
    return rows


def _row(row: Mapping[str, Any], keys: Mapping[UUID, str]) -> TransferRow:
    return TransferRow(
        seq=row["seq"],
        epoch=row["epoch"],
        code=row["event_type"],
        input=msgspec.Raw(row["payload"].encode()),
        account=row["actor"],
        received_at=row["received_at"],
        state_hash=row["state_hash"].hex(),
        id=row["idempotency_key"],
        override=list(row["override"]),
        device=row["device"],
        provider=row["source_code"],
        sent_at=row["sent_at"],
        emits=list(row["emits"]),
        warnings=msgspec.Raw(row["warnings"].encode()),
        lines_before=list(_lines(before_images(row["lines_before"]), keys)),
        resolved=NULL if row["resolved"] is None else msgspec.Raw(row["resolved"].encode()),
    )


def _lines(images: Iterable[BeforeImage], keys: Mapping[UUID, str]) -> Iterable[LineBefore]:
    for image in images:
        # On bytes of its own: a part of a larger text would keep all of it.
        values = msgspec.Raw(bytes(image.values))
        yield LineBefore(keys[image.participant], image.role, image.segment, values)
