"""The match actor: takes one match's commands one after another, from the mailbox to "accepted".

Its memory is a cache; the database decides. It knows the state, has the sport's code judge a command in a
worker, and saves with one commit call; where the database knows better it reloads and tries again.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import trio
from uuid_utils.compat import uuid7

from gateway import road
from gateway.auth import Identity
from gateway.card import Card, Target
from gateway.committer import Committer
from gateway.correcting import Corrector, undone
from gateway.corrections import REBUILD, Undo, read
from gateway.effective import ENGINE_PREFIX, MOVE, UNDO, CannotEdit
from gateway.errors import CommitQueueFull, CorrectionRefused, Overtaken, SportMisbehaved
from gateway.failures import FAILURES, Failed, answer_to, rule_failed
from gateway.fanout import Snapshot, Topic, Update
from gateway.journal import AtWork
from gateway.ledger import Ledger
from gateway.marks import QUIET
from gateway.moving import Mover
from gateway.parking import KillKey, Parking
from gateway.protocol import Accepted, Answer, CommandFrame, Position, Refused, TryAgain
from gateway.quiet import CannotMark
from gateway.records import (
    CodeMismatch,
    CommitItem,
    Committed,
    Known,
    Locked,
    LogRow,
    Malformed,
    Source,
    Stale,
    Unknown,
)
from gateway.ruling import OFFICIAL
from gateway.service import Hear
from gateway.sink import Audience, Sink
from runtime.actor import Actor
from runtime.alerts import AlertBoard
from runtime.errors import DatabaseAway, WorkerLost
from runtime.pool import Pools
from runtime.process import CPU_ALERT_US
from runtime.stepping import Stepper
from scorebox_contract import canonical

RELOADS = 3
"""How often one command is tried anew because the database was further than memory."""
REMEMBERED_ROWS = 128
"""Newest log rows kept in memory: for ids sent again and for missed events."""
HISTORY_CARDS = 8
"""States kept for undoing the newest events."""


@dataclass(frozen=True, slots=True)
class CommandMessage:
    """One command of somebody who may send it."""

    frame: CommandFrame
    who: Identity
    received_at: datetime
    hear: Hear | None = None


@dataclass(frozen=True, slots=True)
class WatchMessage:
    """Somebody joins the watchers; answered once he has been given the document or the missed events."""

    sink: Sink
    audience: Audience
    after: Position | None


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Reload if the database is past `last_seq`: another node wrote."""

    last_seq: int


Message = CommandMessage | WatchMessage | CatchUp


class MatchActor(Actor[Message]):
    """One live match. `card` is what it knows; when that is in doubt it is read again before it is used."""

    expected = (DatabaseAway,)

    def __init__(
        self,
        card: Card,
        *,
        ledger: Ledger,
        committer: Committer,
        pools: Pools,
        stepper: Stepper,
        topic: Topic,
        alerts: AlertBoard,
    ) -> None:
        super().__init__(f"match {card.code}")
        self.match = card.match
        self.ref = str(card.match)
        self.last_active = trio.current_time()
        self._card = card
        self._in_doubt = False
        self._ledger = ledger
        self._committer = committer
        self._pools = pools
        self._stepper = stepper
        self._alerts = alerts
        self._corrector = Corrector(ledger, pools)
        self._mover = Mover(ledger, pools)
        self._rows: OrderedDict[UUID, LogRow] = OrderedDict()
        self._tail: deque[LogRow] = deque(maxlen=REMEMBERED_ROWS)
        self._history: deque[tuple[LogRow, Card]] = deque(maxlen=HISTORY_CARDS)
        """The newest events that stand, and the match before each: an undo of them replays nothing."""
        self._parking = Parking()
        self._held = (card.code_sha, f"{card.match}/{uuid7().hex}")
        self._remember(card.tail)
        self.topic = topic

    @property
    def seq(self) -> int:
        """The newest seq this actor knows."""
        return self._card.last_seq

    async def start(self) -> None:
        """Keep the sport's workers ready while the match is live."""
        self._pools.hold(*self._held)

    def _hold_workers(self) -> None:
        """After a move the workers of the new code are kept, and no longer those of the old one."""
        if self._held[0] != self._card.code_sha:
            before, self._held = self._held, (self._card.code_sha, self._held[1])
            self._pools.hold(*self._held)
            self._pools.release(*before)

    async def close(self) -> None:
        """Let go of the workers."""
        self._pools.release(*self._held)

    async def receive(self, message: Message) -> Answer | None:
        """Handle one message; the answer to a command, None to the others."""
        self.last_active = trio.current_time()
        if isinstance(message, CommandMessage):
            with AtWork(message.frame, self.ref, message.who.account):
                return await self._command(message)
        if isinstance(message, WatchMessage):
            await self._current_card(message.after.seq if message.after else 0)
            self.topic.join(message.sink, message.audience, message.after)
        elif self._card.last_seq < message.last_seq:
            await self._reload()
        return None

    async def _command(self, message: CommandMessage) -> Answer:
        frame = message.frame
        id = UUID(frame.id)
        if (row := self._rows.get(id)) is not None:
            return road.recall(frame, self.ref, row)
        if frame.code in (REBUILD, MOVE):
            # What memory has may be what is wrong.
            self._in_doubt = True
        try:
            answer = await self._score(message, id)
            # Any answer but "accepted" is given only after the id was looked up: the command may have been
            # accepted before a restart, or through another node.
            if not isinstance(answer, Accepted):
                known = await self._ledger.find(self.match, id)
                if known is not None:
                    return road.recall(frame, self.ref, known)
            return answer
        except DatabaseAway:
            self._in_doubt = True
            return TryAgain(frame.id, self.ref, "database_away", road.DATABASE_AFTER_MS)
        except CommitQueueFull:
            return TryAgain(frame.id, self.ref, "busy", road.BUSY_AFTER_MS)

    async def _score(self, message: CommandMessage, id: UUID) -> Answer:
        """Judge, step and save, anew as long as the database is further than memory."""
        frame = message.frame
        for _ in range(RELOADS):
            card = await self._current_card(frame.saw)
            # What changes no event rests on none: it is behind only where it names what never was. But who
            # makes a score official has seen it.
            events_seq = 0 if frame.code in QUIET - {OFFICIAL} else card.events_seq
            if road.is_stale(frame.saw, events_seq=events_seq, last_seq=card.last_seq):
                return road.conflict(
                    frame, self.ref, tail=self._tail, last_seq=card.last_seq, epoch=card.epoch
                )
            if (closed := road.closed(frame, self.ref, card.marks.ruling)) is not None:
                return closed
            body = canonical(frame.input)
            try:
                if frame.code in QUIET:
                    worked_out = await self._mark(message, card, id, body)
                elif frame.code.startswith(ENGINE_PREFIX):
                    worked_out = await self._correct(message, card, id, body)
                else:
                    worked_out = await self._step(message, card, id, body)
            except Overtaken:
                self._in_doubt = True
                continue
            except SportMisbehaved as error:
                self._alerts.raise_alert("sport_misbehaved", self.name, str(error))
                return rule_failed(frame.id, self.ref, frame.code, str(error))
            if not isinstance(worked_out, tuple):
                return worked_out
            item, after = worked_out
            outcome = await self._committer.commit(item)
            match outcome:
                case Committed(seq, epoch):
                    return self._accept(message, card, after, item.row(seq, epoch))
                case Known(row):
                    self._in_doubt = True
                    return road.recall(frame, self.ref, row)
                case Stale() | CodeMismatch():
                    self._in_doubt = True
                case Locked():
                    return TryAgain(frame.id, self.ref, "match_locked", road.BUSY_AFTER_MS)
                case Unknown():
                    return road.unknown_match(frame.id, self.ref)
                case Malformed(text):
                    self._alerts.raise_alert(
                        "not_saved", self.name, f"the database could not take it: {text}"
                    )
                    return Refused(
                        frame.id,
                        self.ref,
                        "not_saved",
                        "this command could not be saved; nothing was changed and an alert was raised",
                    )
        return TryAgain(frame.id, self.ref, "busy", road.BUSY_AFTER_MS)

    async def _step(
        self, message: CommandMessage, card: Card, id: UUID, body: bytes
    ) -> "tuple[CommitItem, Card] | Answer":
        """An event of the sport: what is to be saved and the card after it, or why not."""
        frame = message.frame
        key = (card.state_hash, frame.code, body)
        if self._parking.is_stuck(key):
            return road.rule_stuck(frame, self.ref)
        judged = await self._judge(frame, card, body, key)
        if not isinstance(judged, dict):
            return judged
        if judged["refusal"] is not None:
            return road.refused(frame, self.ref, judged["refusal"])
        return card.advance(
            judged,
            id=id,
            frame=frame,
            body=body,
            source=Source(message.who.account, frame.device),
            received_at=message.received_at,
        )

    async def _mark(
        self, message: CommandMessage, card: Card, id: UUID, body: bytes
    ) -> "tuple[CommitItem, Card] | Answer":
        """A flag or a ruling: what is to be saved and the card after it, or why not."""
        frame = message.frame
        try:
            if card.summary is None:
                # It was lost with the head of the document: the sport's code says it anew.
                reply = await self._pools.call(card.code_sha, "summary", {"state": card.state})
                card = card.with_summary(reply["summary"])
            return card.mark(
                id=id,
                frame=frame,
                body=body,
                source=Source(message.who.account, frame.device),
                received_at=message.received_at,
            )
        except CannotMark as error:
            return Refused(frame.id, self.ref, error.code, error.sentence, error.field or None)
        except FAILURES as error:
            return self._answer_failure(frame, (card.state_hash, frame.code, body), error)

    async def _correct(
        self, message: CommandMessage, card: Card, id: UUID, body: bytes
    ) -> "tuple[CommitItem, Card] | Answer":
        """A correction: what is to be saved and the card after it, or why not, or a preview."""
        frame = message.frame
        key = (card.state_hash, frame.code, body)
        if self._parking.is_stuck(key):
            return road.rule_stuck(frame, self.ref)
        try:
            target = self._newest_undone(frame) or await self._work_out(frame, card)
        except CorrectionRefused as error:
            await self._require_newest(card)
            return Refused(
                frame.id, self.ref, error.code, error.sentence, error.field or None, error.overridable
            )
        except trio.TooSlowError:
            return TryAgain(frame.id, self.ref, "correction_too_slow", road.CODE_AFTER_MS)
        except FAILURES as error:
            return self._answer_failure(frame, key, error)
        item, after = card.correct(
            target,
            id=id,
            frame=frame,
            body=body,
            source=Source(message.who.account, frame.device),
            received_at=message.received_at,
        )
        if frame.input.get("preview"):
            await self._require_newest(card)
            return road.preview(frame, self.ref, card, after, target.unfit)
        return item, after

    async def _require_newest(self, card: Card) -> None:
        """A correction is worked out on several reads: without a commit nothing tells that they fit together.

        Raises:
            Overtaken: another node wrote meanwhile.
        """
        newest = (await self._ledger.newest_seqs([self.match])).get(self.match)
        if newest != card.last_seq:
            raise Overtaken(f"the log is at {newest}, the correction was worked out at {card.last_seq}")

    async def _work_out(self, frame: CommandFrame, card: Card) -> Target:
        if frame.code == MOVE:
            return await self._mover.work_out(card, frame.input)
        return await self._corrector.work_out(card, frame.code, frame.input)

    def _newest_undone(self, frame: CommandFrame) -> Target | None:
        """The target of an undo of the newest event, where memory still has the match before it."""
        if frame.code != UNDO or not self._history:
            return None
        row, before = self._history[-1]
        if before.summary is None:
            # Its head was lost then: the corrector works it out.
            return None
        try:
            typed = read(frame.code, frame.input)
        except CannotEdit:
            # The corrector reads it too, and says what is wrong with it.
            return None
        assert isinstance(typed, Undo)
        if typed.event not in (None, row.seq):
            return None
        return undone(row, before)

    async def _judge(
        self, frame: CommandFrame, card: Card, body: bytes, key: KillKey
    ) -> dict[str, Any] | Refused | TryAgain:
        """Have the sport's code check and step the command; its reply, or the answer to a failure."""
        try:
            reply = await self._stepper.step(
                card.code_sha,
                {"state": card.state, "code": frame.code, "input": body, "override": frame.override},
            )
            if reply["cpu_us"] > CPU_ALERT_US:
                spent = f"{frame.code} took {reply['cpu_us'] / 1e3:.0f} ms of processor time"
                self._alerts.raise_alert("rule_slow", self.name, f"{spent}, {CPU_ALERT_US // 1000} are fine")
            return reply
        except FAILURES as error:
            return self._answer_failure(frame, key, error)

    def _answer_failure(self, frame: CommandFrame, key: KillKey, error: Failed) -> Refused | TryAgain:
        """The answer to a command that the sport's code or its workers failed on."""
        if isinstance(error, WorkerLost):
            self._parking.count(key, error)
        answer, alarm = answer_to(error, id=frame.id, match=self.ref, doing=frame.code)
        if alarm is not None:
            self._alerts.raise_alert(alarm.kind, self.name, alarm.sentence, alarm.stack)
        return answer

    def _accept(self, message: CommandMessage, before: Card, card: Card, row: LogRow) -> Answer:
        """A command is saved: whoever sent it hears of it first."""
        answer = road.accepted(message.frame.id, self.ref, row)
        if message.hear is not None:
            message.hear(answer)
        self._card = card
        self._hold_workers()
        self._parking.clear()
        self._remember((row,))
        if row.code.startswith(ENGINE_PREFIX) and row.code not in QUIET:
            if row.code == UNDO and self._history:
                self._history.pop()
            else:
                self._history.clear()
            self.topic.renew()
            return answer
        if row.code not in QUIET:
            self._history.append((row, before))
        self.topic.publish(
            Update(
                self.ref,
                card.epoch,
                card.last_seq,
                card.state_hash.hex(),
                road.log_event(row),
                card.head,
                card.touched_parts(),
            )
        )
        return answer

    def _remember(self, rows: tuple[LogRow, ...]) -> None:
        for row in rows:
            self._tail.append(row)
            if row.id is not None:
                self._rows[row.id] = row
                if len(self._rows) > REMEMBERED_ROWS:
                    self._rows.popitem(last=False)

    async def _current_card(self, seen: int) -> Card:
        """What is known of the match; read again where somebody saw more of it, through another node."""
        return await self._reload() if self._in_doubt or seen > self._card.last_seq else self._card

    async def _reload(self) -> Card:
        """Read the match again, and show watchers what happened meanwhile."""
        stored = await self._ledger.load(self.match)
        assert stored is not None, "a match is never deleted while it is live"
        self._card = card = Card.of(stored)
        self._hold_workers()
        self._in_doubt = False
        self._history.clear()
        newest = self._tail[-1].seq if self._tail else 0
        self._remember(tuple(row for row in stored.tail if row.seq > newest))
        if card.last_seq > newest:
            self.topic.renew()
        return card

    def snapshot(self) -> Snapshot:
        """The document as memory has it."""
        return self._card.snapshot()
