"""Matches that are sound, and matches that were spoiled on purpose: each fault is found, with its event."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runtime.database import Database
from runtime.pool import Pools, open_pools
from runtime.versions import VersionStore
from tests.runtime.conftest import ROGUE
from tests.runtime.rogue_calls import OPENING
from tests.verifier.conftest import EVENTS, Scored
from tests.verifier.spoiling import spoil
from verifier.errors import NoSuchMatch
from verifier.replay import VERIFIER_NICE, open_verifier_pools
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


async def first_line(database: Database, scored: Scored) -> tuple[str, str, str, dict[str, Any], int]:
    """The line of a batter who was out long ago: subject's key, role, segment, values, and its seq."""
    row = await database.fetchrow(
        "SELECT c.key, l.subject_role, l.segment, l.computed, l.last_seq FROM stat_value l"
        " JOIN fixture_competitor c ON c.fixture_id = l.fixture_id AND c.participant_id = l.subject_id"
        " WHERE l.fixture_id = $1 AND l.subject_role = 'batting' ORDER BY l.last_seq LIMIT 1",
        scored.match,
    )
    assert row is not None
    assert row["last_seq"] < NEWEST / 2
    return row["key"], row["subject_role"], row["segment"], json.loads(row["computed"]), row["last_seq"]


def line_of(key: str, role: str, segment: str) -> str:
    return (
        f"fixture_id = $MATCH AND subject_role = '{role}' AND segment = '{segment}' AND subject_id ="
        f" (SELECT participant_id FROM fixture_competitor WHERE fixture_id = $MATCH AND key = '{key}')"
    )


async def test_a_wrong_line_is_found_with_the_event_that_wrote_it(
    scored: Scored, scored_database: Database, pools: Pools
):
    key, role, segment, values, seq = await first_line(scored_database, scored)
    runs = values["runs"]
    wrong = json.dumps({**values, "runs": runs + 1})
    await spoil(
        scored_database,
        scored,
        f"UPDATE stat_value SET computed = '{wrong}' WHERE {line_of(key, role, segment)}",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("line", seq)]
    assert f"runs is {runs + 1}, the log says {runs}" in verdict.findings[0].sentence
    assert key in verdict.findings[0].sentence


async def test_a_missing_line_is_found_with_the_event_that_wrote_it(
    scored: Scored, scored_database: Database, pools: Pools
):
    key, role, segment, _, seq = await first_line(scored_database, scored)
    await spoil(scored_database, scored, f"DELETE FROM stat_value WHERE {line_of(key, role, segment)}")
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("line", seq)]
    assert "is missing" in verdict.findings[0].sentence


async def test_a_surplus_line_is_found_with_the_seq_it_pretends_to_be_of(
    scored: Scored, scored_database: Database, pools: Pools
):
    key, role, segment, _, _ = await first_line(scored_database, scored)
    columns = "occurred_on, sport_id, competition_id, format_code, computed"
    await spoil(
        scored_database,
        scored,
        "INSERT INTO stat_value (fixture_id, subject_id, subject_role, segment, last_seq,"
        f" {columns}) SELECT fixture_id, subject_id, 'umpiring', segment, 77, {columns}"
        f" FROM stat_value WHERE {line_of(key, role, segment)}",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("line", 77)]
    assert "umpiring" in verdict.findings[0].sentence


async def test_a_wrong_part_of_the_document_is_found_with_the_event_that_wrote_it(
    scored: Scored, scored_database: Database, pools: Pools
):
    segment, seq = await scored_database.fetchrow(  # type: ignore[misc]
        "SELECT segment, max(last_seq) FROM stat_value WHERE fixture_id = $1"
        " GROUP BY segment ORDER BY 2 LIMIT 1",
        scored.match,
    )
    await spoil(
        scored_database,
        scored,
        "UPDATE published_document SET body = jsonb_set(body::jsonb, '{lines,0,subject}', '\"Z9\"')::json"
        f" WHERE fixture_id = $MATCH AND segment = '{segment}'",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("part", seq)]
    assert 'lines[0].subject is "Z9", the log says ' in verdict.findings[0].sentence


async def test_missing_and_surplus_parts_of_the_document_are_found(
    scored: Scored, scored_database: Database, pools: Pools
):
    await spoil(
        scored_database,
        scored,
        "UPDATE published_document SET segment = 'innings-9', last_seq = 5"
        " WHERE fixture_id = $MATCH AND segment = (SELECT max(segment) FROM published_document"
        " WHERE fixture_id = $MATCH)",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("part", 5), ("part", NEWEST)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "UPDATE published_document SET body = jsonb_set(body::jsonb, '{sides,0,score}', '\"9/9\"')::json"
            " WHERE fixture_id = $MATCH AND segment = ''",
            'sides[0].score is "9/9", the log says ',
        ),
        ("DELETE FROM published_document WHERE fixture_id = $MATCH AND segment = ''", "lacks its head"),
    ],
)
async def test_a_wrong_head_is_found(
    scored: Scored, scored_database: Database, pools: Pools, change: str, words: str
):
    await spoil(scored_database, scored, change)
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("head", NEWEST)]
    assert words in verdict.findings[0].sentence


@pytest.mark.parametrize(
    "change", ["state_hash = '\\x00'", "state = jsonb_set(state::jsonb, '{phase}', '1')::json"]
)
async def test_a_wrong_checkpoint_is_found(
    scored: Scored, scored_database: Database, pools: Pools, change: str
):
    await spoil(
        scored_database,
        scored,
        f"UPDATE scoring_checkpoint SET {change} WHERE fixture_id = $MATCH AND position = 150",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("checkpoint", 151)]


async def test_a_checkpoint_past_the_end_is_found(scored: Scored, scored_database: Database, pools: Pools):
    await spoil(
        scored_database,
        scored,
        "UPDATE scoring_checkpoint SET position = 650 WHERE fixture_id = $MATCH AND position = 600",
    )
    verdict = await verify(scored_database, pools, scored.match)
    assert told(verdict) == [("checkpoint", NEWEST)]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("position = 599", "position"),
        ("state_hash = '\\x00'", "state"),
        ("last_seq = 600", "position"),
    ],
)
async def test_every_field_of_the_saved_state_is_looked_at(
    scored: Scored, scored_database: Database, pools: Pools, change: str, what: str
):
    await spoil(scored_database, scored, f"UPDATE scoreboard SET {change} WHERE fixture_id = $MATCH")
    verdict = await verify(scored_database, pools, scored.match)
    assert [finding.what for finding in verdict.findings] == [what]


async def test_the_workers_of_the_verifier_yield_to_the_live_ones(scored: Scored) -> None:
    version = scored.versions.current("cricket")
    assert version is not None

    async def niceness(pools: Pools) -> set[int]:
        await pools.call(version.code_sha, "ping", {})
        [pool] = pools.statistics()
        return {os.getpriority(os.PRIO_PROCESS, worker.pid) for worker in pool.workers}

    ours = os.getpriority(os.PRIO_PROCESS, 0)
    async with open_pools(scored.versions) as live, open_verifier_pools(scored.versions) as others:
        assert await niceness(live) == {ours}
        assert await niceness(others) == {VERIFIER_NICE}
        assert ours < VERIFIER_NICE


async def test_the_workers_of_the_verifier_hash_otherwise_than_the_live_ones(
    scored: Scored, pools: Pools, tmp_path: Path
):
    store = VersionStore(tmp_path)
    rogue = store.install_folder(ROGUE, "rogue", "1.0.0")

    async def seed(pools: Pools) -> str:
        opened = await pools.call(rogue.code_sha, "initial_state", {"opening": json.dumps(OPENING).encode()})
        event = ["rogue.probe", b'{"what":"surroundings"}', []]
        reply = await pools.call(
            rogue.code_sha, "replay", {"state": opened["state"], "events": [event]}, deadline_s=10
        )
        facts: list[str] = reply["emits_by_event"][0]
        return next(fact for fact in facts if fact.startswith("seed="))

    async with open_pools(store) as live, open_verifier_pools(store) as others:
        assert await seed(live) == await seed(live)
        assert await seed(live) != await seed(others)
