"""A run: scorers and watchers at work, faults by a plan, checkers throughout and at the end."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import psutil
import trio

from tests.chaos import ending
from tests.chaos.checkers import check_so_far
from tests.chaos.faults import FAULTS
from tests.chaos.footprint import Footprint
from tests.chaos.kinds import KINDS, Kind
from tests.chaos.plan import Fault, Pace, plan
from tests.chaos.scorers import Scorer, open_match
from tests.chaos.stage import AWAY, Stage, staged
from tests.chaos.views import Audience
from tests.chaos.watchers import Watcher

WARM_UP_S = 2.0
FAULT_LIMIT_S = 240.0
"""A fault that waits longer for its answers is given up; they are asked for again at the end."""
LATE_S = 10.0
"""A fault whose turn comes so long after the last one was due does not happen."""
YARDS = 3
LIGHT_MOST = 20
"""Light faults under way at once; more wait their turn."""
LOOK_EVERY_S = 0.5
READ_EVERY_S = 1.0
"""Between two matches that are read and checked while they are scored."""
NEVER_RAISED = frozenset(
    {"verification_failed", "rebuild_failed", "actor_failed", "not_saved", "sport_misbehaved"}
)
"""Alerts that no fault from outside may bring about."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much goes on beside the faults."""

    scorers: dict[str, int]
    """By sport: as many matches at any time."""
    watchers: int
    """Of each match that is there from the start: so many viewers, and one as a scorer."""


LARGE = Size({"cricket": 5, "table_tennis": 4, "rogue": 3}, watchers=2)
SMALL = Size({"cricket": 2, "table_tennis": 2, "rogue": 2}, watchers=1)


@dataclass(slots=True)
class Report:
    """What came of a run."""

    seed: int
    happened: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    """Faults that found nothing to happen to."""
    missing: dict[str, str] = field(default_factory=dict)
    """Kinds that cannot be had on this machine, and why."""
    violations: list[str] = field(default_factory=list)
    tallies: Counter[str] = field(default_factory=Counter)
    matches: int = 0
    events: int = 0
    watchers: int = 0
    base: Footprint | None = None
    end: Footprint | None = None
    seconds: float = 0.0


async def run(
    report: Report, seconds: float, pace: Pace, size: Size, folder: Path, kinds: Sequence[Kind] = KINDS
) -> None:
    """A whole run in `folder`, from a start of everything to an end of everything, told to `report`."""
    began = monotonic()
    async with staged(folder, report.seed) as stage:
        report.violations, report.tallies = stage.history.violations, stage.history.tallies
        report.missing = dict(stage.missing)
        for sport, number in size.scorers.items():
            for _ in range(number):
                await open_match(stage, sport)
        for _ in range(YARDS):
            stage.yards.append(await open_match(stage, "rogue", played_out=True))
        report.base = await ending.quiet_footprint(stage)
        async with trio.open_nursery() as nursery:
            scorers, watchers = _people(stage, size)
            for watcher in watchers:
                nursery.start_soon(watcher.run)
            async with trio.open_nursery() as scoring, _observed(stage):
                for scorer in scorers:
                    scoring.start_soon(scorer.run)
                await trio.sleep(WARM_UP_S)
                await _inject(stage, report, plan(report.seed, seconds, pace, kinds))
                await stage.heal()
                for scorer in scorers:
                    scorer.stop.set()
            stage.note("quiet")
            await ending.settle(stage)
            await ending.converge(stage, watchers)
            nursery.cancel_scope.cancel()
        report.events = await ending.check_logs(stage)
        await ending.verify(stage)
        report.end = await ending.check_footprint(stage, report.base)
        await ending.stop(stage)
        report.matches, report.watchers = len(stage.matches), len(watchers)
        stage.nursery.cancel_scope.cancel()
    report.seconds = monotonic() - began


def _people(stage: Stage, size: Size) -> tuple[list[Scorer], list[Watcher]]:
    numbers: Counter[str] = Counter()
    scorers, watchers = [], []
    for match in stage.running():
        numbers[match.sport] += 1
        scorers.append(Scorer(stage, match.sport, numbers[match.sport], match))
        audiences: list[Audience] = ["scorer", *["viewer" for _ in range(size.watchers)]]  # type: ignore[list-item]
        watchers += [Watcher(stage, match, audience) for audience in audiences]
    return scorers, watchers


async def _inject(stage: Stage, report: Report, faults: list[Fault]) -> None:
    """Both lanes of the plan, until the last fault is over."""
    started = trio.current_time()
    slots = trio.CapacityLimiter(LIGHT_MOST)
    last = max((fault.at_s for fault in faults), default=0.0)
    async with trio.open_nursery() as nursery:

        async def light() -> None:
            for fault in faults:
                if fault.kind.lane == "light":
                    await trio.sleep_until(started + fault.at_s)
                    nursery.start_soon(limited, fault)

        async def limited(fault: Fault) -> None:
            async with slots:
                if trio.current_time() < started + last + LATE_S:
                    await _do(stage, report, fault)

        async def heavy() -> None:
            for fault in faults:
                if fault.kind.lane == "heavy":
                    await trio.sleep_until(started + fault.at_s)
                    if trio.current_time() > started + last:
                        return
                    await _do(stage, report, fault)
                    await stage.progress(fault.kind.name)

        nursery.start_soon(light)
        nursery.start_soon(heavy)


async def _do(stage: Stage, report: Report, fault: Fault) -> None:
    """One fault. Whoever does it may meet another one."""
    name = fault.kind.name
    stage.note(f"{name} ({fault.seed})")
    happened = False
    with trio.move_on_after(FAULT_LIMIT_S) as scope:
        try:
            happened = await FAULTS[name](stage, random.Random(fault.seed))
        except (
            *AWAY,
            trio.BrokenResourceError,
            trio.TooSlowError,
            psutil.NoSuchProcess,
            IndexError,
        ) as error:
            stage.note(f"{name} ({fault.seed}) met {error!r}")
            stage.history.tallies[f"{name}: met {type(error).__name__}"] += 1
    if scope.cancelled_caught:
        stage.history.tallies["given up"] += 1
    (report.happened if happened else report.missed)[name] += 1
    stage.note(f"{name} ({fault.seed}) is over")


@asynccontextmanager
async def _observed(stage: Stage) -> AsyncIterator[None]:
    """While the block runs, somebody looks that the server lives and raises no alert that must not be."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_observe, stage)
        nursery.start_soon(_read_along, stage)
        yield
        nursery.cancel_scope.cancel()


async def _read_along(stage: Stage) -> None:
    """One match after another is read and checked while it is scored; what is wrong is told once."""
    told: set[str] = set()
    while True:
        for match in list(stage.matches):
            await trio.sleep(READ_EVERY_S)
            sent = stage.history.sent.values()
            accepted = [each for each in sent if each.match == match.ref and each.accepted]
            try:
                rows = await stage.log(match.ref)
            except trio.TooSlowError:
                continue
            for sentence in check_so_far(rows, accepted):
                if sentence not in told:
                    told.add(sentence)
                    stage.history.violate(f"match {match.ref}, while it was scored: {sentence}")
            stage.history.tallies["read along"] += 1


async def _observe(stage: Stage) -> None:
    seen: set[tuple[Any, ...]] = set()
    while True:
        process = stage.server.process
        if process is not None and process.poll() is not None and not stage.ended_on_purpose:
            stage.history.violate(f"the server ended by itself with {process.returncode}")
            stage.ended_on_purpose = True
            await stage.restart()
        stage.server.note_workers()
        try:
            status = (await stage.request("GET", "/status")).json()
        except (*AWAY, ValueError):
            status = {}
        for alert in status.get("alerts", ()):
            place = (alert["kind"], str(alert["where"]), alert["since"])
            if alert["kind"] in NEVER_RAISED and place not in seen:
                seen.add(place)
                stage.history.violate(f"alert {alert}")
        await trio.sleep(LOOK_EVERY_S)
