"""What the sport's code tried and must not: remembered, for the code may swallow the exception."""

import sys
from types import FrameType
from typing import NamedTuple

KEPT_MOST = 16
"""Attempts remembered in one call; the first one is told."""
FRAMES_MOST = 40
"""Frames told of one attempt."""

_frame = sys._getframe


class Forbidden(PermissionError):
    """The rules tried what they must not. An OSError, so that a library falls back where it can."""


class Attempt(NamedTuple):
    """One attempt: `deed` goes after "tried to", `what` names the call, `where` is a line of the sport's."""

    deed: str
    what: str
    where: str
    stack: str


class Attempts:
    """The attempts since they were last taken. `folder` is the version's: what is in it is the sport's."""

    def __init__(self, folder: str) -> None:
        self._folder = folder.rstrip("/") + "/"
        self._kept: list[Attempt] = []

    def note(self, deed: str, what: str, depth: int = 1) -> Forbidden:
        """Remembers an attempt of the caller `depth` frames up; the exception that stops it."""
        if len(self._kept) < KEPT_MOST:
            where, stack = self._place(_frame(depth + 1))
            self._kept.append(Attempt(deed, what, where, stack))
        return Forbidden(f"the rules must not {deed}: {what}")

    def take(self) -> Attempt | None:
        """The first attempt since the last time; the others are forgotten."""
        if not self._kept:
            return None
        first = self._kept[0]
        self._kept.clear()
        return first

    def where(self, file: str, line: int) -> str | None:
        """A line of the sport's as it is told; None for a line of anything else."""
        return f"{file.removeprefix(self._folder)}:{line}" if file.startswith(self._folder) else None

    def _place(self, frame: FrameType | None) -> tuple[str, str]:
        """The innermost line of the sport's, and the calls that led to it, outermost first."""
        where = ""
        calls: list[str] = []
        while frame is not None and len(calls) < FRAMES_MOST:
            code = frame.f_code
            calls.append(f'  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}\n')
            where = where or self.where(code.co_filename, frame.f_lineno) or ""
            frame = frame.f_back
        return where, "".join(reversed(calls))
