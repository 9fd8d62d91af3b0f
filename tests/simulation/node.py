"""One server of the simulation: the real parts, wired as `config/server.py` does, on stand-ins."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import trio

from gateway.admission import Admission
from gateway.auth import Identity, Role
from gateway.committer import Committer
from gateway.fanout import FanOut, Topic
from gateway.health import Health
from gateway.ledger import Ledger
from gateway.matches import Matches
from gateway.opener import Opener
from gateway.protocol import Answer, CommandFrame, Position, Problem
from gateway.sink import Audience, Sink
from runtime.alerts import AlertBoard
from runtime.database import Backend, Database
from runtime.pool import Pools
from runtime.staffing import PoolLimits
from runtime.stepping import Stepper
from runtime.supervisor import Supervisor
from runtime.versions import VersionStore
from runtime.vigil import Vigil
from runtime.worker.ops import Operations
from tests.simulation.driver import Connection, Loop, Server
from tests.simulation.faults import Weather
from tests.simulation.workers import MemoryStarter, Violations

CONNECTIONS = 6
DRAIN_S = 3.0
IDLE_S = 20.0
MEMORY_MARK_BYTES = 1 << 60
"""No match leaves memory for want of it: how much there is would be chance."""
LIMITS = PoolLimits(warm=1, most=2, rest_s=6.0)
"""Few workers, so that they are short; a short rest, so that a history comes to its end."""


PLANTED = "planted on purpose"
OURS = ("actor_failed", "not_saved", "sport_misbehaved")
"""Alerts that tell of a fault of the server's."""


class NodeDown(Exception):
    """The node went away before it answered."""


class Node:
    """A server process. `run` lives until it is killed or drained."""

    def __init__(
        self,
        name: str,
        server: Server,
        versions: VersionStore,
        operations: dict[str, Operations],
        weather: Weather,
        violations: Violations,
    ) -> None:
        self.name = name
        self.up = False
        self.down = trio.Event()
        self.alerts = AlertBoard()
        self.starter = MemoryStarter(operations, weather, violations)
        self.connections: list[Connection] = []
        self._server = server
        self._versions = versions
        self._weather = weather
        self._violations = violations
        self._cut_off = False
        self._admission = Admission()
        self._letters: dict[_Letter, None] = {}
        self._scope = trio.CancelScope()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        self.database = Database("memory", Loop(), CONNECTIONS, connect=self._connect)
        with self._scope:
            try:
                async with trio.open_nursery() as nursery:
                    await self._start(nursery)
                    self._clients = nursery
                    self.up = True
                    task_status.started()
                    await trio.sleep_forever()
            finally:
                self._hang_up()
                with trio.CancelScope(shield=True):
                    await self.database.close()
        self._look_for_leaks()

    async def _start(self, nursery: trio.Nursery) -> None:
        supervisor = Supervisor(nursery, self.alerts)
        ledger = Ledger(self.database)
        self.committer = Committer(self.database, ledger, self.alerts)
        self.pools = Pools(self._versions, limits=LIMITS, make_starter=lambda: self.starter)
        self.stepper = Stepper(self.pools)
        fan_out = FanOut()
        health = Health(
            database=self.database,
            pools=self.pools,
            versions=self._versions,
            supervisor=supervisor,
            alerts=self.alerts,
            commits=self.committer.statistics,
            outbox=dict,
            verifier=dict,
        )
        self.matches = Matches(
            ledger=ledger,
            committer=self.committer,
            pools=self.pools,
            stepper=self.stepper,
            fan_out=fan_out,
            opener=Opener(ledger=ledger, pools=self.pools, versions=self._versions, alerts=self.alerts),
            alerts=self.alerts,
            health=health,
            admission=self._admission,
            vigil=Vigil(0.0),
            memory_mark_bytes=MEMORY_MARK_BYTES,
            idle_s=IDLE_S,
        )
        await supervisor.start("committer", self.committer.run, essential=True, signals=True)
        await supervisor.start("pools", self.pools.run, essential=True, signals=True)
        await supervisor.start("stepper", self.stepper.run, essential=True, signals=True)
        await supervisor.start("fan-out", fan_out.run, essential=True, signals=True)
        await supervisor.start("matches", self.matches.run, essential=True, signals=True)
        await supervisor.start("health", health.run)

    async def _connect(self, url: str, settings: dict[str, str], role: str | None) -> Any:
        await trio.sleep(self._weather.latency_s())
        if self._cut_off or self._server.away:
            raise ConnectionRefusedError("connection refused")
        backend: Backend = self._server.new_backend()
        connection = Connection(self._server, backend)
        self.connections = [each for each in self.connections if not each.is_closed()]
        self.connections.append(connection)
        return connection, backend

    async def command(
        self, frame: CommandFrame, account: str, *, leaves: float | None = None
    ) -> Answer | None:
        """Send a command and wait for its answer; None where the client leaves `leaves` seconds later.

        Raises:
            NodeDown: it is not there, or went away.
        """
        who = Identity(account, Role.SCORER)
        answer: Answer | None = await self._served(partial(self.matches.command, frame, who), leaves)
        return answer

    async def watch(
        self, match: str, sink: Sink, audience: Audience, after: Position | None
    ) -> Topic | Problem:
        """Watch a match.

        Raises:
            NodeDown: it is not there, or went away.
        """
        found: Topic | Problem = await self._served(partial(self.matches.watch, match, sink, audience, after))
        return found

    async def _served(self, what: Callable[[], Awaitable[Any]], leaves: float | None = None) -> Any:
        """Have a task of the node do something, as a socket does; it is cancelled when the client leaves."""
        if not self.up:
            await trio.lowlevel.checkpoint()
            raise NodeDown(self.name)
        letter = _Letter()
        self._letters[letter] = None
        self._clients.start_soon(self._serve, what, letter)
        if leaves is None:
            await letter.done.wait()
        else:
            with trio.move_on_after(leaves):
                await letter.done.wait()
        self._letters.pop(letter, None)
        if letter.answer is None and leaves is not None:
            letter.scope.cancel()
            return None
        if letter.answer is None:
            raise NodeDown(self.name)
        return letter.answer

    async def _serve(self, what: Callable[[], Awaitable[Any]], letter: "_Letter") -> None:
        with letter.scope:
            try:
                letter.answer = await what()
            except Exception as error:
                self._violations.append(f"{self.name}: {what} raised {error!r}")
        letter.done.set()

    def kill(self) -> None:
        """As SIGKILL: from now on nothing of it reaches the database."""
        self._cut_off = True
        for connection in self.connections:
            connection.cut()
        self._hang_up()
        self._scope.cancel()

    async def drain(self) -> None:
        """As SIGTERM."""
        with trio.move_on_after(DRAIN_S):
            await self.matches.drain()
        self._hang_up()
        self._scope.cancel()

    def _hang_up(self) -> None:
        """Every socket is closed."""
        self.up = False
        self.down.set()
        for letter in self._letters:
            letter.done.set()

    def kill_workers(self, which: Callable[[], bool]) -> None:
        """As `kill -9` of worker processes by somebody else."""
        for worker in self.starter.started:
            if not worker.ended.is_set() and which():
                worker.die()

    def fail_an_actor(self, which: Callable[[list[Any]], Any]) -> None:
        """A fault of ours in a match actor: its next message ends it."""
        actors = [actor for actor in self.matches._actors.values() if not actor.stopped]
        if actors:
            actor = which(actors)

            async def fail(message: object) -> None:
                await trio.lowlevel.checkpoint()
                raise LookupError(PLANTED)

            actor.receive = fail

    def unrest(self) -> list[str]:
        """What is still going on, where all should be at rest."""
        found = []
        commits = self.committer.statistics()
        if commits.waiting or commits.in_call:
            found.append(f"committer: {commits.waiting} wait, {commits.in_call} in a call")
        if busy := self.database.statistics().busy:
            found.append(f"{busy} database sessions in use")
        found += [
            f"{pool.waiting_live + pool.waiting_background} calls wait for a worker"
            for pool in self.pools.statistics()
            if pool.waiting_live or pool.waiting_background
        ]
        found += [
            f"a worker is {worker.state}"
            for pool in self.pools.statistics()
            for worker in pool.workers
            if worker.state in ("live", "background")
        ]
        found += [
            f"the mailbox of {actor.name} holds {actor.statistics().waiting}"
            for actor in self.matches._actors.values()
            if not actor.idle
        ]
        if self._admission.in_flight:
            found.append(f"{self._admission.in_flight} commands in flight")
        return [f"{self.name}: {each}" for each in found]

    def _look_for_leaks(self) -> None:
        self._violations += [
            f"{self.name} raised {alert.kind}: {alert.sentence} {alert.stack or ''}"
            for alert in self.alerts.newest()
            if alert.kind in OURS and PLANTED not in alert.sentence
        ]
        left = [worker.name for worker in self.starter.started if not worker.ended.is_set()]
        if left:
            self._violations.append(f"{self.name} stopped and left workers behind: {left}")
        opened = [each for each in self.connections if not each.is_closed()]
        if opened:
            self._violations.append(f"{self.name} stopped and left {len(opened)} connections open")


class _Letter:
    """A frame on a socket, and the place for its answer."""

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self.done = trio.Event()
        self.scope = trio.CancelScope()
