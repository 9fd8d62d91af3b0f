"""The live matches of this node: starts a match's actor on the first command or watcher, stops it when idle.

It is the service behind the edge. A match's actor that fails is started anew on the next command; one
that fails too often rests, and its siblings go on.
"""

import math
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
import structlog
import trio

from gateway import road
from gateway.admission import TURNED_AWAY, Admission, TurnedAway
from gateway.auth import Identity
from gateway.card import Card
from gateway.committer import Committer
from gateway.effective import Name
from gateway.fanout import FanOut, Snapshot, Topic
from gateway.health import Health
from gateway.journal import AtWork, journal
from gateway.ledger import Ledger
from gateway.match import CatchUp, CommandMessage, MatchActor, WatchMessage
from gateway.opener import Opener
from gateway.past import Past
from gateway.protocol import (
    Accepted,
    Answer,
    CommandFrame,
    Created,
    CreateMatch,
    EventHistory,
    LogEvent,
    Position,
    Problem,
    Refused,
    TryAgain,
)
from gateway.records import StoredMatch
from gateway.rows import parse_id
from gateway.service import Hear
from gateway.sink import Audience, Sink
from runtime.alerts import AlertBoard
from runtime.errors import ActorError, DatabaseAway
from runtime.pool import Pools
from runtime.stepping import Stepper
from runtime.supervisor import REST_S, Intensity
from runtime.vigil import Vigil

ASK_DEADLINE_S = 15.0
"""How long a command may wait for its answer, mailbox included; then the client sends its id again."""
SWEEP_EVERY_S = 15.0
EXPIRE_EVERY_S = 1.0
FOLLOW_EVERY_S = 1.0
"""How often the database is asked whether another node wrote to a match that is live here."""
ACTORS_LIMIT = 2_000
"""Matches in memory at once."""
LOADING = "loading"
LOADS_AT_ONCE = 10
"""Matches read from the database at the same time."""
LOADS_WAITING = 16
"""Matches that wait for that; a command for one more is told when to come back."""

log = structlog.get_logger("scorebox.matches")


class Matches:
    """All matches this node has in memory. `run` must be running for it to answer."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        committer: Committer,
        pools: Pools,
        stepper: Stepper,
        fan_out: FanOut,
        opener: Opener,
        alerts: AlertBoard,
        health: Health,
        admission: Admission,
        vigil: Vigil,
        memory_mark_bytes: int,
        idle_s: float,
    ) -> None:
        self._ledger = ledger
        self._committer = committer
        self._pools = pools
        self._stepper = stepper
        self._fan_out = fan_out
        self._opener = opener
        self._alerts = alerts
        self._health = health
        self._admission = admission
        self._vigil = vigil
        self._memory_mark_bytes = memory_mark_bytes
        self._idle_s = idle_s
        self._past = Past(ledger, pools)
        self._actors: dict[UUID, MatchActor] = {}
        self._topics: dict[UUID, Topic] = {}
        self._newest: dict[UUID, MatchActor] = {}
        """The actor that a match's topic reads the document from; it may have failed since."""
        self._refs: dict[str, UUID] = {}
        """Code (or sport:code) of a live match → its id."""
        self._loading: dict[UUID | str, trio.Event] = {}
        self._loads = trio.CapacityLimiter(LOADS_AT_ONCE)
        self._failures: dict[UUID, Intensity] = {}
        self._resting: dict[UUID, float] = {}
        self._nursery: trio.Nursery | None = None
        self._draining = False
        self._quiet = trio.Event()
        self._quiet.set()
        self.commands = 0

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the actors; ends when cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._sweep)
            nursery.start_soon(self._follow)
            nursery.start_soon(self._expire)
            task_status.started()

    async def drain(self) -> None:
        """Take no more commands and wait until those in flight are answered. Give it a deadline."""
        self._draining = True
        await self._quiet.wait()

    async def command(self, frame: CommandFrame, who: Identity, hear: Hear | None = None) -> Answer:
        """One command down the road. `who` was already found to be allowed to send it.

        `hear` is given the answer to a command that is saved, before this returns it.
        """
        saved: Accepted | None = None

        def note(answer: Accepted) -> None:
            nonlocal saved
            saved = answer
            if hear is not None:
                hear(answer)

        started = trio.current_time()
        self.commands += 1
        if self._draining:
            answer: Answer = TryAgain(frame.id, frame.match, "draining", road.DRAIN_AFTER_MS)
        elif (away := self._admission.enter(who.account, started)) is not None:
            answer = TryAgain(frame.id, frame.match, away.reason, math.ceil(away.wait_s * 1_000))
        else:
            answer = await self._carry(CommandMessage(frame, who, datetime.now(UTC), note))
        # Whatever fails once it is saved does not take it back.
        answer = saved or answer
        journal.told(frame, who.account, answer, trio.current_time() - started)
        return answer

    async def _carry(self, message: CommandMessage) -> Answer:
        """A command that was taken on; a drain waits for it."""
        if self._quiet.is_set():
            self._quiet = trio.Event()
        try:
            with self._vigil, AtWork(message.frame, message.frame.match, message.who.account):
                answer = await self._ask(message)
        finally:
            self._admission.done(message.who.account, trio.current_time())
            if not self._admission.in_flight:
                self._quiet.set()
        if isinstance(answer, TryAgain) and answer.reason not in TURNED_AWAY:
            return road.spread(answer, random.random())  # noqa: S311
        return answer

    async def watch(
        self, match_ref: str, sink: Sink, audience: Audience, after: Position | None
    ) -> Topic | Problem:
        """Join a match's watchers: the sink is given the document, or the events after `after`."""
        try:
            actor = await self._actor(match_ref)
            if actor is None:
                return Problem("unknown_match", f"there is no match {match_ref!r}", where="match")
            if isinstance(actor, str):
                return Problem(
                    "try_again", f"the match cannot be read just now ({actor}); try again", where="match"
                )
            watching = False
            try:
                await actor.ask(WatchMessage(sink, audience, after), deadline_s=ASK_DEADLINE_S)
                watching = True
            finally:
                if not watching:
                    # The client left, or was told to try again: what the actor does with it later is nothing.
                    actor.topic.leave(sink)
            return actor.topic
        except (DatabaseAway, ActorError) as error:
            return Problem(
                "try_again", f"the match cannot be read just now ({error}); try again", where="match"
            )

    def unwatch(self, topic: Topic, sink: Sink) -> None:
        """Leave a match's watchers."""
        topic.leave(sink)

    async def create_match(self, body: CreateMatch, who: Identity) -> Created | Refused | TryAgain:
        """Create a match; the same outside id gives the same match again."""
        if self._draining:
            return TryAgain(None, "", "draining", road.DRAIN_AFTER_MS)
        return await self._opener.open(body, who)

    async def document(self, ref: str) -> Snapshot | None:
        """The stored document, or None where there is no such match."""
        return await self._ledger.document(ref)

    async def document_at(self, ref: str, seq: int) -> Snapshot | Problem:
        """The document as it stood after a row of the log, played again."""
        return await self._past.document(ref, seq)

    async def event(self, ref: str, name: Name | None) -> EventHistory | Problem:
        """The history of one event, None for the newest."""
        return await self._past.event(ref, name)

    async def log(self, ref: str, after: int, limit: int) -> list[LogEvent] | None:
        """Log rows after a seq, oldest first, or None where there is no such match."""
        rows = await self._ledger.log(ref, after, limit)
        return None if rows is None else [road.log_event(row) for row in rows]

    async def matches(self, status: str | None, limit: int) -> list[dict[str, Any]]:
        """Matches for a list, live and newest first."""
        return [
            {
                "match": str(row.match),
                "code": row.code,
                "name": row.name,
                "sport": row.sport,
                "status": row.status,
                "seq": row.last_seq,
                "sides": row.head.get("sides", []),
                "flags": row.head.get("flags", {}),
                "standing": row.head.get("standing"),
                "revision": row.head.get("revision", 0),
                "result": row.head.get("result"),
            }
            for row in await self._ledger.matches(status, limit)
        ]

    def ready(self) -> tuple[bool, list[str]]:
        """Whether commands can be taken, and what stands in the way."""
        ready, missing = self._health.ready()
        return (False, [*missing, "draining"]) if self._draining else (ready, missing)

    def status(self, detail: bool) -> dict[str, Any]:
        """The state of this node; `detail` for those who may see it."""
        status = self._health.status(detail)
        status["matches"] = {
            "live": len(self._actors),
            "commands": self.commands,
            "in_flight": self._admission.in_flight,
            "turned_away": dict(self._admission.turned_away),
        }
        if detail:
            status["matches"]["actors"] = [
                {
                    "match": actor.ref,
                    "seq": actor.seq,
                    "watchers": actor.topic.watchers,
                    **msgspec.to_builtins(actor.statistics()),
                }
                for actor in self._actors.values()
            ]
        return status

    async def _ask(self, message: CommandMessage) -> Answer:
        frame = message.frame
        try:
            actor = await self._actor(frame.match, patient=False)
            if actor is None:
                return road.unknown_match(frame.id, frame.match)
            if actor == LOADING:
                return _turned_away(frame, self._admission.postpone(trio.current_time()))
            if isinstance(actor, str):
                return TryAgain(frame.id, frame.match, actor, road.BUSY_AFTER_MS)
            answer: Answer = await actor.ask(message, deadline_s=ASK_DEADLINE_S)
            return answer
        except DatabaseAway:
            return TryAgain(frame.id, frame.match, "database_away", road.DATABASE_AFTER_MS)
        except ActorError:
            return TryAgain(frame.id, frame.match, "busy", road.BUSY_AFTER_MS)
        except Exception:
            # A match that cannot be read, as one would be whose row is damaged. Silence would be worse.
            log.exception("a command failed")
            return TryAgain(frame.id, frame.match, "internal", road.CODE_AFTER_MS)

    async def _actor(self, ref: str, *, patient: bool = True) -> MatchActor | str | None:
        """The match's actor, started if need be; a reason why it cannot be; None for no such match.

        Who is not patient hears LOADING where others wait for the database already.
        """
        named = parse_id(ref) or ref
        while True:
            match = named if isinstance(named, UUID) else self._refs.get(named)
            if match is not None and (actor := self._actors.get(match)) is not None and not actor.stopped:
                return actor
            if (loading := self._loading.get(named)) is None:
                break
            await loading.wait()
        if len(self._actors) >= ACTORS_LIMIT:
            # Whoever comes next finds room.
            self._make_room()
            return "too_many_matches"
        if not patient and self._loads.statistics().tasks_waiting >= LOADS_WAITING:
            return LOADING
        self._loading[named] = trio.Event()
        try:
            async with self._loads:
                stored = await self._ledger.load(named)
            if stored is not None and self._is_old(stored):
                stored = await self._ledger.load(stored.match)
            return None if stored is None else self._start(named, stored)
        finally:
            self._loading.pop(named).set()

    def _is_old(self, stored: StoredMatch) -> bool:
        """Whether watchers were shown more: an actor started under another name came and went meanwhile."""
        newest = self._newest.get(stored.match)
        return newest is not None and newest.seq > stored.last_seq

    def _start(self, named: UUID | str, stored: StoredMatch) -> MatchActor | str:
        if isinstance(named, str):
            self._refs[named] = stored.match
        actor = self._actors.get(stored.match)
        if actor is not None and not actor.stopped:
            return actor
        if self._resting.get(stored.match, 0.0) > trio.current_time():
            return "resting"
        if self._nursery is None:
            return "starting"
        topic = self._topics.get(stored.match)
        if topic is None:
            topic = Topic(str(stored.match), partial(self._snapshot, stored.match), self._fan_out)
            self._topics[stored.match] = topic
        actor = MatchActor(
            Card.of(stored),
            ledger=self._ledger,
            committer=self._committer,
            pools=self._pools,
            stepper=self._stepper,
            topic=topic,
            alerts=self._alerts,
        )
        self._actors[stored.match] = self._newest[stored.match] = actor
        if topic.watchers:
            # They watched an actor that failed, and may have missed something.
            topic.renew()
        self._nursery.start_soon(self._keep, actor)
        return actor

    def _snapshot(self, match: UUID) -> Snapshot:
        return self._newest[match].snapshot()

    async def _keep(self, actor: MatchActor) -> None:
        """Run one actor; what it does wrong ends it alone. Its watchers are given to a new one."""
        failed = False
        try:
            await actor.run()
        except Exception as error:
            failed = True
            log.exception("match actor failed", match=actor.ref)
            self._alerts.raise_alert("actor_failed", actor.name, repr(error))
            intensity = self._failures.setdefault(actor.match, Intensity())
            if intensity.failed(trio.current_time()):
                self._resting[actor.match] = trio.current_time() + REST_S
                self._alerts.raise_alert(
                    "actor_resting", actor.name, f"failed too often and rests {REST_S:.0f} s"
                )
        finally:
            if self._actors.get(actor.match) is actor:
                del self._actors[actor.match]
                self._refs = {ref: match for ref, match in self._refs.items() if match != actor.match}
                if not actor.topic.watchers:
                    del self._topics[actor.match], self._newest[actor.match]
        if failed and actor.topic.watchers:
            await self._revive(actor.match)

    async def _revive(self, match: UUID) -> None:
        """Start an actor for watchers who have none. Where that cannot be now, `_follow` tries again."""
        try:
            await self._actor(str(match))
        except DatabaseAway:
            pass
        except Exception:
            # One match that cannot be read must not end the others.
            log.exception("a watched match cannot be read", match=str(match))

    async def _sweep(self) -> None:
        """Stop actors that nobody needs."""
        while True:
            await trio.sleep(SWEEP_EVERY_S)
            before = trio.current_time() - self._idle_s
            for actor in self._needless():
                if actor.last_active < before:
                    actor.stop()
            if self._health.memory_bytes() > self._memory_mark_bytes:
                self._make_room()
            for match, until in list(self._resting.items()):
                if until < trio.current_time():
                    self._resting.pop(match)
                    self._failures.pop(match, None)

    def _needless(self) -> list[MatchActor]:
        """Actors that nobody waits for or watches, the longest idle first."""
        needless = [actor for actor in self._actors.values() if actor.idle and not actor.topic.watchers]
        return sorted(needless, key=lambda actor: actor.last_active)

    def _make_room(self) -> None:
        """Half of the matches nobody needs just now leave memory; a command brings one back with one read."""
        needless = self._needless()
        for actor in needless[: -(-len(needless) // 2)]:
            actor.stop()

    async def _expire(self) -> None:
        """Answer those who have waited for too long."""
        while True:
            await trio.sleep(EXPIRE_EVERY_S)
            now = trio.current_time()
            for actor in list(self._actors.values()):
                actor.expire(now)

    async def _follow(self) -> None:
        """Have actors reload when another node wrote to their match; give watchers without one a new one."""
        while True:
            await trio.sleep(FOLLOW_EVERY_S)
            for match, topic in list(self._topics.items()):
                if match in self._actors:
                    continue
                if topic.watchers:
                    await self._revive(match)
                else:
                    self._topics.pop(match, None)
                    self._newest.pop(match, None)
            watched = [actor for actor in self._actors.values() if actor.topic.watchers and actor.idle]
            if not watched:
                continue
            try:
                newest = await self._ledger.newest_seqs([actor.match for actor in watched])
            except DatabaseAway:
                continue
            except Exception:
                log.exception("matches of other nodes cannot be followed")
                continue
            _tell_behind(watched, newest)


def _turned_away(frame: CommandFrame, away: TurnedAway) -> TryAgain:
    return TryAgain(frame.id, frame.match, away.reason, math.ceil(away.wait_s * 1_000))


def _tell_behind(actors: Sequence[MatchActor], newest: dict[UUID, int]) -> None:
    for actor in actors:
        seq = newest.get(actor.match, 0)
        if seq > actor.seq and actor.idle and not actor.stopped:
            actor.tell(CatchUp(seq))
