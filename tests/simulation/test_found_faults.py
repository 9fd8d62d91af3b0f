"""Faults that the simulation found, each step by step."""

from random import Random
from uuid import UUID

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from gateway.codec import Codec
from gateway.ledger import Ledger
from gateway.protocol import Accepted, CommandFrame, Conflict
from gateway.records import StoredMatch
from tests.simulation.driver import Server
from tests.simulation.faults import DatabaseFaults, Weather
from tests.simulation.games import games, operations
from tests.simulation.history import opened_match
from tests.simulation.node import Node
from tests.simulation.watcher import Watcher
from tests.simulation.workers import Violations

DEADLINE_S = 10.0


def point(match: str, number: int, saw: int) -> CommandFrame:
    return CommandFrame(
        id=str(UUID(int=number)), match=match, code="duel.score", input={"side": "A", "points": 1}, saw=saw
    )


async def test_a_match_read_long_ago_does_not_take_its_watchers_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for by its code, and handed over only when the actor that its id had started was gone."""
    store, duel, _ = games()
    weather, violations = Weather(Random(0)), Violations()
    weather.calm()
    gates: dict[UUID | str, trio.Event] = {}
    load = Ledger.load

    async def held(self: Ledger, ref: UUID | str) -> StoredMatch | None:
        found = await load(self, ref)
        if (gate := gates.get(ref)) is not None:
            await gate.wait()
        return found

    monkeypatch.setattr(Ledger, "load", held)
    with trio.fail_after(DEADLINE_S):
        async with trio.open_nursery() as nursery:
            server = Server(nursery, DatabaseFaults(weather))
            match = opened_match(duel, "d0", UUID(int=77))
            server.matches[match.id] = match
            node = Node("n1", server, store, operations(), weather, violations)
            await nursery.start(node.run)
            watcher = Watcher("w", str(match.id), "scorer", Codec.JSON, match.history, violations, print)
            assert await watcher.join(node, nursery, resume=False)
            # Read now, handed over later.
            gates[match.code] = trio.Event()
            nursery.start_soon(node.command, point(match.code, 2, 2), "s")
            await wait_all_tasks_blocked()
            assert isinstance(await node.command(point(str(match.id), 1, 1), "s"), Accepted)
            gates[match.id] = trio.Event()
            node.fail_an_actor(lambda actors: actors[0])
            await node.command(point(str(match.id), 3, 2), "s")
            gates.pop(match.code).set()
            gates.pop(match.id).set()
            await wait_all_tasks_blocked()
            assert watcher.position is not None
            assert watcher.position.seq == match.last_seq
            assert violations == []
            await node.drain()
            nursery.cancel_scope.cancel()


async def test_a_correction_is_not_refused_for_what_another_node_did_since() -> None:
    """It is judged on the log, which was further than the memory it was found fresh enough by."""
    store, duel, _ = games()
    weather, violations = Weather(Random(0)), Violations()
    weather.calm()
    with trio.fail_after(DEADLINE_S):
        async with trio.open_nursery() as nursery:
            server = Server(nursery, DatabaseFaults(weather))
            match = opened_match(duel, "d0", UUID(int=77))
            server.matches[match.id] = match
            one, other = (
                Node(name, server, store, operations(), weather, violations) for name in ("n1", "n2")
            )
            await nursery.start(one.run)
            await nursery.start(other.run)
            assert isinstance(await one.command(point("d0", 1, 1), "s"), Accepted)
            void = CommandFrame(
                id=str(UUID(int=2)),
                match="d0",
                code="match.void",
                input={"event": 2, "reason": "wrong"},
                saw=2,
            )
            assert isinstance(await other.command(void, "s"), Accepted)
            late = msgspec.structs.replace(void, id=str(UUID(int=3)))
            answer = await one.command(late, "s")
            assert isinstance(answer, Conflict)
            assert answer.resync
            await one.drain()
            await other.drain()
            assert violations == []
            nursery.cancel_scope.cancel()
