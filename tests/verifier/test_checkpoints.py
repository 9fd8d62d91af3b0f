"""A correction writes the checkpoints of what it replayed anew: the next one need not replay it all."""

import itertools
from typing import Any

import pytest

from bench.play import taps
from config.server import Server, running
from config.settings import Settings
from gateway.replaying import REPLAY_EVENTS
from runtime.database import Database, open_database
from runtime.pool import Pools
from tests.verifier.conftest import EVENTS, Scored
from tests.verifier.spoiling import spoil
from tests.verifier.test_corrected import Scorer
from verifier.verify import verify

EARLY, LATE = 30, 590
MIDDLE = REPLAY_EVENTS
"""The replay from event 1 on makes its first call up to here."""


async def checkpoints(database: Database, match: str) -> dict[int, tuple[int, bool]]:
    """Position → seq, and whether it holds lines."""
    rows = await database.fetch(
        "SELECT position, seq, lines IS NOT NULL AS holds FROM scoring_checkpoint WHERE fixture_id = $1",
        match,
    )
    return {row["position"]: (row["seq"], row["holds"]) for row in rows}


async def correct(scorer: Scorer, event: int) -> int:
    """Six more of the first ball from an event on that took no wicket: what follows fits all the same."""
    balls = enumerate(itertools.islice(taps(1), event - 2, EVENTS), event)
    seq, ball = next((seq, given) for seq, (_, given) in balls if "bat" in given)
    corrected = {"event": seq, "input": ball | {"bat": ball["bat"] + 6}, "reason": "he hit it"}
    return await scorer.sure("match.correct", corrected)


@pytest.mark.usefixtures("no_verifier")
async def test_checkpoints_that_no_longer_hold_are_written_anew_and_used(
    scored: Scored, scored_url: str, pools: Pools, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = str(scored.match)
    async with running(Settings(port=0, data=scored.data, database_url=scored_url)) as server:
        scorer = Scorer(server, match, EVENTS + 1)
        first = await correct(scorer, EARLY)
        kept = await checkpoints(server.database, match)
        assert {position for position in kept if position > EARLY} == {MIDDLE, 2 * MIDDLE, EVENTS}
        assert kept[MIDDLE] == (first, True)
        assert kept[EVENTS] == (first, False)
        assert (await verify(server.database, pools, match)).findings == []
        played = note_played(server, monkeypatch)
        await correct(scorer, LATE)
        assert sum(played) == EVENTS - 2 * MIDDLE, "it began at the newest checkpoint before the change"
        assert (await verify(server.database, pools, match)).findings == []
        await scorer.sure("match.undo", {})
        assert (await verify(server.database, pools, match)).findings == []


def note_played(server: Server, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collects how many events each call plays."""
    played: list[int] = []
    call = server.pools.call

    async def note(code_sha: str, op: str, payload: dict[str, Any], **how: Any) -> dict[str, Any]:
        played.append(len(payload.get("events", ())))
        return await call(code_sha, op, payload, **how)

    monkeypatch.setattr(server.pools, "call", note)
    return played


@pytest.mark.usefixtures("no_verifier")
async def test_wrong_lines_in_a_checkpoint_are_found_with_the_event_they_stand_after(
    scored: Scored, scored_url: str, pools: Pools
) -> None:
    match = str(scored.match)
    async with running(Settings(port=0, data=scored.data, database_url=scored_url)) as server:
        scorer = Scorer(server, match, EVENTS + 1)
        await correct(scorer, EARLY)
    async with open_database(scored_url) as database:
        await spoil(
            database,
            scored,
            "UPDATE scoring_checkpoint SET lines = '[]' WHERE fixture_id = $MATCH AND lines IS NOT NULL",
        )
        found = (await verify(database, pools, match)).findings
    assert [(each.what, each.seq) for each in found] == [
        ("checkpoint", MIDDLE + 1),
        ("checkpoint", 2 * MIDDLE + 1),
    ]
    async with running(Settings(port=0, data=scored.data, database_url=scored_url)) as server:
        await Scorer(server, match, EVENTS + 2).sure("match.rebuild", {"reason": "wrong lines"})
        assert (await verify(server.database, pools, match)).findings == []
