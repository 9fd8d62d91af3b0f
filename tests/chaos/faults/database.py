"""Sessions cut at every moment of a commit; postgres stopped, killed, slow, out of reach, out of room."""

import os
import random
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import trio

from tests.chaos.stage import Stage

HIT_LIMIT_S = 10.0
"""The next commit comes within this, where anybody scores."""
WHILE_S = (0.5, 2.5)
"""How long something lasts, from and to."""
FULL_S = (2.0, 4.0)
DELAYS_S = (0.005, 0.12)
"""Of every piece of data to and from a slow database."""


async def session_ended(stage: Stage, chance: random.Random) -> bool:
    """One of the server's backends, whatever it is at."""
    sessions = await stage.sessions()
    return bool(sessions) and await _terminate(stage, [chance.choice(sessions)])


async def all_sessions_ended(stage: Stage, chance: random.Random) -> bool:
    """All of them at once."""
    return await _terminate(stage, await stage.sessions())


async def _terminate(stage: Stage, pids: list[int]) -> bool:
    return any(await stage.ask("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid", pids))


async def commit_cut_after_it_was_sent(stage: Stage, chance: random.Random) -> bool:
    """Postgres saves; nobody hears it."""
    hit = stage.proxy.lose_reply = trio.Event()
    return await _hit(hit)


async def commit_cut_before_it_arrived(stage: Stage, chance: random.Random) -> bool:
    """Postgres never hears it."""
    hit = stage.proxy.lose_request = trio.Event()
    return await _hit(hit)


async def reply_late(stage: Stage, chance: random.Random) -> bool:
    """The answer comes after a while."""
    hit = trio.Event()
    stage.proxy.hold_reply = hit, chance.uniform(*WHILE_S)
    return await _hit(hit)


async def _hit(event: trio.Event) -> bool:
    with trio.move_on_after(HIT_LIMIT_S):
        await event.wait()
    return event.is_set()


async def session_stands_still(stage: Stage, chance: random.Random) -> bool:
    """A backend that is given no processor: its locks stay."""
    sessions = await stage.sessions()
    if not sessions:
        return False
    pid = chance.choice(sessions)
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return False
    try:
        await trio.sleep(chance.uniform(*WHILE_S))
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return True


def postgres_gets(number: signal.Signals) -> Callable[[Stage, random.Random], Awaitable[bool]]:
    """A signal to the postmaster that ends it."""

    async def do(stage: Stage, chance: random.Random) -> bool:
        pid = stage.postmaster()
        if pid is None:
            return False
        os.kill(pid, number)
        return True

    return do


async def out_of_reach(stage: Stage, chance: random.Random) -> bool:
    """A network between server and database that is down."""
    stage.proxy.refusing = True
    try:
        stage.proxy.cut()
        await trio.sleep(chance.uniform(*WHILE_S))
    finally:
        stage.proxy.refusing = False
    return True


async def slow(stage: Stage, chance: random.Random) -> bool:
    """A network between server and database that is slow."""
    stage.proxy.delay_s = chance.uniform(*DELAYS_S)
    try:
        await trio.sleep(chance.uniform(*WHILE_S))
    finally:
        stage.proxy.delay_s = 0.0
    return True


async def disk_full(stage: Stage, chance: random.Random) -> bool:
    """Tables cannot grow."""
    if stage.disk is None:
        return False
    before = stage.history.tallies["try_again"]
    await trio.to_thread.run_sync(stage.disk.fill)
    try:
        await trio.sleep(chance.uniform(*FULL_S))
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(stage.disk.free)
    stage.note(f"disk full: {stage.history.tallies['try_again'] - before} times try again")
    return True


FAULTS = {
    "database session ended": session_ended,
    "all database sessions ended": all_sessions_ended,
    "commit cut after it was sent": commit_cut_after_it_was_sent,
    "commit cut before it arrived": commit_cut_before_it_arrived,
    "reply of the database late": reply_late,
    "database session stands still": session_stands_still,
    "database stopped": postgres_gets(signal.SIGINT),
    "database stopped at once": postgres_gets(signal.SIGQUIT),
    "database killed": postgres_gets(signal.SIGKILL),
    "database out of reach": out_of_reach,
    "database slow": slow,
    "disk full": disk_full,
}
