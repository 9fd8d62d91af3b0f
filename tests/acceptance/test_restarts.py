"""The server killed, stopped and started again; the database stopped and started under load."""

import os
import signal
from itertools import islice
from typing import Any

import trio

from bench.play import Tap, taps
from tests.acceptance.server import Desk, ServerProcess, server_process

SCORERS = 6
COMMANDS = 60


class Scorer:
    """Scores one match to its end and remembers every answer."""

    def __init__(self, desk: Desk, match: str, number: int) -> None:
        self.desk = desk
        self.match = match
        self.todo: list[Tap] = list(islice(taps(number), COMMANDS))
        self.accepted: list[dict[str, Any]] = []
        self.tried_again = 0
        self.halfway = trio.Event()

    async def play(self) -> None:
        saw = 1
        for code, given in self.todo:
            answers = await self.desk.send_until_answered(self.match, code, given, saw)
            assert answers[-1]["outcome"] == "accepted", answers[-1]
            self.tried_again += len(answers) - 1
            self.accepted.append(answers[-1])
            saw = answers[-1]["seq"]
            if len(self.accepted) == COMMANDS // 2:
                self.halfway.set()

    async def check(self) -> None:
        """Everything accepted is in the log exactly once, in order, and nothing else is."""
        rows = (await self.desk.log(self.match))[1:]
        assert [row["seq"] for row in rows] == list(range(2, COMMANDS + 2))
        assert [(row["code"], row["id"]) for row in rows] == [
            (code, answer["id"]) for (code, _), answer in zip(self.todo, self.accepted, strict=True)
        ]
        assert [row["state_hash"] for row in rows] == [answer["state_hash"] for answer in self.accepted]
        document = await self.desk.document(self.match)
        assert (document["seq"], document["state_hash"]) == (COMMANDS + 1, self.accepted[-1]["state_hash"])


async def play_through(server: ServerProcess, fault: "Fault") -> list[Scorer]:
    """Scorers play while the fault happens once the first of them is halfway."""
    async with Desk(server) as desk:
        scorers = [Scorer(desk, (await desk.create())["match"], number) for number in range(SCORERS)]
        async with trio.open_nursery() as nursery:
            for scorer in scorers:
                nursery.start_soon(scorer.play)
            await scorers[0].halfway.wait()
            await trio.to_thread.run_sync(fault)
        for scorer in scorers:
            await scorer.check()
        return scorers


Fault = Any


async def test_kill_9_of_the_server_in_the_middle_of_matches() -> None:
    with server_process() as server:

        def fault() -> None:
            server.kill()
            server.start()

        await play_through(server, fault)


async def test_a_server_stopped_and_started_in_the_middle_of_matches() -> None:
    with server_process() as server:

        def fault() -> None:
            server.stop()
            server.start()

        await play_through(server, fault)


async def test_postgres_killed_under_load() -> None:
    with server_process() as server:
        [postmaster] = server.postgres()
        scorers = await play_through(server, lambda: os.kill(postmaster, signal.SIGKILL))
        assert server.postgres() != [postmaster]
        assert sum(scorer.tried_again for scorer in scorers) > 0


async def test_postgres_stopped_in_order_under_load() -> None:
    with server_process() as server:
        [postmaster] = server.postgres()
        await play_through(server, lambda: os.kill(postmaster, signal.SIGINT))
        assert server.postgres() != [postmaster]


async def test_a_stopped_server_leaves_no_process_behind() -> None:
    with server_process() as server:
        async with Desk(server) as desk:
            await desk.create()
        workers, postgres = server.workers(), server.postgres()
        assert workers
        assert postgres
        server.stop()
        assert not any(worker.is_running() for worker in workers)
        assert server.postgres() == []


async def test_a_killed_server_leaves_no_worker_behind() -> None:
    with server_process() as server:
        async with Desk(server) as desk:
            await desk.create()
        workers = server.workers()
        assert workers
        server.kill()
        with trio.fail_after(20):
            while any(worker.is_running() for worker in workers):
                await trio.sleep(0.02)
