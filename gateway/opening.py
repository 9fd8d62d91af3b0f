"""Opening a match: from a create request and the worker's first state to what is saved. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID

import msgspec

from gateway.document import compose_head
from gateway.marks import UNMARKED
from gateway.protocol import CreateMatch
from gateway.records import NewCompetitor, OpenMatch, Source
from gateway.summary import read_summary

CODE_LIMIT_CHARACTERS = 48
"""Of a code that is made here; a typed one may have 64."""

_encode = msgspec.json.Encoder().encode


def make_code(name: str, first_day: str, match: UUID) -> str:
    """A human code for a match without one: "england-v-new-zealand-2019-07-14-3f9a"."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    tail = f"{first_day}-{match.hex[-6:]}"
    return f"{slug[: CODE_LIMIT_CHARACTERS - len(tail) - 1].strip('-') or 'match'}-{tail}"


def open_match(
    body: CreateMatch,
    reply: Mapping[str, Any],
    *,
    match: UUID,
    manifest: Mapping[str, Any],
    version: str,
    code_sha: str,
    source: Source,
    received_at: datetime,
) -> OpenMatch:
    """What to save for a create request, given the worker's reply to `initial_state`.

    The frozen opening is the worker's canonical form of the request's; sides and players come from it.
    """
    opening = msgspec.json.decode(reply["opening"])
    people = body.people or {}
    competitors = []
    for side in opening["sides"]:
        competitors.append(_competitor(side, None, people))
        competitors.extend(_competitor(player, side["key"], people) for player in side["players"])
    summary = read_summary(reply["summary"])
    code = body.code or make_code(body.name, opening["first_day"], match)
    head = compose_head(
        match=str(match),
        code=code,
        name=body.name,
        sport=body.sport,
        status=summary.status(events=0),
        sides=opening["sides"],
        names=msgspec.Raw(_encode({competitor.key: competitor.name for competitor in competitors})),
        summary=summary,
        marks=UNMARKED,
    )
    return OpenMatch(
        match=match,
        sport=body.sport,
        sport_name=manifest["name"],
        version=version,
        code_sha=code_sha,
        code=code,
        name=body.name,
        competition=body.competition,
        external_source=body.external.source if body.external else None,
        external_id=body.external.id if body.external else None,
        first_day=date.fromisoformat(opening["first_day"]),
        format=_encode(opening.get("format", {})).decode(),
        opening=reply["opening"].decode(),
        competitors=tuple(competitors),
        source=source,
        received_at=received_at,
        state=reply["state"].decode(),
        state_hash=reply["state_hash"],
        head=head.decode(),
        parts={},
        manifest=_encode(manifest).decode(),
    )


def _competitor(entry: Mapping[str, Any], side: str | None, people: Mapping[str, Any]) -> NewCompetitor:
    outside = people.get(entry["key"])
    return NewCompetitor(
        key=entry["key"],
        name=entry["name"],
        side=side,
        external_source=outside.source if outside else None,
        external_id=outside.id if outside else None,
    )
