"""Matches that are sound, and matches that were spoiled on purpose: each fault is found, with its event."""

import json
from typing import Any

import pytest

from runtime.database import Database
from runtime.pool import Pools
from tests.verifier.conftest import EVENTS, Scored
from tests.verifier.spoiling import spoil
from verifier.errors import NoSuchMatch
from verifier.verify import Verdict, verify

NEWEST = EVENTS + 1
"""The seq of the newest event: the opening has the first."""


def told(verdict: Verdict) -> list[tuple[str, int]]:
    return [(finding.what, finding.seq) for finding in verdict.findings]


async def test_a_sound_match_of_600_events_has_no_findings(
    scored: Scored, scored_database: Database, pools: Pools
):
    verdict = await verify(scored_database, pools, scored.match)
    assert (verdict.findings, verdict.events, verdict.last_seq) == ([], EVENTS, NEWEST)


async def test_a_wrong_state_is_found(scored: Scored, scored_database: Database, pools: Pools):
    text = await scored_database.fetchval(
        "SELECT snapshot FROM scoreboard WHERE fixture_id = $1", scored.match
    )
    state: dict[str, Any] = json.loads(text)
    wrong = json.dumps({**state, "phase": "lunch"}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    await spoil(
        scored_database,
        scored,
        f"UPDATE scoreboard SET snapshot = $x${wrong}$x$::json,"
        f" state_hash = sha256(convert_to($x${wrong}$x$, 'UTF8')) WHERE fixture_id = $MATCH",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("state", NEWEST), ("state", NEWEST)]
    assert 'phase is "lunch", the log says ' in verdict.findings[0].sentence


async def test_a_match_that_is_not_there_is_named(scored_database: Database, pools: Pools):
    with pytest.raises(NoSuchMatch, match="'nobody-v-nobody'"):
        await verify(scored_database, pools, "nobody-v-nobody")
