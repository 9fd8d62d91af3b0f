"""What one socket is sent: at once while it keeps up, through a short queue while it is behind."""

from collections import deque
from collections.abc import Callable
from typing import Protocol

import trio

from gateway.stream import Taken

OWED_LIMIT_BYTES = 256 * 1024
"""A socket that did not take one whole frame while this much was meant for it is closed."""
STALL_LIMIT_S = 20.0
"""A socket that did not take one whole frame for this long is closed, however little was meant for it."""


class Owing(Protocol):
    """A watcher with frames that could not be written at once."""

    def pull(self) -> bytes | None:
        """The next frame, or None when nothing is owed any more."""
        ...

    def written(self) -> None:
        """The frame pulled last is with the kernel."""
        ...


class Outlet(Protocol):
    """What a channel needs of a connection's stream: `EdgeStream` says what each does."""

    def send_now(self, frame: bytes) -> Taken:
        """Write a whole frame without waiting, or nothing, or a part whose rest `flush` brings out."""
        ...

    async def send_all(self, data: bytes) -> None:
        """Write all of it, in turn."""
        ...

    async def flush(self) -> None:
        """Bring out the rest of a frame that was written in part."""
        ...


class Channel:
    """The sending side of one socket.

    `overrun` is called once when the socket is too far behind; it closes the socket. A writer task
    runs in `nursery` only while the socket is behind.
    """

    def __init__(self, stream: Outlet, nursery: trio.Nursery, overrun: Callable[[], None]) -> None:
        self._stream = stream
        self._nursery = nursery
        self._overrun = overrun
        self._queue: deque[bytes | Owing] = deque()
        self._queued_bytes = 0
        self._owed_bytes = 0
        self._caught_up = trio.Event()
        self._caught_up.set()
        self._over = False
        self.behind = False

    def push(self, frame: bytes) -> bool:
        """Write a frame without waiting; False when the socket is behind and nothing was written."""
        if self.behind:
            return False
        taken = self._stream.send_now(frame)
        if taken is Taken.WHOLE:
            return True
        if taken is Taken.PARTLY:
            self._fall_behind()
            return True
        return False

    def post(self, frame: bytes) -> None:
        """Write a frame now or as soon as the socket takes it, after what was posted before."""
        if not self.push(frame):
            self._queue.append(frame)
            self._queued_bytes += len(frame)
            self.owe(len(frame))

    def line_up(self, owing: Owing) -> None:
        """A watcher has something to send; it is pulled when the socket gets there."""
        self._queue.append(owing)
        self._fall_behind()

    def owe(self, size: int) -> None:
        """Count bytes meant for a socket that is behind, also those left out for a newer document."""
        if self._owed_bytes > OWED_LIMIT_BYTES:
            self._give_up()
        else:
            self._owed_bytes += size
            self._fall_behind()

    def end(self) -> None:
        """Nothing more is sent: the socket is closing."""
        self._over = True
        self._queue.clear()

    async def caught_up(self) -> None:
        """Wait until the socket has taken everything."""
        await self._caught_up.wait()

    def _fall_behind(self) -> None:
        if not self.behind and not self._over:
            self.behind = True
            self._caught_up = trio.Event()
            self._nursery.start_soon(self._catch_up)

    def _give_up(self) -> None:
        if not self._over:
            self.end()
            self._overrun()

    async def _catch_up(self) -> None:
        """Write what is queued, a frame at a time, until the socket is up to date."""
        try:
            with trio.fail_after(STALL_LIMIT_S) as scope:
                await self._stream.flush()
                while self._queue:
                    item = self._queue[0]
                    frame = item if isinstance(item, bytes) else item.pull()
                    if frame is not None:
                        await self._stream.send_all(frame)
                        scope.deadline = trio.current_time() + STALL_LIMIT_S
                    self._done(item, frame)
        except trio.TooSlowError:
            self._give_up()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # The reader of the connection hears of it too and ends the socket.
            self.end()
        finally:
            self.behind = False
            self._caught_up.set()

    def _done(self, item: bytes | Owing, frame: bytes | None) -> None:
        """One frame went out: the socket moves, so what it owes is what is still queued."""
        if not isinstance(item, bytes) and frame is not None:
            item.written()
        if not self._queue:
            return
        self._queue.popleft()
        if isinstance(item, bytes):
            self._queued_bytes -= len(item)
        elif frame is not None:
            # Watchers of several matches on one socket take turns.
            self._queue.append(item)
        self._owed_bytes = self._queued_bytes
