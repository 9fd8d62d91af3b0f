"""One match verified: read, replayed under another hash seed, compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import trio

from gateway.effective import CannotEdit, effective, standing
from gateway.ledger import Ref
from runtime.database import Database
from runtime.pool import Pools
from verifier.compare import Finding, compare
from verifier.replay import replay
from verifier.saved import Saved, read_match


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a match's check. Without findings it is sound."""

    match: UUID
    code: str
    sport: str
    version: str
    last_seq: int
    events: int
    """Events that stand, all of them replayed."""
    findings: Sequence[Finding]


async def verify(database: Database, pools: Pools, ref: Ref) -> Verdict:
    """Check one match against its log. `pools` should work under another hash seed than the live ones.

    Raises:
        NoSuchMatch: there is no match of that id or code.
        NotReplayed: the code is missing, or no worker could do it.
        DatabaseAway: the database cannot be reached.
    """
    saved = await read_match(database, ref)
    try:
        events = standing(effective(saved_row.row for saved_row in saved.rows))
    except CannotEdit as error:
        return _verdict(saved, 0, [Finding("log", saved.last_seq, f"the log cannot be read: {error}")])
    await trio.lowlevel.checkpoint()
    places = {each.position for each in saved.checkpoints if each.lines is not None}
    replayed = await replay(pools, saved.code_sha, saved.opening, events, places)
    return _verdict(saved, len(events), compare(saved, events, replayed))


def _verdict(saved: Saved, events: int, findings: Sequence[Finding]) -> Verdict:
    return Verdict(saved.match, saved.code, saved.sport, saved.version, saved.last_seq, events, findings)
