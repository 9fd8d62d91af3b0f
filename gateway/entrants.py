"""Who the sides and players of a new match are: parties found, or to be made. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from gateway.records import NewCompetitor

TEAM = "TEAM"
PERSON = "PERSON"


@dataclass(frozen=True, slots=True)
class KnownParty:
    """A party in the database that has the code asked for."""

    id: UUID
    code: str
    type: str
    name: str
    sources: frozenset[str]
    """Sources that know it under an id of theirs."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A competitor with its entry's id and its party; `made` when the party is new."""

    id: UUID
    competitor: NewCompetitor
    parent: UUID | None
    ordinal: int
    participant: UUID
    type: str
    code: str
    made: bool
    linked: bool
    """The outside id is new and is to be kept."""


def find_entrants(
    competitors: Iterable[NewCompetitor],
    by_external_id: Mapping[tuple[str, str], UUID],
    by_code: Iterable[KnownParty],
    side_type: str,
    new_id: Callable[[], UUID],
) -> list[Entrant]:
    """Bind each competitor to a party: by its outside id, else by code and name, else a new one.

    A party that the same source knows under another id is somebody else, whatever its code; so is one with
    the code and another name, for a key is local to its match. Nobody is in a match twice, or his lines would
    be another's. A code that is taken gets a tail.

    Raises:
        ValueError: a player's side is not among the competitors before him, or a key or an outside id comes
            twice.
    """
    competitors = tuple(competitors)
    known: dict[str, list[KnownParty]] = {}
    for party in by_code:
        known.setdefault(party.code, []).append(party)
    entries: dict[str, UUID] = {}
    present = {by_external_id.get(external) for each in competitors if (external := _external(each))}
    """Parties that are in the match already, or are bound by their outside ids."""
    outside: set[tuple[str, str]] = set()
    taken = set(known)
    counts: dict[str | None, int] = {}
    entrants = []
    for competitor in competitors:
        if competitor.key in entries:
            raise ValueError(f"the key {competitor.key!r} comes twice in the match")
        if competitor.side is not None and competitor.side not in entries:
            raise ValueError(
                f"{competitor.key!r} plays for {competitor.side!r}, which is no side of the match"
            )
        kind = side_type if competitor.side is None else PERSON
        external = _external(competitor)
        participant = competitor.participant
        linked = False
        if external is not None:
            if external in outside:
                raise ValueError(f"the outside id {external[1]!r} of {external[0]} comes twice in the match")
            outside.add(external)
            participant = participant or by_external_id.get(external)
            linked = participant is None
        if participant is None:
            participant = next(
                (
                    each.id
                    for each in known.get(competitor.key, ())
                    if each.id not in present and _same(each, competitor, kind)
                ),
                None,
            )
        made = participant is None
        bound_to = participant or new_id()
        code = competitor.key
        if made:
            if code in taken:
                code = f"{code[:51]}-{bound_to.hex[-12:]}"
            taken.add(code)
        present.add(bound_to)
        entries[competitor.key] = entry = new_id()
        ordinal = counts.get(competitor.side, 0)
        counts[competitor.side] = ordinal + 1
        parent = entries[competitor.side] if competitor.side is not None else None
        entrants.append(Entrant(entry, competitor, parent, ordinal, bound_to, kind, code, made, linked))
    return entrants


def _external(competitor: NewCompetitor) -> tuple[str, str] | None:
    if competitor.external_source is None or competitor.external_id is None:
        return None
    return competitor.external_source, competitor.external_id


def _same(party: KnownParty, competitor: NewCompetitor, kind: str) -> bool:
    return (
        party.type == kind
        and party.name.casefold() == competitor.name.casefold()
        and (competitor.external_source is None or competitor.external_source not in party.sources)
    )
