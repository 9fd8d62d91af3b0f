"""The committer: while one commit call runs, the next batch gathers (design 6).

Commands of different matches share a call, a transaction and a disk flush. What a call did is never
guessed: when its answer is lost, the server process that had it is seen gone and every command is looked up
by its id.
"""

import time
import traceback
from collections import deque
from dataclasses import dataclass, field
from uuid import UUID

import structlog
import trio

from gateway.errors import CommitQueueFull
from gateway.journal import named
from gateway.ledger import Ledger
from gateway.records import CommitItem, Known, Locked, Outcome
from runtime.alerts import AlertBoard
from runtime.database import Database, Session
from runtime.errors import AnswerLost, DatabaseAway

BATCH_LIMIT_ITEMS = 32
CONNECTIONS = 2
"""Calls that run side by side: while one waits for the disk the other computes."""
SHARE_LEAST_ITEMS = 8
"""Fewer than this are not shared out among idle connections: a call costs more than some items."""
QUEUE_LIMIT_ITEMS = 1_024
COMMIT_DEADLINE_S = 5.0
"""One call; past it the socket is closed and the items are looked up."""
LOCK_PATIENCE_MS = 500
"""How long a match that somebody else holds is waited for, on a connection of its own."""
LOCK_RETRIES_AT_ONCE = 4
SETTLE_DEADLINE_S = 6.0
"""How long a lost answer is looked for; past it the sender hears "try again" and its id decides."""
SETTLE_PAUSE_S = 0.05

log = structlog.get_logger("scorebox.committer")


@dataclass(frozen=True, slots=True)
class CommitterStatistics:
    """What the status page and tests read."""

    waiting: int
    in_call: int
    calls: int
    items: int
    largest_batch: int
    locked_retries: int
    answers_lost: int
    last_call_ms: float


@dataclass(slots=True)
class _Waiting:
    """An item on its way and whoever waits for it."""

    item: CommitItem
    done: trio.Event = field(default_factory=trio.Event)
    outcome: Outcome | None = None
    error: Exception | None = None

    def settle(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.done.set()

    def fail(self, error: Exception) -> None:
        self.error = error
        self.done.set()


def _match_of(waiting: _Waiting) -> UUID:
    return waiting.item.match


class Committer:
    """Groups commits. `run` must be running for anything to be saved."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        alerts: AlertBoard,
        *,
        connections: int = CONNECTIONS,
        batch_limit: int = BATCH_LIMIT_ITEMS,
        queue_limit: int = QUEUE_LIMIT_ITEMS,
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._alerts = alerts
        self._connections = connections
        self._batch_limit = batch_limit
        self._queue_limit = queue_limit
        self._queue: deque[_Waiting] = deque()
        self._in_call = 0
        self._idle = 0
        self._stopped = False
        self._nursery: trio.Nursery | None = None
        self._lone: Session | None = None
        self._wake: deque[trio.lowlevel.Task] = deque()
        self._retries = trio.Semaphore(LOCK_RETRIES_AT_ONCE)
        self._calls = self._items = self._largest = self._locked = self._lost = 0
        self._last_call_ms = 0.0

    async def commit(self, item: CommitItem) -> Outcome:
        """Save one command, together with others that come at the same time.

        Once it is with the committer it is carried out whether or not the caller is cancelled meanwhile.

        Raises:
            CommitQueueFull: too many wait already.
            DatabaseAway: the database cannot be reached, or what became of the command could not be found
                out; sending the same id again finds out.
        """
        if self._stopped:
            raise DatabaseAway("the committer has stopped")
        if len(self._queue) >= self._queue_limit:
            raise CommitQueueFull(f"{len(self._queue)} commits wait already")
        waiting = _Waiting(item)
        if item.correction is not None and self._nursery is not None:
            # A correction is rare and writes much: it goes alone, beside the batches.
            self._nursery.start_soon(self._save_patiently, waiting)
        elif self._nursery is not None and not self._queue and not self._in_call:
            await self._save_lone(waiting)
        else:
            self._queue.append(waiting)
            if self._wake:
                trio.lowlevel.reschedule(self._wake.popleft())
        if not waiting.done.is_set():
            await waiting.done.wait()
        if waiting.error is not None:
            raise DatabaseAway(str(waiting.error)) from waiting.error
        assert waiting.outcome is not None, "a settled item has an outcome"
        return waiting.outcome

    def statistics(self) -> CommitterStatistics:
        """Queue, calls and batches so far."""
        return CommitterStatistics(
            len(self._queue),
            self._in_call,
            self._calls,
            self._items,
            self._largest,
            self._locked,
            self._lost,
            self._last_call_ms,
        )

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Save until cancelled; a call that runs is finished first, what waits is told to try again."""
        self._stopped = False
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                for _ in range(self._connections):
                    nursery.start_soon(self._serve, nursery)
                task_status.started()
        finally:
            self._stopped = True
            self._nursery = None
            if not self._in_call:
                await self._close_lone()
            while self._queue:
                self._queue.popleft().fail(DatabaseAway("the committer is stopping"))

    async def _save_lone(self, waiting: _Waiting) -> None:
        """Save the only command there is, in the task that brought it and on a connection kept for that.

        With no other to share a call with, handing it to another task would only cost two turns of the loop.
        Commands that come meanwhile gather as ever.
        """
        self._lone, locked = await self._save([waiting], self._lone)
        if self._stopped:
            await self._close_lone()
        for one in locked:
            await self._save_patiently(one)

    async def _close_lone(self) -> None:
        session, self._lone = self._lone, None
        if session is not None:
            with trio.CancelScope(shield=True):
                await session.close()

    async def _serve(self, nursery: trio.Nursery) -> None:
        """One connection: take what waits, save it, again."""
        session: Session | None = None
        try:
            while True:
                await trio.lowlevel.checkpoint_if_cancelled()
                self._idle += 1
                try:
                    batch = await self._next_batch()
                finally:
                    self._idle -= 1
                session, locked = await self._save(batch, session)
                for one in locked:
                    nursery.start_soon(self._save_patiently, one)
        finally:
            if session is not None:
                await session.close()

    async def _next_batch(self) -> list[_Waiting]:
        """What waits now: at most a batch, a fair share of it where other connections idle, no match twice.

        In the order of the matches' ids, so that two calls never wait for each other crosswise.
        """
        while not self._queue:
            task = trio.lowlevel.current_task()
            self._wake.append(task)

            def abort(_: object, task: trio.lowlevel.Task = task) -> trio.lowlevel.Abort:
                self._wake.remove(task)
                return trio.lowlevel.Abort.SUCCEEDED

            await trio.lowlevel.wait_task_rescheduled(abort)
        share = -(-len(self._queue) // self._idle)
        limit = min(max(share, SHARE_LEAST_ITEMS), self._batch_limit)
        batch: list[_Waiting] = []
        matches: set[UUID] = set()
        again: list[_Waiting] = []
        while self._queue and len(batch) < limit:
            waiting = self._queue.popleft()
            if waiting.item.match in matches:
                again.append(waiting)
                continue
            matches.add(waiting.item.match)
            batch.append(waiting)
        self._queue.extendleft(reversed(again))
        if self._queue and self._wake:
            trio.lowlevel.reschedule(self._wake.popleft())
        batch.sort(key=_match_of)
        return batch

    async def _save(
        self, batch: list[_Waiting], session: Session | None
    ) -> tuple[Session | None, list[_Waiting]]:
        """One call: every item is settled or failed, but for those that somebody else has locked.

        Whoever is cancelled meanwhile waits for its end: the call itself is shielded, and so is all else.
        Gives back the session, where it may be used again, and the locked ones.
        """
        started = time.perf_counter()
        refused: Exception | None = None
        self._in_call += len(batch)
        try:
            if session is None or session.closed:
                session = await self._database.connect(shield=True)
            outcomes = await self._ledger.commit_on(
                session, [waiting.item for waiting in batch], deadline_s=COMMIT_DEADLINE_S
            )
        except AnswerLost as error:
            self._lost += 1
            log.warning("commit_answer_lost", commands=[named(each.item) for each in batch], error=str(error))
            with trio.CancelScope(shield=True):
                await self._look_up(batch, error)
            return None, []
        except DatabaseAway as error:
            for waiting in batch:
                waiting.fail(error)
            return session, []
        except Exception as error:
            # The call as a whole failed: a fault of ours or of the database's. Nothing was saved.
            refused = error
        finally:
            self._in_call -= len(batch)
            self._last_call_ms = (time.perf_counter() - started) * 1000
        if refused is not None:
            return await self._save_apart(batch, refused, session)
        self._calls += 1
        self._items += len(batch)
        self._largest = max(self._largest, len(batch))
        locked = []
        for waiting, outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, Locked):
                locked.append(waiting)
            else:
                waiting.settle(outcome)
        self._locked += len(locked)
        return session, locked

    async def _save_apart(
        self, batch: list[_Waiting], refused: Exception, session: Session | None
    ) -> tuple[Session | None, list[_Waiting]]:
        """The items of a refused call one by one: whatever one of them met with is its own."""
        if len(batch) == 1:
            self._refuse(batch[0], refused)
            return session, []
        locked = []
        for waiting in batch:
            session, still = await self._save([waiting], session)
            locked += still
        return session, locked

    def _refuse(self, waiting: _Waiting, refused: Exception) -> None:
        """The database would not have this one item: a full disk, or a fault of ours."""
        stack = "".join(traceback.format_exception(refused))
        log.error("commit_refused", error=str(refused), **named(waiting.item))
        self._alerts.raise_alert(
            "commit_failed", f"match {waiting.item.match}", f"the database refused a commit: {refused}", stack
        )
        waiting.fail(DatabaseAway(f"the database refused this: {refused}"))

    async def _save_patiently(self, waiting: _Waiting) -> None:
        """An item of a match that somebody else holds: alone, waiting for the lock."""
        with trio.CancelScope(shield=True):
            try:
                async with self._retries, self._database.session() as session:
                    outcomes = await self._ledger.commit_on(
                        session, [waiting.item], patience_ms=LOCK_PATIENCE_MS, deadline_s=COMMIT_DEADLINE_S
                    )
                waiting.settle(outcomes[0])
            except AnswerLost as error:
                self._lost += 1
                log.warning("commit_answer_lost", commands=[named(waiting.item)], error=str(error))
                await self._look_up([waiting], error)
            except DatabaseAway as error:
                waiting.fail(error)
            except Exception as error:
                self._refuse(waiting, error)

    async def _look_up(self, batch: list[_Waiting], lost: AnswerLost) -> None:
        """Find out by its id what became of each item of a call whose answer was lost.

        An item whose id is in the log was saved. One whose id is not there was not: its sender may try
        again at once.
        """
        error: DatabaseAway = lost
        pending = list(batch)
        with trio.move_on_after(SETTLE_DEADLINE_S):
            while pending:
                try:
                    await self._database.fence(lost.backend)
                    while pending:
                        waiting = pending[0]
                        row = await self._ledger.find(waiting.item.match, waiting.item.id)
                        log.info("commit_looked_up", saved=row is not None, **named(waiting.item))
                        if row is None:
                            waiting.fail(DatabaseAway("the database went away before this was saved"))
                        else:
                            waiting.settle(Known(row))
                        pending.pop(0)
                except DatabaseAway as away:
                    error = away
                    await trio.sleep(SETTLE_PAUSE_S)
        for waiting in pending:
            log.error("commit_in_doubt", error=str(error), **named(waiting.item))
            waiting.fail(error)
