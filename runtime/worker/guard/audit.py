"""The audit hook: what the interpreter reports of the sport's code, and what of it is refused, by name.

The table is data; `Rules.tried` decides over an event and its arguments. CPython's list of events:
https://docs.python.org/3/library/audit_events.html
"""

import os
import posixpath
import sys
from collections.abc import Callable
from typing import Any, Literal

from runtime.worker.guard.attempts import Attempts

SOCKET = "open a connection"
PROCESS = "start a process"
THREAD = "start a thread"
SIGNAL = "send a signal"
WRITE = "write a file"
READ = "read a file"
MEMORY = "reach past Python into memory"
FRAMES = "look into the frames of its callers"
OBJECTS = "go through the objects of the process"
CODE = "change code that runs"
PROCESS_STATE = "change the worker's process"
TIME = "ask for the time"
CHANCE = "ask for a random number"

FAMILIES = {
    "socket": SOCKET,
    "ssl": SOCKET,
    "http": SOCKET,
    "urllib": SOCKET,
    "ftplib": SOCKET,
    "imaplib": SOCKET,
    "nntplib": SOCKET,
    "poplib": SOCKET,
    "smtplib": SOCKET,
    "telnetlib": SOCKET,
    "syslog": SOCKET,
    "webbrowser": PROCESS,
    "subprocess": PROCESS,
    "pty": PROCESS,
    "ctypes": MEMORY,
    "shutil": WRITE,
    "tempfile": WRITE,
    "sqlite3": WRITE,
    "dbm": WRITE,
    "fcntl": PROCESS_STATE,
    "resource": PROCESS_STATE,
}
"""First word of an event → the deed."""

EVENTS = {
    "os.fork": PROCESS,
    "os.forkpty": PROCESS,
    "os.exec": PROCESS,
    "os.spawn": PROCESS,
    "os.posix_spawn": PROCESS,
    "os.system": PROCESS,
    "os.startfile": PROCESS,
    "_thread.start_new_thread": THREAD,
    "_thread.start_joinable_thread": THREAD,
    "os.kill": SIGNAL,
    "os.killpg": SIGNAL,
    "signal.pthread_kill": SIGNAL,
    "os.remove": WRITE,
    "os.rename": WRITE,
    "os.mkdir": WRITE,
    "os.rmdir": WRITE,
    "os.link": WRITE,
    "os.symlink": WRITE,
    "os.truncate": WRITE,
    "os.utime": WRITE,
    "os.chmod": WRITE,
    "os.chown": WRITE,
    "os.chflags": WRITE,
    "os.lockf": WRITE,
    "os.setxattr": WRITE,
    "os.removexattr": WRITE,
    "os.chdir": PROCESS_STATE,
    "time.sleep": TIME,
    "sys._current_frames": FRAMES,
    "sys._current_exceptions": FRAMES,
    "gc.get_objects": OBJECTS,
    "gc.get_referrers": OBJECTS,
    "gc.get_referents": OBJECTS,
    "sys.addaudithook": CODE,
    "sys.settrace": CODE,
    "sys.setprofile": CODE,
    "sys.monitoring.register_callback": CODE,
}
"""Event → the deed: refused whatever the arguments are."""

MODULES = {
    **dict.fromkeys(("socket", "_socket", "ssl", "_ssl", "asyncio", "select", "selectors"), SOCKET),
    **dict.fromkeys(
        ("subprocess", "_posixsubprocess", "multiprocessing", "_multiprocessing", "pty", "_posixshmem"),
        PROCESS,
    ),
    **dict.fromkeys(("ctypes", "_ctypes", "mmap"), MEMORY),
    **dict.fromkeys(("fcntl", "resource", "termios"), PROCESS_STATE),
    **dict.fromkeys(("sqlite3", "_sqlite3"), WRITE),
    "secrets": CHANCE,
}
"""Modules of the standard library that rules have no use for."""

FRAME_READERS = frozenset(
    {"collections/__init__.py", "typing.py", "enum.py", "dataclasses.py", "warnings.py", "contextlib.py"}
)
"""Of the standard library: read a caller's frame for its module's name or its line."""
TRACEBACK_READERS = frozenset({"traceback.py", "contextlib.py"})
FRAME_ATTRIBUTES = frozenset({"tb_frame", "gi_frame", "cr_frame", "ag_frame"})

_WRITING_MODE = frozenset("wax+")
_WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

Kind = Literal["refused", "module", "file", "folder", "frame", "attribute", "assignment", "code"]
Tried = tuple[str, str]
"""Deed, and what of it."""

_CHECKED: dict[str, Kind] = {
    "import": "module",
    "open": "file",
    "os.listdir": "folder",
    "os.scandir": "folder",
    "sys._getframe": "frame",
    "object.__getattr__": "attribute",
    "object.__setattr__": "assignment",
    "object.__delattr__": "assignment",
    "code.__new__": "code",
}


def kind_of(event: str) -> Kind | None:
    """How an event is looked at; None for one that is let pass."""
    if event in _CHECKED:
        return _CHECKED[event]
    return "refused" if event in EVENTS or event.partition(".")[0] in FAMILIES else None


class Rules:
    """What is refused. `readable` are files and folders that may be read.

    `standard` and `host` are the folders of code that is not the sport's: the standard library, our own.
    `unpickling` is the file that may make code objects: the loader of an experimental sport.
    """

    def __init__(
        self,
        readable: tuple[str, ...],
        standard: tuple[str, ...],
        host: tuple[str, ...],
        unpickling: str | None = None,
    ) -> None:
        self._readable = tuple(path.rstrip("/") for path in readable)
        self._standard = tuple(f"{path.rstrip('/')}/" for path in standard)
        self._host = tuple(f"{path.rstrip('/')}/" for path in host)
        self._unpickling = unpickling

    def tried(self, event: str, arguments: tuple[Any, ...], asker: str) -> Tried | None:
        """What the event is an attempt at; None where it may be. `asker` is the file of the code it is of."""
        match kind_of(event):
            case "refused":
                if event == "ctypes.get_errno" and asker.startswith(self._host):
                    # The probe's, in `kernel`.
                    return None
                return EVENTS.get(event) or FAMILIES[event.partition(".")[0]], event
            case "module":
                name = _text(arguments[0])
                deed = MODULES.get(name.partition(".")[0])
                return (deed, f"import {name}") if deed else None
            case "file":
                return self._opened(*arguments)
            case "folder":
                return None if self._may_read(arguments[0]) else (READ, f"{event} of {_text(arguments[0])}")
            case "frame":
                return None if self._is_trusted(asker, FRAME_READERS) else (FRAMES, event)
            case "attribute":
                if _text(arguments[1]) not in FRAME_ATTRIBUTES or self._is_trusted(asker, TRACEBACK_READERS):
                    return None
                return FRAMES, _text(arguments[1])
            case "assignment":
                return (CODE, "__code__") if _text(arguments[1]) == "__code__" else None
            case "code":
                ours = asker == self._unpickling or asker.startswith((*self._standard, *self._host))
                return None if ours else (CODE, event)
            case None:
                return None

    def _opened(self, path: Any, mode: Any, flags: Any) -> Tried | None:
        if type(mode) is str and _WRITING_MODE & set(mode):
            return WRITE, _text(path)
        if type(flags) is int and flags & _WRITING_FLAGS:
            return WRITE, _text(path)
        return None if self._may_read(path) else (READ, _text(path))

    def _may_read(self, path: Any) -> bool:
        if type(path) is int:
            # A descriptor that the process has already.
            return True
        normal = posixpath.normpath(_text(path))
        return any(normal == each or normal.startswith(f"{each}/") for each in self._readable)

    def _is_trusted(self, asker: str, readers: frozenset[str]) -> bool:
        if asker.startswith(("<frozen ", *self._host)):
            return True
        return any(
            asker.removeprefix(folder) in readers for folder in self._standard if asker.startswith(folder)
        )


def _text(given: Any) -> str:
    """A path or a name as text. No method of the sport's may run here: the hook would not see it."""
    if type(given) is str:
        return given
    return os.fsdecode(given) if type(given) is bytes else f"a {type(given).__name__}"


def install(rules: Rules, attempts: Attempts) -> None:
    """Has the interpreter ask the rules from now on. Nothing takes the hook away again."""
    frame_of: Callable[[int], Any] = sys._getframe
    kinds: dict[str, Kind | None] = {}
    busy = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        try:
            kind = kinds[event]
        except KeyError:
            kind = kinds[event] = kind_of(event)
        if kind is None or busy:
            return
        busy = True
        try:
            asker = frame_of(1).f_code.co_filename
            tried = rules.tried(event, arguments, asker)
            if tried is None:
                return
            stopped = attempts.note(*tried)
        finally:
            busy = False
        raise stopped

    sys.addaudithook(hook)
