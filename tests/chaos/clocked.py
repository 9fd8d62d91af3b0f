"""`scorebox serve` whose clock of the day is off by what a file says, in seconds.

    CHAOS_CLOCK_FILE=… python -m tests.chaos.clocked

Only the server's own modules are given the other clock; nothing outside this process is touched.
"""

import datetime as datetimes
import os
import sys
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

FILE = "CHAOS_CLOCK_FILE"
PACKAGES = ("runtime", "gateway", "verifier", "config")


def offset_s() -> float:
    """By how much the clock is off now."""
    try:
        return float(Path(os.environ[FILE]).read_text())
    except (OSError, ValueError):
        return 0.0


class _AlikeDatetime(type):
    """Every datetime is an instance of the clocked one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, datetime)


class ClockedDatetime(datetime, metaclass=_AlikeDatetime):
    """A datetime whose now is off."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """The time of the day, off by what the file says."""
        return datetime.now(tz) + timedelta(seconds=offset_s())


def set_clocks() -> None:
    """Give every module of the server that asks for the time of the day the other clock."""
    true_time = time.time
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in PACKAGES:
            continue
        if getattr(module, "datetime", None) is datetimes.datetime:
            module.datetime = ClockedDatetime  # type: ignore[attr-defined]
        if getattr(module, "time", None) is time:
            module.time = _Time(true_time)  # type: ignore[attr-defined]


class _Time:
    """The module `time` with another time of the day."""

    def __init__(self, true_time: Any) -> None:
        self._true_time = true_time

    def time(self) -> float:
        """Seconds since 1970, off by what the file says."""
        return float(self._true_time()) + offset_s()

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


if __name__ == "__main__":
    import config.server  # noqa: F401 - all of the server, before its clocks are set
    from config.commands.serve import serve

    set_clocks()
    serve()
