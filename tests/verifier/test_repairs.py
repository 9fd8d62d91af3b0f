"""A whole server: corrections leave a match sound, what was spoiled is found and rebuilt down the road."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from config.server import Server, running
from config.settings import Settings
from gateway.protocol import Accepted, CommandFrame
from runtime.database import Database, open_database
from runtime.pool import Pools
from tests.verifier.conftest import EVENTS, SCORER, Scored, create, score, until
from tests.verifier.spoiling import spoil
from verifier.verify import verify

NEWEST = EVENTS + 1


async def command(server: Server, match: UUID | str, code: str, given: dict[str, Any]) -> Accepted:
    saw = (await server.ledger.newest_seqs([UUID(str(match))]))[UUID(str(match))]
    answer = await server.matches.command(CommandFrame(str(uuid4()), str(match), code, given, saw), SCORER)
    assert isinstance(answer, Accepted), answer
    return answer


@pytest.mark.usefixtures("no_verifier")
async def test_a_match_is_sound_after_every_kind_of_correction(
    scored: Scored, database_url: str, pools: Pools
):
    async with running(Settings(port=0, data=scored.data, database_url=database_url)) as server:
        match = await create(server)
        await score(server, match, 1, 120)
        ball = next(
            row for row in await server.ledger.log(UUID(match), 60, 30) or () if '"bat":1' in row.input
        )
        runs = json.loads(ball.input) | {"bat": 3}
        corrections: list[tuple[str, dict[str, Any]]] = [
            ("match.undo", {}),
            ("match.correct", {"event": ball.seq, "input": runs, "reason": "three", "force": True}),
            ("match.void", {"event": ball.seq + 1, "reason": "never bowled", "force": True}),
            ("match.undo", {}),
        ]
        for code, given in corrections:
            answer = await command(server, match, code, given)
            verdict = await verify(server.database, pools, match)
            assert (verdict.findings, verdict.last_seq) == ([], answer.seq), code
        reverted = await command(server, match, "match.revert", {"seq": answer.seq, "reason": "it counts"})
        verdict = await verify(server.database, pools, match)
        assert (verdict.findings, verdict.last_seq) == ([], reverted.seq)


@pytest.mark.usefixtures("no_verifier")
async def test_a_match_without_any_event_left_is_sound(scored: Scored, database_url: str, pools: Pools):
    async with running(Settings(port=0, data=scored.data, database_url=database_url)) as server:
        match = await create(server)
        assert (await verify(server.database, pools, match)).findings == []
        await score(server, match, 1, 1)
        await command(server, match, "match.undo", {})
        verdict = await verify(server.database, pools, match)
        assert (verdict.findings, verdict.events) == ([], 0)


@pytest.mark.usefixtures("no_verifier")
async def test_a_wrong_state_in_the_middle_is_found_with_the_first_event_after_it(
    scored: Scored, database_url: str, pools: Pools
):
    settings = Settings(port=0, data=scored.data, database_url=database_url)
    async with running(settings) as server:
        match = await create(server)
        await score(server, match, 1, 50)
    async with open_database(database_url) as database:
        await add_runs(database, match)
    async with running(settings) as server:
        await score(server, match, 51, 80)
        verdict = await verify(server.database, pools, match)
        assert (verdict.findings[0].what, verdict.findings[0].seq) == ("row", 52)
        assert "from event 52 (cricket." in verdict.findings[0].sentence
        assert {finding.what for finding in verdict.findings} >= {"row", "state"}
        await command(server, match, "match.rebuild", {"reason": "the state was spoiled"})
        verdict = await verify(server.database, pools, match)
        assert verdict.findings == []


@pytest.mark.usefixtures("no_verifier")
async def test_a_wrong_results_official_is_found_at_its_ruling_and_rebuilt(
    scored: Scored, database_url: str, pools: Pools
):
    async with running(Settings(port=0, data=scored.data, database_url=database_url)) as server:
        match = await create(server)
        await score(server, match, 1, 3)
        await command(server, match, "cricket.result", {"kind": "draw"})
        for code, given, official in (
            ("match.official", {}, True),
            ("match.reopen", {"reason": "the umpires met again"}, False),
            ("match.official", {}, True),
        ):
            ruled = await command(server, match, code, given)
            assert await stored_official(server.database, match) is official
            assert (await verify(server.database, pools, match)).findings == []
            await spoil_match(
                server.database, match, f"UPDATE fixture SET results_official = {not official} WHERE id = $1"
            )
            [found] = (await verify(server.database, pools, match)).findings
            said = ("official", "not official") if not official else ("not official", "official")
            assert (found.what, found.seq) == ("standing", ruled.seq)
            assert found.sentence == f"the match is stored as {said[0]}; by its log it is {said[1]}"
            await command(server, match, "match.rebuild", {"reason": "it was spoiled"})
            assert await stored_official(server.database, match) is official
            assert (await verify(server.database, pools, match)).findings == []
        await spoil_match(
            server.database,
            match,
            'UPDATE published_document SET body = replace(body::text, \'"standing":"official"\','
            " '\"standing\":\"reopened\"')::json WHERE fixture_id = $1 AND segment = ''",
        )
        [found] = (await verify(server.database, pools, match)).findings
        assert found.what == "head"
        assert 'standing is "reopened", the log says "official"' in found.sentence
        await command(server, match, "match.rebuild", {"reason": "it was spoiled"})
        assert (await verify(server.database, pools, match)).findings == []


async def stored_official(database: Database, match: str) -> bool:
    stored: bool = await database.fetchval("SELECT results_official FROM fixture WHERE id = $1", UUID(match))
    return stored


async def spoil_match(database: Database, match: str, statement: str) -> None:
    """What no server's session may do, done as the owner."""
    async with database.dedicated(role=None) as owner:
        assert await owner.execute(statement, UUID(match)) == "UPDATE 1"


async def add_runs(database: Database, match: str) -> None:
    """Gives the innings in the saved state ten runs that nobody made."""
    async with database.dedicated(role=None) as owner:
        status = await owner.execute(
            "UPDATE scoreboard SET snapshot = jsonb_set(snapshot::jsonb, '{innings,0,runs}',"
            " to_jsonb((snapshot #>> '{innings,0,runs}')::int + 10))::json WHERE fixture_id = $1",
            UUID(match),
        )
        assert status == "UPDATE 1"


SPOILED = {
    "state": "UPDATE scoreboard SET snapshot = '{}', state_hash = '\\x00' WHERE fixture_id = $MATCH",
    "line": "UPDATE stat_value SET computed = '{\"runs\":1000}' WHERE fixture_id = $MATCH"
    " AND subject_role = 'batting'",
    "surplus line": "UPDATE stat_value SET subject_role = 'umpiring' WHERE fixture_id = $MATCH"
    " AND subject_role = 'bowling'",
    "surplus part": "UPDATE published_document SET segment = 'innings-9' WHERE fixture_id = $MATCH"
    " AND segment = 'innings-1'",
    "part": "DELETE FROM published_document WHERE fixture_id = $MATCH",
    "standing": "UPDATE fixture SET results_official = true WHERE id = $MATCH",
    "checkpoint": "UPDATE scoring_checkpoint SET state = '{}' WHERE fixture_id = $MATCH",
}


@pytest.mark.parametrize("change", SPOILED.values(), ids=SPOILED.keys())
async def test_a_server_repairs_at_its_start_what_was_spoiled_while_it_was_away(
    scored: Scored, scored_url: str, pools: Pools, change: str
):
    async with open_database(scored_url) as database:
        await spoil(database, scored, change)
        found = await verify(database, pools, scored.match)
        assert found.findings
    async with running(Settings(port=0, data=scored.data, database_url=scored_url)) as server:

        def shown() -> dict[str, Any]:
            verifier: dict[str, Any] = server.matches.status(detail=True)["verifier"]
            return verifier

        await until(lambda: shown()["rounds"] == 1)
        assert (shown()["differing"], shown()["rebuilt"]) == (1, 1)
        assert server.alerts.counts["verification_failed"] == 1
        assert server.alerts.counts["rebuild_failed"] == 0
        [alert] = [each for each in server.alerts.newest() if each.kind == "verification_failed"]
        assert f"at event {found.findings[0].seq}:" in alert.sentence
        assert alert.event == found.findings[0].seq
        assert alert.over_at is not None, "the rebuild was checked again and helped"
        verdict = await verify(server.database, pools, scored.match)
        assert (verdict.findings, verdict.events) == ([], EVENTS)
        rebuilt = (await server.ledger.log(scored.match, NEWEST, 10) or [])[0]
        assert (rebuilt.code, rebuilt.source.account) == ("match.rebuild", "verifier")
