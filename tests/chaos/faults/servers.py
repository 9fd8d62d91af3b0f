"""The server killed, drained and stopped, at every moment of its life."""

import random
import signal
from contextlib import suppress
from pathlib import Path

import httpx
import trio

from tests.chaos.faults.clients import sent_twice
from tests.chaos.faults.corrections import correct_something
from tests.chaos.faults.versions import new_wheel
from tests.chaos.stage import AWAY, Stage

STARTING_S = (0.05, 1.5)
"""When a starting server is killed, from and to."""
STILL_S = (0.5, 3.0)
ASKED_AGAIN = 3
"""Commands from before a restart that are sent once more after it."""
CORRECTIONS = 4
"""Under way while a server drains."""
DRAIN_AFTER_S = (0.0, 0.05)
UPLOAD_LIMIT_S = 30.0


async def killed(stage: Stage, chance: random.Random) -> bool:
    """kill -9."""
    await _kill(stage)
    await _restart(stage, chance)
    return True


async def killed_while_it_starts(stage: Stage, chance: random.Random) -> bool:
    """Killed, started, and killed before it is ready."""
    await _kill(stage)
    await trio.to_thread.run_sync(stage.server.launch)
    await trio.sleep(chance.uniform(*STARTING_S))
    await _kill(stage)
    await _restart(stage, chance)
    return True


async def drained(stage: Stage, chance: random.Random) -> bool:
    """SIGTERM: it answers what it has, and ends with 0."""
    await _drain(stage)
    await _restart(stage, chance)
    return True


async def corrections_during_a_drain(stage: Stage, chance: random.Random) -> bool:
    """Corrections are sent just before and while it drains; each has its one answer in the end."""
    async with trio.open_nursery() as nursery:
        for _ in range(CORRECTIONS):
            match = chance.choice(stage.running())
            nursery.start_soon(correct_something, stage, random.Random(chance.random()), match)
        await trio.sleep(chance.uniform(*DRAIN_AFTER_S))
        await _drain(stage)
        await _restart(stage, chance)
    return True


async def killed_while_it_installs(stage: Stage, chance: random.Random) -> bool:
    """kill -9 once the upload's first step is told."""
    async with stage.installing:
        wheel = await new_wheel(stage)
        begun = False
        async with httpx.AsyncClient(
            base_url=stage.server.url,
            headers={"Authorization": f"Bearer {stage.server.token}"},
            trust_env=False,
            timeout=UPLOAD_LIMIT_S,
        ) as client:
            with suppress(*AWAY):
                async with client.stream("POST", "/v1/sports", content=wheel.data) as response:
                    async for _ in response.aiter_lines():
                        begun = True
                        await _kill(stage)
                        break
        if not begun:
            await _kill(stage)
        await _restart(stage, chance)
        sports = stage.server.data / "sports"
        if left := await trio.to_thread.run_sync(_incoming, sports):
            stage.history.violate(f"a killed install left {left}")
    return begun


def _incoming(sports: Path) -> list[str]:
    return [path.name for path in sports.glob(".incoming-*")]


async def stands_still(stage: Stage, chance: random.Random) -> bool:
    """No processor for a while: every deadline passes at once."""
    process = stage.server.process
    if process is None:
        return False
    process.send_signal(signal.SIGSTOP)
    try:
        await trio.sleep(chance.uniform(*STILL_S))
    finally:
        process.send_signal(signal.SIGCONT)
    return True


async def _restart(stage: Stage, chance: random.Random) -> None:
    """Start it; it knows the ids of commands that it accepted before."""
    await stage.restart()
    for _ in range(ASKED_AGAIN):
        await sent_twice(stage, chance)


async def _kill(stage: Stage) -> None:
    stage.ended_on_purpose = True
    stage.server.note_workers()
    await trio.to_thread.run_sync(stage.server.kill)


async def _drain(stage: Stage) -> None:
    stage.ended_on_purpose = True
    stage.server.note_workers()
    try:
        await trio.to_thread.run_sync(stage.server.stop)
    except AssertionError as error:
        stage.history.violate(f"the server did not end in order: {str(error)[-1500:]}")


FAULTS = {
    "server killed": killed,
    "server killed while it starts": killed_while_it_starts,
    "server drained": drained,
    "corrections during a drain": corrections_during_a_drain,
    "server killed while it installs": killed_while_it_installs,
    "server stands still": stands_still,
}
