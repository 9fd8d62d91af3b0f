"""Made-up matches and commands for the tests of the ledger: what the actor would hand over."""

import hashlib
import json
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

from uuid_utils.compat import uuid7

from gateway.ledger import Ledger
from gateway.records import CommitItem, LineRow, NewCompetitor, OpenMatch, Source, StoredMatch

CODE_SHA = "c0de" * 16
RECEIVED_AT = datetime(2024, 6, 1, 10, 0, tzinfo=UTC)
SIDES = ("IND", "AUS")


def text(value: Any) -> str:
    """Canonical JSON."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def digest(state: str) -> bytes:
    return hashlib.sha256(state.encode()).digest()


def opening(code: str = "m1", **changes: Any) -> OpenMatch:
    """Two sides of two players."""
    competitors = []
    for side in SIDES:
        competitors.append(NewCompetitor(side, f"Team {side}"))
        competitors += [NewCompetitor(f"{side}{n}", f"Player {n} of {side}", side) for n in (1, 2)]
    state = text({"balls": 0})
    sides: list[dict[str, Any]] = [{"key": side, "name": f"Team {side}", "players": []} for side in SIDES]
    fields: dict[str, Any] = {
        "match": uuid7(),
        "sport": "cricket",
        "sport_name": "Cricket",
        "version": "1.0.0",
        "code_sha": CODE_SHA,
        "manifest": "{}",
        "code": code,
        "name": f"Match {code}",
        "competition": "cup",
        "external_source": None,
        "external_id": None,
        "first_day": date(2024, 6, 1),
        "format": text({"overs": 20}),
        "opening": text({"sides": sides, "first_day": "2024-06-01", "format": {"overs": 20}}),
        "competitors": tuple(competitors),
        "source": Source("operator"),
        "received_at": RECEIVED_AT,
        "state": state,
        "state_hash": digest(state),
        "head": text({"score": "0/0"}),
        "parts": {},
    }
    return OpenMatch(**fields | changes)


def ball(match: StoredMatch | UUID, expect_seq: int, **changes: Any) -> CommitItem:
    """The command that gets seq `expect_seq + 1`."""
    id = match.match if isinstance(match, StoredMatch) else match
    state = text({"balls": expect_seq})
    fields: dict[str, Any] = {
        "match": id,
        "id": uuid4(),
        "expect_seq": expect_seq,
        "code_sha": CODE_SHA,
        "code": "cricket.delivery",
        "input": text({"bat": expect_seq % 7, "striker": "IND1"}),
        "override": (),
        "source": Source("scorer", "tablet-1"),
        "sent_at": "2024-06-01T08:00:00.500000Z",
        "received_at": RECEIVED_AT,
        "state": state,
        "state_hash": digest(state),
        "lines": (),
        "head": text({"score": f"{expect_seq}/0"}),
        "parts": {"innings-1": text({"balls": expect_seq})},
        "emits": ("ball",),
        "warnings": "[]",
        "status": "LIVE",
    }
    return CommitItem(**fields | changes)


def line(match: StoredMatch, key: str, runs: int, before: int | None = None) -> LineRow:
    """A batting line."""
    return LineRow(
        match.keys[key],
        "batting",
        "innings-1",
        text({"runs": runs}),
        None if before is None else text({"runs": before}),
    )


async def opened(ledger: Ledger, code: str = "m1", **changes: Any) -> StoredMatch:
    stored, created = await ledger.open_match(opening(code, **changes))
    assert created
    return stored
