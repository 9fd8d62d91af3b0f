"""One history: servers, scorers, watchers and faults from one seed, run to its end and checked."""

import gc
import hashlib
import logging
import random
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any, Literal
from uuid import UUID

import structlog
import trio
from trio.testing import MockClock

from gateway.codec import Codec
from gateway.opening import open_match
from gateway.protocol import Accepted, CreateMatch, TryAgain
from gateway.records import Source
from runtime.worker.replies import checked
from scorebox_contract import canonical
from tests.simulation import tables
from tests.simulation.checkers import check_answers, check_match
from tests.simulation.driver import Server
from tests.simulation.faults import DatabaseFaults, Weather
from tests.simulation.games import Game, games, operations
from tests.simulation.limits import small_limits
from tests.simulation.node import Node
from tests.simulation.scorer import Scorer, Sent
from tests.simulation.watcher import Watcher
from tests.simulation.workers import Violations

LONGEST_S = 3_600.0
"""Of a history, on its own clock: one that is not at rest by then hangs."""
SETTLE_S = 180.0
"""How long an answer may take once there are no faults any more; a resting pool takes a minute."""
CONVERGE_S = 90.0
"""How long watchers may take; a match's actor that failed too often rests for a minute."""
REST_S = 10.0
STARTED_AT = datetime(2026, 1, 1, tzinfo=UTC)
COMMANDS_MOST = 30
"""Of all scorers of a history together, about."""
TRACE_SHOWN = 60
SMALL_PART = 0.5
"""Of the histories, with small limits."""
TABLE_TENNIS_PART = 0.15
"""Of the matches; the others are of the small sport."""


@dataclass(slots=True)
class Outcome:
    """What came of a history."""

    seed: int
    violations: list[str]
    digest: str
    """Of its trace: the same for the same seed, always."""
    trace: list[tuple[Any, ...]]
    faults: Counter[str] = field(default_factory=Counter)
    figures: Counter[str] = field(default_factory=Counter)

    def told(self) -> str:
        """What went wrong, the end of the trace, and how to see it again."""
        lines = [f"seed {self.seed}:", *(f"  {violation}" for violation in self.violations)]
        lines.append(f"the last {TRACE_SHOWN} steps of {len(self.trace)}:")
        lines += ["  " + " ".join(map(str, step)) for step in self.trace[-TRACE_SHOWN:]]
        lines.append(f"again: python -m tests.simulation --seeds 1 --start {self.seed} --trace")
        return "\n".join(lines)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Chance follows from the seed, also the order in which Trio runs its tasks (as Hypothesis has it do)."""
    core: Any = trio._core._run
    before, state, ours = core._ALLOW_DETERMINISTIC_SCHEDULING, core._r.getstate(), random.getstate()
    core._ALLOW_DETERMINISTIC_SCHEDULING = True
    core._r.seed(seed)
    random.seed(seed)
    try:
        yield
    finally:
        core._ALLOW_DETERMINISTIC_SCHEDULING = before
        core._r.setstate(state)
        random.setstate(ours)


@contextmanager
def silence() -> Iterator[None]:
    """The logs of ten thousand planned faults help nobody."""
    before = structlog.get_config()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL), cache_logger_on_first_use=False
    )
    try:
        yield
    finally:
        structlog.configure(**before)


def run_history(seed: int) -> Outcome:
    """The history of a seed."""
    history = History(seed)
    collecting = gc.isenabled()
    gc.disable()
    try:
        with seeded(seed), silence(), small_limits(history.small):
            trio.run(history.run, clock=MockClock(autojump_threshold=0), strict_exception_groups=True)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        history.violations.append(f"the history ended in {error!r}")
        history.violations += traceback.format_exception(error)
    finally:
        if collecting:
            gc.enable()
    trace = history.trace
    digest = hashlib.sha256(repr(trace).encode()).hexdigest()
    return Outcome(seed, list(history.violations), digest, trace, history.weather.counts, history.figures)


def opened_match(game: Game, code: str, match: UUID) -> tables.Match:
    """A match as `gateway.opener` opens one."""
    version = game.version
    request = {"op": "initial_state", "id": 1, "opening": canonical(game.opening)}
    return tables.open_match(
        open_match(
            CreateMatch(version.sport, f"{game.name} {code}", game.opening, code=code),
            checked("initial_state", 1, operations()[version.code_sha].answer(request)),
            match=match,
            manifest={"name": game.name},
            version=version.version,
            code_sha=version.code_sha,
            source=Source("operator"),
            received_at=STARTED_AT,
        )
    )


class History:
    """Everything of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"{seed} shape")
        self.small = Random(f"{seed} limits").random() < SMALL_PART
        self.weather = Weather(Random(f"{seed} weather"))
        self.violations = Violations()
        self.trace: list[tuple[Any, ...]] = []
        self.figures: Counter[str] = Counter()
        self._store, self._duel, self._table_tennis = games()
        self._operations = operations()
        self._games: dict[UUID, Game] = {}
        self._sent: list[Sent] = []
        self._nodes: list[Node] = []
        self._starts = 0
        self._playing = True

    async def run(self) -> None:
        """From the first command to rest, then the checks."""
        with trio.move_on_after(LONGEST_S) as scope:
            async with trio.open_nursery() as nursery:
                self.server = Server(nursery, DatabaseFaults(self.weather))
                self._nursery = nursery
                await self._played()
                nursery.cancel_scope.cancel()
        if scope.cancelled_caught:
            self.violations.append(f"not at rest after {LONGEST_S:.0f} s")
        if self.server.connections:
            self.violations.append(f"{len(self.server.connections)} connections are left open")
        for match in self.server.matches.values():
            if match.lock is not None:
                self.violations.append(f"match {match.code} is left locked")
            self.violations += check_match(match, self._operations[match.code_sha])
            mine = [sent for sent in self._sent if sent.frame.match in (str(match.id), match.code)]
            self.violations += check_answers(match, mine, self._operations[match.code_sha])
            self.figures["rows"] += len(match.log)
            self._note("match", match.code, match.last_seq, match.state_hash.hex())
        self.figures["commands"] += len(self._sent)
        self.figures["deliveries"] += sum(len(sent.heard) for sent in self._sent)
        self.figures["virtual_s"] += int(trio.current_time())

    async def _played(self) -> None:
        random = self.random
        matches = [self._open(number) for number in range(random.choice((1, 1, 1, 2, 3)))]
        two = random.random() < 0.4
        for _ in range(2 if two else 1):
            await self._start_node()
        scorers = [
            Scorer(
                f"s{match.code}{number}",
                match,
                self._games[match.id],
                self.weather,
                self._up,
                self._sent,
                self._note,
            )
            for match in matches
            for number in range(random.choice((1, 1, 2, 3)))
        ]
        watchers = [
            self._watcher(match, number) for match in matches for number in range(random.randint(0, 2))
        ]
        most = max(4, COMMANDS_MOST // len(scorers))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._disturb)
            async with trio.open_nursery() as playing:
                for watcher in watchers:
                    nursery.start_soon(self._watch, watcher, nursery)
                for scorer in scorers:
                    playing.start_soon(scorer.run, random.randint(3, most))
            self._playing = False
            self.weather.calm()
            await self._settle(scorers)
            await self._converge(watchers, matches, nursery)
            for watcher in watchers:
                watcher.leave()
            nursery.cancel_scope.cancel()
        await self._rest()
        for node in self._nodes:
            node.kill() if random.random() < 0.5 else await node.drain()

    async def _rest(self) -> None:
        """Nothing goes on any more but what looks around now and then."""
        until = trio.current_time() + REST_S
        while unrest := [each for node in self._nodes if node.up for each in node.unrest()]:
            if trio.current_time() > until:
                self.violations += unrest
                return
            await trio.sleep(0.03)

    def _open(self, number: int) -> tables.Match:
        game = self._table_tennis if self.random.random() < TABLE_TENNIS_PART else self._duel
        match = opened_match(game, f"d{number}", UUID(int=self.random.getrandbits(128)))
        self.server.matches[match.id] = match
        self._games[match.id] = game
        return match

    async def _start_node(self) -> None:
        self._starts += 1
        node = Node(
            f"n{self._starts}", self.server, self._store, self._operations, self.weather, self.violations
        )
        await self._nursery.start(node.run)
        self._nodes.append(node)
        self._note(node.name, "starts")

    def _up(self) -> list[Node]:
        """The nodes a client may find; the newest one where none is up."""
        return [node for node in self._nodes if node.up] or self._nodes[-1:]

    def _note(self, *what: Any) -> None:
        self.trace.append((round(trio.current_time(), 6), *what))

    async def _disturb(self) -> None:
        """Faults of whole nodes and of the database, as long as the match is on."""
        random, weather = self.weather.random, self.weather
        while self._playing:
            await trio.sleep(random.choice((0.05, 0.2, 0.8)))
            if not self._playing:
                return
            node = random.choice(self._nodes)
            if weather.strikes("node killed") and node.up:
                self._note(node.name, "killed")
                node.kill()
                await self._replace(node)
            elif weather.strikes("node drained") and node.up:
                self._note(node.name, "drained")
                await node.drain()
                await self._replace(node)
            if weather.strikes("database crashes"):
                away = random.choice((0.0, 0.1, 1.0, 4.0))
                self._note("database", "crashes", away)
                self.server.crash(away)
            if weather.strikes("connections cut"):
                self._note("database", "connections cut")
                self.server.cut_connections(lambda: random.random() < 0.5)
            if weather.strikes("workers killed") and node.up:
                self._note(node.name, "workers killed")
                node.kill_workers(lambda: random.random() < 0.5)
            if weather.strikes("worker dies idle") and node.up:
                self._note(node.name, "workers killed")
                node.kill_workers(lambda: random.random() < 0.3)
            if weather.strikes("actor fails") and node.up:
                self._note(node.name, "an actor fails")
                node.fail_an_actor(random.choice)

    async def _replace(self, node: Node) -> None:
        await node.down.wait()
        await trio.sleep(self.weather.random.choice((0.0, 0.05, 0.5)))
        await self._start_node()
        self._nodes.remove(node)

    def _watcher(self, match: tables.Match, number: int) -> Watcher:
        audience: Literal["scorer", "viewer"] = self.random.choice(("scorer", "viewer"))
        codec = Codec.MSGPACK if self.random.random() < 0.2 else Codec.JSON
        return Watcher(
            f"w{match.code}{number}",
            str(match.id),
            audience,
            codec,
            match.history,
            self.violations,
            self._note,
        )

    async def _watch(self, watcher: Watcher, nursery: trio.Nursery) -> None:
        """One watcher's ways, as long as the match is on."""
        random, weather = self.weather.random, self.weather
        while self._playing:
            if not watcher.watching:
                resume = watcher.position is not None and random.random() < 0.7
                await watcher.join(random.choice(self._up()), nursery, resume=resume)
            await trio.sleep(random.choice((0.05, 0.2, 0.6)))
            if watcher.pipe is None:
                continue
            if weather.strikes("watcher lags"):
                watcher.pipe.lag()
                await trio.sleep(random.choice((0.05, 0.4, 2.0)))
                watcher.pipe.catch_up()
            if weather.strikes("watcher stops reading"):
                watcher.pipe.lag()
                await trio.sleep(random.choice((5.0, 25.0)))
                watcher.pipe.catch_up()
            if weather.strikes("watcher leaves"):
                watcher.leave()
            if weather.strikes("watcher resumes"):
                await watcher.join(random.choice(self._up()), nursery, resume=True)

    async def _settle(self, scorers: list[Scorer]) -> None:
        """Whatever was not answered is sent again, as a client would, until it is."""
        by_name = {scorer.name: scorer for scorer in scorers}
        until = trio.current_time() + SETTLE_S
        for sent in self._sent:
            # What was answered long ago is asked for once more, too: the answer must still be the same.
            tries = 0
            while not sent.answers or (not tries and _accepted(sent) and self.random.random() < 0.2):
                tries += 1
                answer = await by_name[sent.scorer].deliver(sent, patient=True)
                if trio.current_time() > until:
                    self.violations.append(
                        f"{sent.frame.code} {sent.frame.id[:8]} got no answer in {SETTLE_S:.0f} s: {answer}"
                    )
                    return
                if not sent.answers:
                    await trio.sleep(answer.after_ms / 1000 if isinstance(answer, TryAgain) else 0.5)

    async def _converge(
        self, watchers: list[Watcher], matches: list[tables.Match], nursery: trio.Nursery
    ) -> None:
        """Every watcher comes to the stored document."""
        newest = {str(match.id): match for match in matches}
        until = trio.current_time() + CONVERGE_S
        while True:
            late = []
            for watcher in watchers:
                if watcher.pipe is not None:
                    watcher.pipe.catch_up()
                if not watcher.watching:
                    await watcher.join(self._up()[0], nursery, resume=watcher.position is not None)
                position = watcher.position
                if position is None or position.seq != newest[watcher.match].last_seq:
                    late.append(watcher)
            if not late:
                break
            if trio.current_time() > until:
                for watcher in late:
                    self.violations.append(
                        f"watcher {watcher.name} is at {watcher.position} of {newest[watcher.match].last_seq}"
                        f" {CONVERGE_S:.0f} s after the last row"
                    )
                break
            await trio.sleep(0.1)
        await trio.sleep(1.0)


def _accepted(sent: Sent) -> bool:
    return isinstance(sent.answers[-1], Accepted)
