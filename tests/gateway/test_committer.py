from uuid import UUID

import pytest
import trio
import trio.testing

from gateway.committer import Committer
from gateway.errors import CommitQueueFull
from gateway.ledger import Ledger
from gateway.records import CommitItem, Committed, Known, Locked, Malformed, Outcome, Stale
from runtime.alerts import AlertBoard
from runtime.database import Database, open_database
from runtime.errors import DatabaseAway
from tests.gateway.scoring import ball, opened


@pytest.fixture
async def committer(database: Database, ledger: Ledger, nursery: trio.Nursery) -> Committer:
    committer = Committer(database, ledger, AlertBoard())
    await nursery.start(committer.run)
    return committer


async def test_a_command_alone_is_saved(committer: Committer, ledger: Ledger):
    stored = await opened(ledger)
    assert await committer.commit(ball(stored, 1)) == Committed(2, 1)
    assert committer.statistics().largest_batch == 1


async def test_commands_that_come_together_share_calls(database: Database, ledger: Ledger):
    matches = [await opened(ledger, f"m{n}") for n in range(20)]
    committer = Committer(database, ledger, AlertBoard(), connections=1, batch_limit=8)
    outcomes: list[Outcome] = []

    async def send(item: CommitItem) -> None:
        outcomes.append(await committer.commit(item))

    async with trio.open_nursery() as senders, trio.open_nursery() as nursery:
        for match in matches:
            senders.start_soon(send, ball(match, 1))
        await trio.testing.wait_all_tasks_blocked()
        assert committer.statistics().waiting == 20
        await nursery.start(committer.run)
        while len(outcomes) < 20:
            await trio.sleep(0.005)
        nursery.cancel_scope.cancel()
    assert outcomes == [Committed(2, 1)] * 20
    statistics = committer.statistics()
    assert (statistics.calls, statistics.items, statistics.largest_batch) == (3, 20, 8)


async def test_a_match_is_in_a_batch_once(database: Database, ledger: Ledger):
    stored = await opened(ledger)
    committer = Committer(database, ledger, AlertBoard(), connections=1)
    outcomes: list[Outcome] = []

    async def send(item: CommitItem) -> None:
        outcomes.append(await committer.commit(item))

    async with trio.open_nursery() as senders, trio.open_nursery() as nursery:
        for _ in range(3):
            senders.start_soon(send, ball(stored, 1))
        await trio.testing.wait_all_tasks_blocked()
        await nursery.start(committer.run)
        while len(outcomes) < 3:
            await trio.sleep(0.005)
        nursery.cancel_scope.cancel()
    assert sorted(outcomes, key=repr) == [Committed(2, 1), Stale(2), Stale(2)]
    assert committer.statistics().calls == 3


async def test_a_bad_command_spoils_no_other(committer: Committer, ledger: Ledger):
    matches = [await opened(ledger, f"m{n}") for n in range(6)]
    outcomes: dict[int, Outcome] = {}

    async def send(number: int, item: CommitItem) -> None:
        outcomes[number] = await committer.commit(item)

    async with trio.open_nursery() as nursery:
        for number, match in enumerate(matches):
            changes = {"state": "{"} if number == 2 else {}
            nursery.start_soon(send, number, ball(match, 1, **changes))
    assert isinstance(outcomes.pop(2), Malformed)
    assert set(outcomes.values()) == {Committed(2, 1)}


async def test_a_held_match_waits_alone_while_others_go_on(
    committer: Committer, ledger: Ledger, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.committer.LOCK_PATIENCE_MS", 10_000)
    held, free = await opened(ledger, "held"), await opened(ledger, "free")
    outcomes: list[Outcome] = []

    async def send() -> None:
        outcomes.append(await committer.commit(ball(held, 1)))

    async with trio.open_nursery() as nursery, database.transaction() as somebody:
        await somebody.fetch("SELECT id FROM fixture WHERE id = $1 FOR NO KEY UPDATE", held.match)
        nursery.start_soon(send)
        for seq in range(1, 6):
            assert await committer.commit(ball(free, seq)) == Committed(seq + 1, 1)
        while committer.statistics().locked_retries == 0:
            await trio.sleep(0.005)
        assert outcomes == []
    assert outcomes == [Committed(2, 1)]


async def test_a_match_held_too_long_is_locked(
    committer: Committer, ledger: Ledger, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.committer.LOCK_PATIENCE_MS", 20)
    stored = await opened(ledger)
    async with database.transaction() as somebody:
        await somebody.fetch("SELECT id FROM fixture FOR NO KEY UPDATE")
        assert await committer.commit(ball(stored, 1)) == Locked()
    assert await committer.commit(ball(stored, 1)) == Committed(2, 1)


async def test_a_full_queue_says_so(database: Database, ledger: Ledger):
    stored = await opened(ledger)
    committer = Committer(database, ledger, AlertBoard(), queue_limit=2)
    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(committer.commit, ball(stored, 1))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(CommitQueueFull):
            await committer.commit(ball(stored, 1))
        nursery.cancel_scope.cancel()


async def test_ids_are_known_after_a_restart(database: Database, ledger: Ledger):
    stored = await opened(ledger)
    item = ball(stored, 1)
    for _ in range(2):
        async with trio.open_nursery() as nursery:
            committer = Committer(database, ledger, AlertBoard())
            await nursery.start(committer.run)
            last = await committer.commit(item)
            nursery.cancel_scope.cancel()
    assert isinstance(last, Known)
    assert last.row.id == item.id
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 2


async def test_without_a_database_the_answer_is_away(tmp_path, nursery: trio.Nursery):
    async with open_database(f"postgresql://scorebox@/scorebox?host={tmp_path}") as database:
        ledger = Ledger(database)
        committer = Committer(database, ledger, AlertBoard())
        await nursery.start(committer.run)
        with pytest.raises(DatabaseAway):
            await committer.commit(ball(UUID(int=1), 1))
        nursery.cancel_scope.cancel()
