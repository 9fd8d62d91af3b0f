"""The rows of a match that is opened, written in the caller's transaction.

What they rest on (the sport, its version, a competition, parties) is found, or made where it is missing.
"""

from typing import NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from gateway.entrants import TEAM, Entrant, KnownParty, find_entrants
from gateway.errors import OutsideIdTaken, VersionRetired
from gateway.queries import load_blocks
from gateway.records import OpenMatch
from gateway.rows import HEAD
from runtime.database import Session

_OPEN = load_blocks("opening.sql")


class VersionRows(NamedTuple):
    """The ids of what a match is pinned to."""

    sport: UUID
    competitor_kind: str | None
    """Of the sport's sides; None where nothing says."""
    rules: UUID
    """Of the version."""


async def pin(
    session: Session, *, sport: str, sport_name: str, version: str, code_sha: str, manifest: str
) -> VersionRows:
    """The rows of a sport and of a version, made when missing; `manifest` is JSON.

    Raises:
        VersionRetired: no match may be pinned to the version any longer.
    """
    row = await session.fetchrow(_OPEN["ensure_sport"], uuid7(), sport, sport_name)
    assert row is not None, "an upsert returns its row"
    rules = await session.fetchval(_OPEN["ensure_version"], uuid7(), row["id"], version, code_sha, manifest)
    if rules is None:
        raise VersionRetired(f"{sport} {version} was retired")
    return VersionRows(row["id"], row["competitor_kind"], rules)


async def write_opening(session: Session, opening: OpenMatch) -> tuple[UUID, bool]:
    """The id of a match, and True when it was created: the same outside id gives the match that has it.

    Raises:
        OutsideIdTaken: a match of another sport has the outside id.
        VersionRetired: no match may be opened in the version any longer.
        ValueError: competitors that cannot be (see `find_entrants`).
    """
    await session.fetchval(_OPEN["lock_openings"], opening.sport)
    if opening.external_source is not None and opening.external_id is not None:
        known = await session.fetchrow(
            _OPEN["match_of_external_id"], opening.external_source, opening.external_id
        )
        if known is not None and known["sport"] != opening.sport:
            raise OutsideIdTaken(
                f"{opening.external_source} {opening.external_id!r} is a match of {known['sport']}"
            )
        if known is not None:
            return known["id"], False
    pinned = await pin(
        session,
        sport=opening.sport,
        sport_name=opening.sport_name,
        version=opening.version,
        code_sha=opening.code_sha,
        manifest=opening.manifest,
    )
    competition, format_code = await find_competition(session, pinned.sport, opening.competition)
    entrants = await _write_entrants(session, pinned.sport, pinned.competitor_kind or TEAM, opening)
    match = opening.match
    await session.execute(
        _OPEN["add_fixture"],
        match,
        pinned.sport,
        competition,
        opening.code,
        opening.name,
        format_code,
        opening.first_day,
        opening.format,
        pinned.rules,
    )
    await session.execute(
        _OPEN["add_competitors"],
        match,
        [each.id for each in entrants],
        [each.participant for each in entrants],
        [each.parent for each in entrants],
        [each.competitor.key for each in entrants],
        [each.competitor.name for each in entrants],
        [each.ordinal for each in entrants],
    )
    await session.execute(_OPEN["add_stream"], match)
    source = opening.source
    await session.execute(
        _OPEN["add_opening"],
        match,
        opening.opening,
        source.account,
        source.device,
        source.provider,
        opening.received_at,
        opening.state_hash,
    )
    await session.execute(
        _OPEN["add_scoreboard"],
        match,
        opening.state,
        pinned.rules,
        opening.code_sha,
        opening.state_hash,
    )
    parts = {HEAD: opening.head} | opening.parts
    await session.execute(_OPEN["add_parts"], match, list(parts), list(parts.values()))
    await session.execute(_OPEN["add_note"], match)
    if opening.external_source is not None and opening.external_id is not None:
        await session.execute(
            _OPEN["add_external_id"],
            uuid7(),
            opening.external_source,
            "fixture",
            opening.external_id,
            match,
            source.account,
        )
    return match, True


async def find_competition(session: Session, sport: UUID, code: str | None) -> tuple[UUID | None, str | None]:
    """A competition by its code, made when missing, and the format it prescribes."""
    if code is None:
        return None, None
    row = await session.fetchrow(_OPEN["find_competition"], sport, code)
    if row is not None:
        return row["id"], row["format_code"]
    competition = uuid7()
    await session.execute(_OPEN["add_competition"], competition, sport, code)
    return competition, None


async def _write_entrants(session: Session, sport: UUID, side_type: str, opening: OpenMatch) -> list[Entrant]:
    """Find or make the parties of a match."""
    outside = [
        (each.external_source, each.external_id)
        for each in opening.competitors
        if each.external_source is not None and each.external_id is not None
    ]
    by_external = await session.fetch(
        _OPEN["parties_by_external_id"], [source for source, _ in outside], [id for _, id in outside]
    )
    by_code = await session.fetch(_OPEN["parties_by_code"], sport, [each.key for each in opening.competitors])
    entrants = find_entrants(
        opening.competitors,
        {(row["source_code"], row["external_id"]): row["id"] for row in by_external},
        [
            KnownParty(row["id"], row["code"], row["type"], row["name"], frozenset(row["sources"]))
            for row in by_code
        ],
        side_type,
        uuid7,
    )
    if made := [each for each in entrants if each.made]:
        await session.execute(
            _OPEN["add_parties"],
            sport,
            [each.participant for each in made],
            [each.code for each in made],
            [each.type for each in made],
            [each.competitor.name for each in made],
        )
        await session.execute(_OPEN["add_party_sports"], sport, [each.participant for each in made])
    if linked := [each for each in entrants if each.linked]:
        await session.execute(
            _OPEN["add_party_external_ids"],
            [uuid7() for _ in linked],
            [each.competitor.external_source for each in linked],
            [each.competitor.external_id for each in linked],
            [each.participant for each in linked],
            opening.source.account,
        )
    return entrants
