"""The machine's processors: how many we have, and whether more wants to run than there are."""

import os
from pathlib import Path

RUNNING_FILE = Path("/proc/loadavg")
"""Its fourth field is "running/all": tasks of the whole machine that run or wait for a processor, now."""
QUOTA_FILE = Path("/sys/fs/cgroup/cpu.max")
"""A container's part of them: "quota period" in microseconds, "max" for no quota."""
FEWEST = 2
"""With less, whoever runs keeps another from running."""
READ_BYTES = 64


class Processors:
    """Looks at the processors for as long as the block runs. A look costs a microsecond."""

    def __init__(self, running_file: Path = RUNNING_FILE, quota_file: Path = QUOTA_FILE) -> None:
        self._running_file = running_file
        self._ours = min(len(os.sched_getaffinity(0)), _quota(quota_file))
        """Of many we may have few. Who runs on the others is not told, so everybody counts against ours."""
        self._descriptor: int | None = None

    def __enter__(self) -> "Processors":
        try:
            self._descriptor = os.open(self._running_file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = None
        return self

    def __exit__(self, *_: object) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    @property
    def crowded(self) -> bool:
        """True while somebody waits for a processor, where we have but one, and where that cannot be told."""
        if self._descriptor is None or self._ours < FEWEST:
            return True
        try:
            running = os.pread(self._descriptor, READ_BYTES, 0).split(b" ", 4)[3].partition(b"/")[0]
            return int(running) > self._ours
        except (OSError, IndexError, ValueError):
            return True


def _quota(file: Path) -> float:
    """So many processors' time we may have; without a quota, any number."""
    try:
        quota, period = file.read_text().split()
        return float("inf") if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return float("inf")
