"""What is logged about commands: every line written while one is worked on names it.

A line about a command carries `command` (its id), `match`, `code` and `account`, whoever writes it: the
road, a worker's pool, the committer. What became of it is one line: accepted at level debug, refused,
conflict and denied at info, "try again" and whatever took long at warning.
"""

from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog
import trio

from gateway.protocol import Accepted, Answer, CommandFrame, Conflict, Denied, Preview, Refused, TryAgain
from gateway.records import CommitItem

SLOW_COMMAND_S = 1.0
"""A command that took longer is told of at level warning, whatever became of it."""
LINES_PER_S = 100
"""Lines on commands that were not accepted: a flood of them fills no disk. What is left out is counted."""
TEXT_LIMIT_CHARACTERS = 80
"""Of what a client sent, in a line."""

log = structlog.get_logger("scorebox.commands")


class AtWork:
    """A command that is worked on: within the block every line this task writes names it.

    Tasks started meanwhile inherit it: `over` tells that it is no more.
    """

    __slots__ = ("_token", "account", "code", "id", "match", "over")

    def __init__(self, frame: CommandFrame, match: str, account: str | None) -> None:
        self.id = frame.id
        self.code = frame.code
        self.match = match
        self.account = account
        self.over = False

    def __enter__(self) -> None:
        self._token = _at_work.set(self)

    def __exit__(self, *_: object) -> None:
        self.over = True
        _at_work.reset(self._token)

    def names(self) -> dict[str, str | None]:
        """What every line carries."""
        return {
            "command": _plain(self.id),
            "match": _plain(self.match),
            "code": _plain(self.code),
            "account": self.account,
        }


_at_work: ContextVar[AtWork | None] = ContextVar("at_work", default=None)


def name_command(_: Any, __: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The processor of the log that puts the names in. What a line says itself stays."""
    work = _at_work.get()
    if work is not None and not work.over:
        for name, value in work.names().items():
            line.setdefault(name, value)
    return line


def named(item: CommitItem) -> dict[str, str | None]:
    """The names of a command on its way to the database."""
    return {
        "command": str(item.id),
        "match": str(item.match),
        "code": item.code,
        "account": item.source.account,
    }


class Journal:
    """Writes what became of commands."""

    def __init__(self) -> None:
        self._second = 0
        self._lines = 0
        self._left_out = 0

    def told(self, frame: CommandFrame, account: str | None, answer: Answer, seconds: float) -> None:
        """One command was answered after so many seconds."""
        slow = seconds > SLOW_COMMAND_S
        if isinstance(answer, Accepted | Preview) and not slow:
            write = log.debug
        elif self._full():
            self._left_out += 1
            return
        else:
            write = log.warning if slow or isinstance(answer, TryAgain) else log.info
        more = _outcome(answer) | {"ms": round(seconds * 1000, 1)}
        if self._left_out and write != log.debug:
            more["lines_left_out"], self._left_out = self._left_out, 0
        if slow:
            more["slow"] = True
        names = AtWork(frame, answer.match or frame.match, account).names()
        write("command", **names, **more)

    def _full(self) -> bool:
        second = int(trio.current_time())
        if second != self._second:
            self._second, self._lines = second, 0
        self._lines += 1
        return self._lines > LINES_PER_S


def _outcome(answer: Answer) -> dict[str, Any]:
    match answer:
        case Accepted():
            return {"outcome": "accepted", "seq": answer.seq, "duplicate": answer.duplicate}
        case Refused():
            return {"outcome": "refused", "why": answer.code, "sentence": _plain(answer.sentence)}
        case Denied():
            return {"outcome": "denied", "why": answer.reason}
        case TryAgain():
            return {"outcome": "try_again", "why": answer.reason}
        case Conflict():
            return {"outcome": "conflict", "seq": answer.last_seq}
        case Preview():
            return {"outcome": "preview", "seq": answer.last_seq}


journal = Journal()
"""As the loggers are: one for the process."""


def _plain(text: str | None) -> str:
    """What a client sent, as it can stand on one line."""
    text = text or ""
    cut = text if len(text) <= TEXT_LIMIT_CHARACTERS else text[: TEXT_LIMIT_CHARACTERS - 1] + "…"
    return cut if cut.isprintable() else ascii(cut)
