"""What a worker prints, bounded: the newest bytes for errors, and a few lines a second for the log."""

OUTPUT_TAIL_BYTES = 4 * 1024
LOGGED_BYTES_PER_SECOND = 4 * 1024
LINE_LIMIT_BYTES = 1024


class BoundedOutput:
    """Takes whatever a worker prints and keeps little of it. No I/O, no clock."""

    def __init__(self) -> None:
        self._tail = b""
        self._second = -1
        self._room = 0
        self.received_bytes = 0
        self.dropped_bytes = 0
        """Bytes that went neither to the log nor anywhere else."""

    @property
    def tail(self) -> str:
        """The newest of it, as text."""
        return self._tail.decode(errors="replace").strip()

    def receive(self, data: bytes, now: float) -> list[str]:
        """The lines to log now, at `now` seconds of a monotonic clock."""
        self.received_bytes += len(data)
        self._tail = (self._tail + data)[-OUTPUT_TAIL_BYTES:]
        if int(now) != self._second:
            self._second, self._room = int(now), LOGGED_BYTES_PER_SECOND
        taken = data[: self._room]
        self._room -= len(taken)
        self.dropped_bytes += len(data) - len(taken)
        return [
            line[:LINE_LIMIT_BYTES].decode(errors="replace") for line in taken.splitlines() if line.strip()
        ]
