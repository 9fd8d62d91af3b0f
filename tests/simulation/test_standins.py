"""The stand-ins behave as what they stand in for: the same calls, to tables in memory and to PostgreSQL."""

from contextlib import AsyncExitStack
from random import Random
from typing import Any
from uuid import UUID

import msgspec
import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gateway.ledger import Ledger
from gateway.records import CommitItem, Correction, LineRow, LogRow, NewCompetitor, StoredMatch
from runtime.database import Database
from runtime.errors import WorkerLost
from tests.gateway import scoring
from tests.simulation import driver, tables
from tests.simulation.driver import Connection, Loop, Server
from tests.simulation.faults import DatabaseFaults, Weather
from tests.simulation.games import operations
from tests.simulation.workers import MemoryWorker, Violations
from verifier.saved import read_match

CALLS = 60
SEGMENTS = ("innings-1", "innings-2")
POSITIONS = (0, 3, 48, 49, 50, 98, 99)
"""Around those at which a checkpoint is written."""
HANG_LIMIT_S = 10.0


async def calls(database: Database, ledger: Ledger, match: UUID, seed: int) -> list[Any]:
    """Commits and reads drawn from a seed; what each came to, without any ids of a database."""
    random = Random(seed)
    ids = [UUID(int=random.getrandbits(128)) for _ in range(CALLS)]
    found: list[Any] = []
    for _ in range(CALLS):
        stored = await ledger.load(match)
        assert stored is not None
        found.append(told(stored))
        item = drawn(random, stored, ids)
        async with database.session() as session:
            patience = 50 if item.correction is not None or random.random() < 0.3 else None
            (outcome,) = await ledger.commit_on(session, [item], patience_ms=patience)
        found.append(row(outcome) if isinstance(outcome, LogRow) else plain(outcome))
        found += await reads(database, ledger, match, random, ids)
    return found


async def reads(
    database: Database, ledger: Ledger, match: UUID, random: Random, ids: list[UUID]
) -> list[Any]:
    """One of every read."""
    after = random.randint(0, 20)
    row_of_id = await ledger.find(match, random.choice(ids))
    document = await ledger.document("m1")
    stored = await ledger.load("cricket:m1")
    assert document is not None
    assert stored is not None
    keys = {participant: key for key, participant in stored.keys.items()}
    images = await ledger.before_images(match, after)
    saved = await read_match(database, match)
    return [
        None if row_of_id is None else row(row_of_id),
        [row(each) for each in await ledger.log(match, after, 5) or ()],
        await ledger.log(UUID(int=7), 0, 5),
        (document.epoch, document.seq, document.state_hash, document.head, document.parts),
        [plain(each) for each in await ledger.history(match)],
        [
            [(keys[each.participant], each.role, each.segment, bytes(each.values)) for each in one]
            for one in images
        ],
        plain(await ledger.checkpoint(match, scoring.CODE_SHA, random.choice((2, 49, 50, 60, 120)))),
        list((await ledger.newest_seqs([match, UUID(int=7)])).values()),
        plain(
            {name: getattr(saved, name) for name in ("epoch", "position", "lines", "parts", "checkpoints")}
        ),
    ]


def drawn(random: Random, stored: StoredMatch, ids: list[UUID]) -> CommitItem:
    """An item: fit, or stale, or of other code, or sent before; a correction now and then."""
    lines = tuple(
        LineRow(stored.keys[key], "batting", segment, scoring.text({"runs": random.randint(0, 9)}), None)
        for key in ("IND1", "AUS1")
        for segment in random.sample(SEGMENTS, random.randint(0, 2))
    )
    correction = None
    if random.random() < 0.3:
        written = {(line.participant, line.segment) for line in lines}
        gone = [line for line in stored.lines if (stored.keys[line.key], line.segment) not in written]
        correction = Correction(
            random.choice((None, 0, 3, 49, 50)),
            random.choice((None, *POSITIONS)) if stored.position else random.choice(POSITIONS),
            tuple(LineRow(stored.keys[each.key], each.role, each.segment, "null", None) for each in gone[:1]),
            random.choice((None, (), SEGMENTS[1:])),
        )
    joined: tuple[NewCompetitor, ...] = ()
    if random.random() < 0.2:
        key = random.choice(("NEW1", "NEW2"))
        participant = stored.keys.get(key) or UUID(int=random.getrandbits(128))
        joined = (NewCompetitor(key, f"{key} {random.randint(1, 3)}", "IND", participant=participant),)
    quiet = correction is None and random.random() < 0.15
    flag = {"flag": "uncertain", "on": True, "reason": "drawn"}
    return scoring.ball(
        stored,
        stored.last_seq + random.choice((0, 0, 0, 0, 0, -1, 1)),
        id=random.choice(ids),
        code="match.flag" if quiet else "cricket.delivery",
        code_sha=random.choice((scoring.CODE_SHA,) * 6 + ("beef" * 16,)),
        input=scoring.text(flag if quiet else {"bat": random.randint(0, 6)}),
        state=scoring.text({"balls": random.randint(0, 99)}),
        parts={segment: scoring.text({"n": random.randint(0, 9)}) for segment in random.sample(SEGMENTS, 1)},
        lines=lines,
        joined=joined,
        correction=correction,
        quiet=quiet,
        resolved=random.choice((None, '{"event":[2,0]}')),
    )


def told(stored: StoredMatch) -> Any:
    """A match without what differs between two databases."""
    values = {name: getattr(stored, name) for name in stored.__slots__}
    del values["match"], values["keys"], values["tail"]
    # A player who comes back takes his old place in the one and a new one in the other: it means nothing.
    values["names"] = sorted(stored.names.items())
    return plain(values), sorted(stored.keys), [row(each) for each in stored.tail]


def row(logged: LogRow) -> Any:
    return plain(logged)


def plain(value: Any) -> Any:
    return msgspec.to_builtins(value, str_keys=False, enc_hook=str, builtin_types=(bytes, UUID))


@pytest.mark.parametrize("seed", range(4))
async def test_tables_in_memory_do_what_the_sql_does(
    seed: int, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "CHECKPOINT_EVERY", 50)
    opening = scoring.opening()
    ledger = Ledger(database)
    await ledger.open_match(opening)
    async with AsyncExitStack() as stack:
        nursery = await stack.enter_async_context(trio.open_nursery())
        server = Server(nursery, DatabaseFaults(Weather(Random(0))))
        server.faults._weather.calm()
        server.faults._weather.latency = 0.0
        server.matches[opening.match] = tables.open_match(opening)

        async def connect(*_: object) -> Any:
            backend = server.new_backend()
            return Connection(server, backend), backend

        memory = Database("memory", Loop(), 2, connect=connect)
        real = await calls(database, ledger, opening.match, seed)
        ours = await calls(memory, Ledger(memory), opening.match, seed)
        for place, (left, right) in enumerate(zip(real, ours, strict=True)):
            assert left == right, f"call {place}"
        await memory.close()


class Hanging(Weather):
    """Weather in which a worker hangs in every call."""

    def strikes(self, kind: str) -> bool:
        return kind == "worker hangs asleep"


async def test_a_worker_killed_while_it_hangs_ends_its_call(autojump_clock: MockClock) -> None:
    """Its crew forgets it at its end, and finds its call late no more: a process that dies hangs up."""
    weather, violations = Hanging(Random(0)), Violations()
    worker = MemoryWorker("duel", 1, next(iter(operations().values())), weather, violations)
    with trio.fail_after(HANG_LIMIT_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.keep)

            async def killed_from_outside() -> None:
                await wait_all_tasks_blocked()
                worker.die()

            nursery.start_soon(killed_from_outside)
            with pytest.raises(WorkerLost) as lost:
                await worker.call("ping", {}, 0.25)
    assert lost.value.reason == "died"
    assert violations == []
