"""A command that is with the committer is carried out, whoever is cancelled."""

import pytest
import trio
import trio.testing

from gateway.committer import Committer
from gateway.ledger import Ledger
from gateway.records import CommitItem, Committed, Known, Outcome
from runtime.alerts import AlertBoard
from runtime.database import Database
from runtime.errors import DatabaseAway
from tests.gateway.scoring import ball, opened


async def test_a_sender_who_is_cancelled_does_not_stop_his_command(
    database: Database, ledger: Ledger, nursery: trio.Nursery
):
    stored = await opened(ledger)
    item = ball(stored, 1)
    committer = Committer(database, ledger, AlertBoard())
    with trio.CancelScope() as scope:
        scope.cancel()
        await committer.commit(item)
    assert scope.cancelled_caught
    await nursery.start(committer.run)
    while (row := await ledger.find(stored.match, item.id)) is None:
        await trio.sleep(0.005)
    assert row.seq == 2
    assert await committer.commit(item) == Known(row)


async def test_a_call_that_runs_is_finished_when_the_committer_stops(database: Database, ledger: Ledger):
    stored = await opened(ledger)
    outcomes: list[Outcome] = []

    async def send() -> None:
        outcomes.append(await committer.commit(ball(stored, 1)))

    async with trio.open_nursery() as senders, trio.open_nursery() as nursery:
        committer = Committer(database, ledger, AlertBoard())
        await nursery.start(committer.run)
        async with database.transaction() as somebody:
            # The call hangs on a row other than the match's: it has begun and cannot skip it.
            await somebody.fetch("SELECT fixture_id FROM scoreboard FOR UPDATE")
            senders.start_soon(send)
            while committer.statistics().in_call == 0:
                await trio.sleep(0.005)
            nursery.cancel_scope.cancel()
            await trio.testing.wait_all_tasks_blocked()
            assert outcomes == []
    assert outcomes == [Committed(2, 1)]


async def test_what_still_waits_when_the_committer_stops_hears_of_it(database: Database, ledger: Ledger):
    stored = await opened(ledger)
    committer = Committer(database, ledger, AlertBoard())
    errors: list[DatabaseAway] = []

    async def send(item: CommitItem) -> None:
        with pytest.raises(DatabaseAway) as away:
            await committer.commit(item)
        errors.append(away.value)

    async with trio.open_nursery() as senders:
        for _ in range(3):
            senders.start_soon(send, ball(stored, 1))
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as nursery:
            nursery.cancel_scope.cancel()
            nursery.start_soon(committer.run)
    assert len(errors) == 3
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 1
    with pytest.raises(DatabaseAway, match="stopped"):
        await committer.commit(ball(stored, 1))


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, 13, 21])
async def test_stopping_at_any_moment_leaves_every_command_once_or_not_at_all(
    database: Database, ledger: Ledger, after: int
):
    stored = [await opened(ledger, f"m{n}") for n in range(4)]
    answered: dict[str, int] = {match.code: 1 for match in stored}
    committer = Committer(database, ledger, AlertBoard())

    async def score(number: int) -> None:
        match = stored[number]
        try:
            while True:
                outcome = await committer.commit(ball(match, answered[match.code]))
                assert isinstance(outcome, Committed)
                answered[match.code] = outcome.seq
        except DatabaseAway:
            pass

    async with trio.open_nursery() as scorers, trio.open_nursery() as nursery:
        await nursery.start(committer.run)
        for number in range(4):
            scorers.start_soon(score, number)
        await trio.sleep(after / 1000)
        nursery.cancel_scope.cancel()
    for match in stored:
        after_all = await ledger.load(match.match)
        assert after_all is not None
        assert after_all.last_seq == answered[match.code]
