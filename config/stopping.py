"""Runs something until it is told to stop, and ends the process in time whatever hangs."""

import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
import trio

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Kill, Ctrl-C, and the end of the terminal."""

log = structlog.get_logger("scorebox")


def _say_nothing() -> None:
    pass


async def until_told_to_stop(
    work: Callable[[], Awaitable[None]], hard_after_s: float, told: Callable[[], None] = _say_nothing
) -> None:
    """Runs `work`; the first of the signals cancels it, at any moment of it, and later ones change nothing.

    `told` is called at that first one. The stop may take `hard_after_s`. Past it the process ends at once,
    with exit code 0 all the same: it was told to. Nothing accepted is lost by that; workers and an embedded
    database hear of the end from the kernel. For the main thread, once: the signals stay taken to the end of
    the process, so that a second one can neither tear the stop apart nor be the last thing it hears of.
    """
    scope = trio.CancelScope()
    token = trio.lowlevel.current_trio_token()

    def stop(name: str) -> None:
        if scope.cancel_called:
            log.info("stopping already", signal=name)
            return
        log.info("told to stop", signal=name, limit_s=hard_after_s)
        # Not a task: what hangs may be the loop itself, or a part of it that is shielded.
        timer = threading.Timer(hard_after_s, _end_now, (hard_after_s,))
        timer.daemon = True
        timer.start()
        scope.cancel()
        told()

    def heard(number: int, _: object) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(stop, signal.Signals(number).name)

    for number in STOP_SIGNALS:
        signal.signal(number, heard)
    with scope:
        await work()
    # The interpreter gives handlers up before it ends, but leaves ignored signals ignored.
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end_now(limit_s: float) -> None:
    log.error("the stop took too long and is cut short", limit_s=limit_s)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
