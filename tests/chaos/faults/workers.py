"""Workers killed and stopped from outside, at every moment of a call."""

import os
import random
import signal
from contextlib import suppress
from typing import Any

import psutil
import trio

from tests.chaos.stage import Stage
from tests.chaos.tablets import deliver_once

COMPUTING_MS = 150
"""A call that is long enough to be hit and short enough to be honest."""
HIT_AFTER_S = 0.06
SHOTS = 5
"""A command may wait before it is in a worker: the workers are killed so often, until its sender hears."""
ROGUE = "package=scorebox_rogue"
"""What stands on the command line of such a worker."""
STOPPED_S = 5.0
"""A stopped worker that nobody called is let go on after this."""


async def killed_while_idle(stage: Stage, chance: random.Random) -> bool:
    """An idle worker."""
    idle = [worker for worker in await _workers(stage) if worker["state"] == "idle"]
    return bool(idle) and _signal(chance.choice(idle)["pid"], signal.SIGKILL)


async def killed_before_its_reply(stage: Stage, chance: random.Random) -> bool:
    """All workers of a sport while one of them works on a command; the command is sent again and saved."""
    match = chance.choice(stage.yards)
    saw = (await stage.position(match))["seq"]
    slow = {"misdeed": "sleep", "amount": COMPUTING_MS}
    sent = stage.history.compose(f"slow {chance.random()}", match.ref, "rogue.misbehave", slow, saw)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deliver_once, stage, sent)
        for _ in range(SHOTS):
            await trio.sleep(HIT_AFTER_S)
            if sent.answers:
                break
            _kill_rogues(stage)
    return any(answer.get("reason") == "worker_lost" for answer in sent.answers)


async def killed_after_its_reply(stage: Stage, chance: random.Random) -> bool:
    """All workers of a sport the moment an answer of one of them is there."""
    match = chance.choice(stage.yards)
    saw = (await stage.position(match))["seq"]
    sent = stage.history.compose(f"adder {chance.random()}", match.ref, "rogue.add", {"amount": 1}, saw)
    await deliver_once(stage, sent)
    return _kill_rogues(stage)


def _kill_rogues(stage: Stage) -> bool:
    """Every worker of the rogue sport that there is now."""
    hits = []
    for worker in stage.server.note_workers():
        with suppress(psutil.NoSuchProcess):
            if ROGUE in worker.cmdline():
                hits.append(_signal(worker.pid, signal.SIGKILL))
    return any(hits)


async def stopped(stage: Stage, chance: random.Random) -> bool:
    """A worker that gets no more of the processor; the pool calls it and kills it, or it goes on later."""
    workers = await _workers(stage)
    if not workers:
        return False
    try:
        worker = psutil.Process(chance.choice(workers)["pid"])
        worker.suspend()
    except psutil.NoSuchProcess:
        return False
    await trio.sleep(STOPPED_S)
    with suppress(psutil.NoSuchProcess):
        worker.resume()
    return True


async def _workers(stage: Stage) -> list[dict[str, Any]]:
    """Workers as the status has them, those that are surely the server's own."""
    own = {worker.pid for worker in stage.server.note_workers()}
    return [worker for pool in await stage.pools() for worker in pool["workers"] if worker["pid"] in own]


def _signal(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


FAULTS = {
    "worker killed while idle": killed_while_idle,
    "worker killed before its reply": killed_before_its_reply,
    "worker killed after its reply": killed_after_its_reply,
    "worker stopped": stopped,
}
