"""A vigil: while one piece of work is under way and nothing else, the event loop does not sleep.

Work that is alone waits for others (a worker, the database, its disk), and the loop would sleep meanwhile,
for some tenths of a millisecond each time. A processor that slept so long wakes late and then works slowly
for a while, a virtual one most of all: half of what the server added to a lone commit call went into that
(docs/performance.md). So a task of the vigil's stays runnable, and the loop looks for events again and
again instead of waiting for them; whatever else is to be done is done as ever.

What it costs is the processor's time that would have been slept, at most `most_s` for each piece of work.
Nobody else is kept from a processor by it: where more wants to run than there are processors, the vigil
ends. It ends as well with more work under way, for then there is something to do anyway.
"""

import trio

from runtime.processors import Processors

LOOKS = 10
"""The loop looks for events so often before the vigil looks whether it is still to be kept: some 50 µs."""


class Vigil:
    """Enter it around each piece of work. `run` must be running for it to do anything.

    `most_s` is the longest it keeps awake for one piece of work, in seconds; 0 is never.
    """

    def __init__(self, most_s: float, processors: Processors | None = None) -> None:
        self._most_s = most_s
        self._processors = processors or Processors()
        self._under_way = 0
        self._until = 0.0
        self._begun = trio.Event()

    def __enter__(self) -> None:
        self._under_way += 1
        if self._under_way == 1 and self._most_s:
            self._until = trio.current_time() + self._most_s
            self._begun.set()

    def __exit__(self, *_: object) -> None:
        self._under_way -= 1

    @property
    def kept(self) -> bool:
        """True while the loop is to be kept awake."""
        return self._under_way == 1 and trio.current_time() < self._until

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep awake until cancelled."""
        with self._processors as processors:
            task_status.started()
            while True:
                await self._begun.wait()
                while self.kept and not processors.crowded:
                    for _ in range(LOOKS):
                        await trio.lowlevel.cancel_shielded_checkpoint()
                    await trio.lowlevel.checkpoint_if_cancelled()
                self._begun = trio.Event()
