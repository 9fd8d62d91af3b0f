"""A match whose document lost its head is listed, shown, marked and corrected, and loses nothing else."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from config.server import Server, running
from config.settings import Settings
from gateway.protocol import Accepted
from runtime.database import Database, open_database
from runtime.pool import Pools
from tests.verifier.conftest import Scored, create, score
from tests.verifier.test_repairs import command
from verifier.verify import verify

LOSSES = {
    "deleted": "DELETE FROM published_document WHERE fixture_id = $1 AND segment = ''",
    "damaged": 'UPDATE published_document SET body = \'{"phase":"lunch"}\''
    " WHERE fixture_id = $1 AND segment = ''",
    "alone": "DELETE FROM published_document WHERE fixture_id = $1",
}
Lose = Callable[[str], Awaitable[None]]
WON = {"kind": "won", "winner": "A", "runs": 3}

pytestmark = pytest.mark.usefixtures("no_verifier")


@pytest.fixture(params=LOSSES)
def lose(request: pytest.FixtureRequest, database_url: str) -> Lose:
    """Loses the head of a match while no server runs."""

    async def lose(match: str) -> None:
        async with open_database(database_url) as database, database.dedicated(role=None) as owner:
            status = await owner.execute(LOSSES[request.param], UUID(match))
            assert not status.endswith(" 0"), status

    return lose


async def kept(database: Database, match: str) -> list[Any]:
    """What others read of the match beside its document."""
    row = await database.fetchrow(
        "SELECT f.status, f.result, (SELECT json_agg(json_build_array(c.key, c.rank, c.result_status)"
        " ORDER BY c.key) FROM fixture_competitor c WHERE c.fixture_id = f.id) AS ranks"
        " FROM fixture f WHERE f.id = $1",
        UUID(match),
    )
    assert row is not None
    return list(row.values())


async def head(server: Server, match: str) -> dict[str, Any]:
    snapshot = await server.matches.document(match)
    assert snapshot is not None
    shown: dict[str, Any] = msgspec.json.decode(snapshot.head)
    return shown


@pytest.mark.parametrize(
    "rows",
    [
        [("match.flag", {"flag": "uncertain", "on": True, "reason": "the sheet is wet"})],
        [("match.official", {}), ("match.reopen", {"reason": "the umpires met again"})],
    ],
    ids=["a flag", "a ruling"],
)
async def test_a_mark_on_a_match_whose_head_is_lost_keeps_its_result_and_ranks(
    scored: Scored, database_url: str, pools: Pools, lose: Lose, rows: list[tuple[str, dict[str, Any]]]
):
    settings = Settings(port=0, data=scored.data, database_url=database_url)
    async with running(settings) as server:
        match = await create(server)
        await score(server, match, 1, 3)
        await command(server, match, "cricket.result", WON)
        before, shown = await kept(server.database, match), await head(server, match)
        assert (before[0], shown["result"]["winner"]) == ("COMPLETED", "A")
    await lose(match)
    async with running(settings) as server:
        for code, given in rows:
            assert isinstance(await command(server, match, code, given), Accepted)
            assert await kept(server.database, match) == before
        marked = await head(server, match)
        for name in ("sides", "result", "phase", "segment", "show", "names", "status"):
            assert marked[name] == shown[name]
        found = (await verify(server.database, pools, match)).findings
        assert "head" not in {finding.what for finding in found}


async def test_the_first_event_after_a_head_was_lost_is_undone_to_the_score_before_it(
    scored: Scored, database_url: str, lose: Lose
):
    settings = Settings(port=0, data=scored.data, database_url=database_url)
    async with running(settings) as server:
        match = await create(server)
        await score(server, match, 1, 5)
        shown = await head(server, match)
    await lose(match)
    async with running(settings) as server:
        await score(server, match, 6, 6)
        await command(server, match, "match.undo", {"reason": "not bowled yet"})
        assert await head(server, match) == shown


async def test_a_match_whose_head_is_lost_is_listed_and_shown(scored: Scored, database_url: str):
    settings = Settings(port=0, data=scored.data, database_url=database_url)
    async with running(settings) as server:
        match = await create(server)
        await score(server, match, 1, 3)
        async with server.database.dedicated(role=None) as owner:
            await owner.execute(LOSSES["deleted"], UUID(match))
        assert [each["match"] for each in await server.matches.matches(None, 10)] == [match]
        shown = await head(server, match)
        assert [side["name"] for side in shown["sides"]] == ["Side A", "Side B"]
        async with server.database.dedicated(role=None) as owner:
            await owner.execute(LOSSES["alone"], UUID(match))
        assert await head(server, match) == shown
        assert await server.matches.document("no-such-match") is None
