"""The background check: it finds, it tells, it sends the rebuild, and it has one owner."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
import trio

from config.server import Server, running
from config.settings import Settings
from gateway.auth import Identity
from gateway.corrections import REBUILD
from gateway.protocol import Accepted, Answer, CommandFrame, Conflict, Refused, TryAgain
from runtime.alerts import AlertBoard
from runtime.database import Database
from runtime.pool import Pools
from tests.verifier.conftest import EVENTS, Scored, create, score, until
from tests.verifier.spoiling import spoil
from verifier.actor import WHO, Verifier
from verifier.verify import verify

NEWEST = EVENTS + 1


class Road:
    """Answers commands as it was told to, the last answer for ever."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.frames: list[CommandFrame] = []
        self.asked = trio.Event()

    async def command(self, frame: CommandFrame, who: Identity) -> Answer:
        assert who == WHO
        self.frames.append(frame)
        self.asked.set()
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


REFUSED = Refused(None, "m", "does_not_fit", "event 3 would no longer fit")


@asynccontextmanager
async def checking(
    database: Database, pools: Pools, road: Road, round_every_s: float = 3600.0
) -> AsyncIterator[tuple[Verifier, AlertBoard]]:
    alerts = AlertBoard()
    verifier = Verifier(
        database=database,
        pools=pools,
        alerts=alerts,
        round_every_s=round_every_s,
        look_every_s=0.01,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(verifier.run, road)
        yield verifier, alerts
        nursery.cancel_scope.cancel()


async def test_a_sound_live_match_is_checked_at_the_start_and_nobody_is_alarmed(
    scored_database: Database, pools: Pools
):
    road = Road(REFUSED)
    async with checking(scored_database, pools, road) as (verifier, alerts):
        await until(lambda: verifier.statistics().rounds == 1)
        statistics = verifier.statistics()
        assert statistics.owner
        assert (statistics.checked, statistics.events, statistics.differing) == (1, EVENTS, 0)
        assert not alerts.counts
        assert not road.frames


async def test_a_difference_is_told_with_its_event_and_a_rebuild_is_sent(
    scored: Scored, scored_database: Database, pools: Pools
):
    await spoil(
        scored_database, scored, "UPDATE scoreboard SET state_hash = '\\x00' WHERE fixture_id = $MATCH"
    )
    road = Road(
        TryAgain(None, "m", "busy", 1),
        Conflict("i", "m", NEWEST + 1, 1),
        Accepted("i", "m", NEWEST + 2, 2, ""),
    )
    async with checking(scored_database, pools, road) as (verifier, alerts):
        await until(lambda: verifier.statistics().rounds == 1)
        assert verifier.statistics().rebuilt == 1
    assert [frame.saw for frame in road.frames] == [NEWEST, NEWEST, NEWEST + 1]
    assert {(frame.code, frame.match) for frame in road.frames} == {(REBUILD, str(scored.match))}
    assert len({frame.id for frame in road.frames}) == 1
    assert f"event {NEWEST}" in road.frames[0].input["reason"]
    # The road said it was rebuilt, and it was not: that is told, too.
    assert dict(alerts.counts) == {"verification_failed": 1, "rebuild_failed": 1}
    alert = alerts.newest()[-1]
    assert f"at event {NEWEST}" in alert.sentence
    assert alert.where in alert.sentence
    assert (alert.event, alert.over_at) == (NEWEST, None)


async def test_a_rebuild_that_is_refused_is_told(scored: Scored, scored_database: Database, pools: Pools):
    await spoil(scored_database, scored, "DELETE FROM published_document WHERE fixture_id = $MATCH")
    road = Road(REFUSED)
    async with checking(scored_database, pools, road) as (verifier, alerts):
        await until(lambda: verifier.statistics().rounds == 1)
        assert verifier.statistics().rebuilt == 0
    assert dict(alerts.counts) == {"verification_failed": 1, "rebuild_failed": 1}
    assert REFUSED.sentence in alerts.newest()[0].sentence


async def test_a_match_is_checked_at_its_end_once(scored: Scored, scored_database: Database, pools: Pools):
    await spoil(scored_database, scored, "UPDATE fixture SET status = 'COMPLETED' WHERE id = $MATCH")
    async with checking(scored_database, pools, Road(REFUSED), round_every_s=0.0) as (verifier, _):
        await until(lambda: verifier.statistics().rounds >= 3)
        assert verifier.statistics().checked == 1


async def test_after_an_install_the_live_matches_of_its_sport_are_checked_at_once(
    scored: Scored, scored_database: Database, pools: Pools
):
    version = scored.versions.current("cricket")
    assert version is not None
    async with checking(scored_database, pools, Road(REFUSED)) as (verifier, alerts):
        await until(lambda: verifier.statistics().rounds == 1)
        await spoil(
            scored_database, scored, "UPDATE scoreboard SET state_hash = '\\x00' WHERE fixture_id = $MATCH"
        )
        verifier.installed(replace(version, sport="chess"))
        await until(lambda: not verifier.behind)
        assert verifier.statistics().checked == 1, "no match of that sport is there"
        verifier.installed(version)
        await until(lambda: verifier.statistics().checked == 2)
        assert verifier.statistics().rounds == 1
    assert dict(alerts.counts) == {"verification_failed": 1, "rebuild_failed": 1}


async def test_what_had_no_verdict_is_checked_again_once_code_comes_in(
    scored: Scored, scored_database: Database, pools: Pools
):
    version = scored.versions.current("cricket")
    assert version is not None
    await spoil(
        scored_database,
        scored,
        "UPDATE fixture SET status = 'COMPLETED' WHERE id = $MATCH",
        f"UPDATE scoreboard SET code_sha = '{'0' * 64}' WHERE fixture_id = $MATCH",
    )
    async with checking(scored_database, pools, Road(REFUSED)) as (verifier, alerts):
        await until(lambda: verifier.statistics().rounds == 1)
        assert (verifier.statistics().checked, verifier.statistics().unchecked) == (0, 1)
        await spoil(
            scored_database,
            scored,
            f"UPDATE scoreboard SET code_sha = '{version.code_sha}' WHERE fixture_id = $MATCH",
        )
        verifier.installed(version)
        await until(lambda: verifier.statistics().checked == 1)
    [alert] = alerts.newest()
    assert (alert.kind, alert.over_at is None) == ("not_verified", False)


async def test_two_verifiers_have_one_owner_and_the_second_takes_over(
    monkeypatch: pytest.MonkeyPatch, scored_database: Database, pools: Pools
):
    monkeypatch.setattr("verifier.actor.OWNER_POLL_S", 0.01)
    first, second = (
        Verifier(database=scored_database, pools=pools, alerts=AlertBoard(), look_every_s=0.01)
        for _ in range(2)
    )
    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def run_first() -> None:
            with scope:
                await first.run(Road(REFUSED))

        nursery.start_soon(run_first)
        await until(lambda: first.statistics().rounds == 1)
        connects = scored_database.statistics().connects
        nursery.start_soon(second.run, Road(REFUSED))
        await until(lambda: scored_database.statistics().connects > connects)
        assert first.statistics().owner
        assert not second.statistics().owner
        scope.cancel()
        await until(lambda: second.statistics().rounds == 1)
        assert not first.statistics().owner
        nursery.cancel_scope.cancel()


async def test_missing_code_is_told_and_is_no_difference(
    scored: Scored, scored_database: Database, pools: Pools
):
    await spoil(
        scored_database, scored, f"UPDATE scoreboard SET code_sha = '{'0' * 64}' WHERE fixture_id = $MATCH"
    )
    async with checking(scored_database, pools, Road(REFUSED)) as (verifier, alerts):
        await until(lambda: verifier.statistics().rounds == 1)
        assert (verifier.statistics().unchecked, verifier.statistics().differing) == (1, 0)
    assert dict(alerts.counts) == {"not_verified": 1}
    assert "0000" in alerts.newest()[0].sentence


@asynccontextmanager
async def serving(url: str, scored: Scored) -> AsyncIterator[Server]:
    async with running(Settings(port=0, data=scored.data, database_url=url)) as server:
        yield server


async def test_commands_that_pour_in_raise_no_false_alarm(scored: Scored, database_url: str, pools: Pools):
    async with serving(database_url, scored) as server:
        match = await create(server)
        done = False
        checked = 0

        async def pour() -> None:
            nonlocal done
            await score(server, match, 1, 300)
            done = True

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pour)
            while not done:
                verdict = await verify(server.database, pools, match)
                assert verdict.findings == []
                checked += 1
        assert checked > 3
        verdict = await verify(server.database, pools, match)
        assert (verdict.findings, verdict.events) == ([], 300)


async def test_a_server_checks_and_shows_it_on_its_status(scored: Scored, scored_url: str):
    async with serving(scored_url, scored) as server:
        await until(lambda: server.matches.status(detail=True)["verifier"]["rounds"] == 1)
        shown = server.matches.status(detail=True)["verifier"]
        assert (shown["owner"], shown["checked"], shown["differing"]) == (True, 1, 0)
