"""How late the event loop is: the first thing that shows when something holds it up."""

from collections import deque

import trio

SAMPLE_EVERY_S = 0.25
SAMPLES = 40
"""The newest ten seconds."""
LIVE_LIMIT_S = 5.0
"""A loop that was this late is not live: something blocks it."""


class LoopLag:
    """Measures by how much a sleeping task wakes too late."""

    def __init__(self) -> None:
        self._late: deque[float] = deque([0.0], maxlen=SAMPLES)

    async def run(self) -> None:
        """Measure until cancelled."""
        while True:
            due = trio.current_time() + SAMPLE_EVERY_S
            await trio.sleep_until(due)
            self._late.append(trio.current_time() - due)

    @property
    def worst_s(self) -> float:
        """The worst of the newest ten seconds."""
        return max(self._late)
