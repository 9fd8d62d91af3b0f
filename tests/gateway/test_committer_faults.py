"""Whatever happens between a commit and its answer, no accepted command is lost and none is doubled."""

import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import trio
import trio.testing

from gateway.committer import Committer
from gateway.ledger import Ledger
from gateway.records import CommitItem, Committed, Known, Outcome, StoredMatch
from runtime.alerts import AlertBoard
from runtime.database import Database, Session, open_database
from runtime.errors import DatabaseAway
from runtime.migrate import migrate
from runtime.postgres import embedded
from tests.conftest import MIGRATIONS
from tests.gateway.cutting_proxy import CuttingProxy, cutting_proxy
from tests.gateway.scoring import ball, opened

LIMIT_S = 60.0
BALLS_BEFORE = 5
CONNECTIONS_ENDED = 15
BALLS_AFTER = 20


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="scorebox-test-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@asynccontextmanager
async def through(url: str, folder: Path) -> AsyncIterator[tuple[CuttingProxy, Committer]]:
    """A committer whose connections go through the proxy."""
    async with (
        cutting_proxy(url, folder) as (proxy, by_proxy),
        open_database(by_proxy) as database,
        trio.open_nursery() as nursery,
    ):
        committer = Committer(database, Ledger(database), AlertBoard(), connections=1)
        await nursery.start(committer.run)
        with trio.fail_after(LIMIT_S):
            yield proxy, committer
        nursery.cancel_scope.cancel()


async def test_a_reply_lost_after_commit_is_found_by_its_id(
    database_url: str, database: Database, ledger: Ledger, folder: Path
):
    stored = await opened(ledger)
    async with through(database_url, folder) as (proxy, committer):
        assert await committer.commit(ball(stored, 1)) == Committed(2, 1)
        proxy.lose_reply = True
        item = ball(stored, 2)
        outcome = await committer.commit(item)
        assert proxy.hit.is_set()
        assert isinstance(outcome, Known)
        assert (outcome.row.seq, outcome.row.id) == (3, item.id)
        assert committer.statistics().answers_lost == 1
        assert await committer.commit(ball(stored, 3)) == Committed(4, 1)
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 4


async def test_a_request_that_never_arrived_is_not_saved(
    database_url: str, database: Database, ledger: Ledger, folder: Path
):
    stored = await opened(ledger)
    async with through(database_url, folder) as (proxy, committer):
        assert await committer.commit(ball(stored, 1)) == Committed(2, 1)
        proxy.lose_request = True
        item = ball(stored, 2)
        with pytest.raises(DatabaseAway, match="before this was saved"):
            await committer.commit(item)
        assert proxy.hit.is_set()
        assert await ledger.find(stored.match, item.id) is None
        assert await committer.commit(item) == Committed(3, 1)
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 3


async def test_a_reply_that_does_not_come_is_given_up_and_found(
    database_url: str, ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.committer.COMMIT_DEADLINE_S", 0.3)
    stored = await opened(ledger)
    async with through(database_url, folder) as (proxy, committer):
        assert await committer.commit(ball(stored, 1)) == Committed(2, 1)
        proxy.keep_reply = True
        outcome = await committer.commit(ball(stored, 2))
        assert isinstance(outcome, Known)
        assert outcome.row.seq == 3


async def test_a_call_still_running_when_it_is_given_up_cannot_commit_later(
    database: Database, ledger: Ledger, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
):
    """The fault of guessing: "not in the log" is only true once the process that may write it is gone."""
    monkeypatch.setattr("gateway.committer.COMMIT_DEADLINE_S", 0.3)
    stored = await opened(ledger)
    item = ball(stored, 1)
    committer = Committer(database, ledger, AlertBoard())
    await nursery.start(committer.run)
    async with database.transaction() as somebody:
        await somebody.fetch("SELECT fixture_id FROM scoreboard FOR UPDATE")
        with pytest.raises(DatabaseAway):
            await committer.commit(item)
    async with database.dedicated(role=None) as session:
        busy = await session.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE '%unnest(commit_batch(%'"
            " AND state <> 'idle' AND pid <> pg_backend_pid()"
        )
    assert busy == 0
    assert await ledger.find(stored.match, item.id) is None
    assert await committer.commit(item) == Committed(2, 1)


async def test_a_batch_whose_connection_is_killed_is_settled_item_by_item(database: Database, ledger: Ledger):
    matches = [await opened(ledger, f"m{n}") for n in range(8)]
    await score_under(matches, ledger, database, kill_connections)


async def kill_connections(database: Database) -> None:
    """End the committer's connections, many times, at whatever moment they are in."""
    ended = 0
    async with database.dedicated(role=None) as session:
        while ended < CONNECTIONS_ENDED:
            ended += len(
                await session.fetch(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND query LIKE '%unnest(commit_batch%'"
                    " AND pid <> pg_backend_pid()"
                )
            )


async def test_the_connection_of_lone_commands_is_neither_lost_nor_kept(
    database: Database, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
):
    """The fault: a command that waited for a lock put back the session it had begun with, long replaced."""
    used: list[Session] = []
    save = ledger.commit_on

    async def note(session: Session, items: Sequence[CommitItem], **rest: Any) -> list[Outcome]:
        if "patience_ms" not in rest and session not in used:
            used.append(session)
        return await save(session, items, **rest)

    monkeypatch.setattr(ledger, "commit_on", note)
    held, free = await opened(ledger, "held"), await opened(ledger, "free")
    committer = Committer(database, ledger, AlertBoard())
    outcomes: list[object] = []

    async def send() -> None:
        outcomes.append(await committer.commit(ball(held, 1)))

    async with trio.open_nursery() as running:
        await running.start(committer.run)
        async with trio.open_nursery() as nursery, database.transaction() as somebody:
            await somebody.fetch("SELECT id FROM fixture WHERE id = $1 FOR NO KEY UPDATE", held.match)
            nursery.start_soon(send)
            while committer.statistics().locked_retries == 0:
                await trio.sleep(0.005)
            await terminate(database, "%unnest(commit_batch%", "idle")
            assert await committer.commit(ball(free, 1)) == Committed(2, 1)
        running.cancel_scope.cancel()
    assert outcomes == [Committed(2, 1)]
    assert [session.closed for session in used] == [True, True]


async def terminate(database: Database, query: str, state: str) -> None:
    """End the connections of this database that are at such a query, or were last."""
    async with database.dedicated(role=None) as session:
        await session.fetch(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database()"
            " AND query LIKE $1 AND state = $2 AND pid <> pg_backend_pid()",
            query,
            state,
        )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_postgres_stopped_and_started_under_load(folder: Path, number: signal.Signals):
    async with embedded(folder) as url, open_database(url) as database:
        await migrate(database, MIGRATIONS)
        ledger = Ledger(database)
        matches = [await opened(ledger, f"m{n}") for n in range(8)]

        async def stop(database: Database) -> None:
            file = folder / "postgres" / "postmaster.pid"
            pid = int(file.read_text().split()[0])
            os.kill(pid, number)

        await score_under(matches, ledger, database, stop)


async def score_under(
    matches: list[StoredMatch],
    ledger: Ledger,
    database: Database,
    disturb: Callable[[Database], Awaitable[None]],
) -> None:
    """Score all matches while something disturbs, and on until all is well again; then count."""
    accepted: dict[UUID, list[object]] = {match.match: [] for match in matches}
    under_way, disturbed = trio.Event(), trio.Event()
    committer = Committer(database, ledger, AlertBoard())
    tried_again = 0

    async def score(match: StoredMatch) -> None:
        """One scorer: the same id again until it is accepted, then the next ball."""
        nonlocal tried_again
        after = 0
        while after < BALLS_AFTER:
            item = ball(match, len(accepted[match.match]) + 1)
            while True:
                try:
                    outcome = await committer.commit(item)
                    break
                except DatabaseAway:
                    tried_again += 1
                    await trio.sleep(0.01)
            assert isinstance(outcome, Committed | Known)
            accepted[match.match].append(item.id)
            if all(len(balls) >= BALLS_BEFORE for balls in accepted.values()):
                under_way.set()
            after += disturbed.is_set()

    with trio.fail_after(LIMIT_S):
        async with trio.open_nursery() as nursery:
            await nursery.start(committer.run)
            async with trio.open_nursery() as scorers:
                for match in matches:
                    scorers.start_soon(score, match)
                # In the middle of it: every match has balls behind it and more to come.
                await under_way.wait()
                await disturb(database)
                disturbed.set()
            nursery.cancel_scope.cancel()
    assert tried_again + committer.statistics().answers_lost > 0
    for match in matches:
        rows = await database.fetch(
            "SELECT seq, idempotency_key FROM timeline_item WHERE stream_id = $1 AND seq > 1 ORDER BY seq",
            match.match,
        )
        assert [row["idempotency_key"] for row in rows] == accepted[match.match]
        assert [row["seq"] for row in rows] == list(range(2, len(rows) + 2))
        saved = await ledger.load(match.match)
        assert saved is not None
        assert saved.last_seq == len(rows) + 1


async def test_what_the_server_fails_on_spoils_its_own_item_only(database: Database, ledger: Ledger):
    """A fault that is no fault of the data: here a damaged page would be one."""
    matches = [await opened(ledger, f"m{n}") for n in range(3)]
    async with database.dedicated(role=None) as owner:
        await owner.execute(
            "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'a damaged page' USING ERRCODE = 'data_corrupted'; END $$;"
            "CREATE TRIGGER fails BEFORE INSERT ON timeline_item FOR EACH ROW"
            f" WHEN (NEW.stream_id = '{matches[1].match}') EXECUTE FUNCTION fails()"
        )
    alerts = AlertBoard()
    committer = Committer(database, ledger, alerts, connections=1)
    outcomes: dict[int, object] = {}

    async def commit(number: int) -> None:
        try:
            outcomes[number] = await committer.commit(ball(matches[number], 1))
        except DatabaseAway as error:
            outcomes[number] = error

    with trio.fail_after(LIMIT_S):
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(commit, number)
            await trio.testing.wait_all_tasks_blocked()
            await nursery.start(committer.run)
            while len(outcomes) < 3:
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
    assert outcomes[0] == outcomes[2] == Committed(2, 1)
    assert isinstance(outcomes[1], DatabaseAway)
    assert "a damaged page" in str(outcomes[1])
    (alert,) = alerts.newest()
    assert (alert.kind, alert.where) == ("commit_failed", f"match {matches[1].match}")
