"""Compiled code of a version folder, made by this server and by nobody else.

Bytecode is not part of a fingerprint, yet the interpreter runs it instead of the source. So what lies
in `__pycache__` is used only where this process wrote it; anything else is written anew. Workers
cannot write it themselves (they write no files), and without it each of them would compile the sport at
its start.
"""

import os
import py_compile
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from threading import Lock


class Bytecode:
    """Remembers what it wrote. Safe to use from several threads."""

    def __init__(self) -> None:
        self._written: dict[Path, bytes] = {}
        self._lock = Lock()

    def refresh(self, package: Path) -> None:
        """Makes sure that every module's bytecode is ours.

        Raises:
            OSError: the `__pycache__` folders cannot be written.
        """
        with self._lock:
            for source in sorted(package.rglob("*.py")):
                target = Path(cache_from_source(str(source), optimization=""))
                found = _digest(target)
                if found is None or found != self._written.get(target):
                    self._write(source, target)

    def _write(self, source: Path, target: Path) -> None:
        self._written.pop(target, None)
        try:
            py_compile.compile(
                str(source),
                cfile=str(target),
                doraise=True,
                optimize=0,
                invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH,
            )
        except py_compile.PyCompileError:
            # The worker that imports the module tells about the mistake, with its line.
            target.unlink(missing_ok=True)
            return
        digest = _digest(target)
        if digest is not None:
            self._written[target] = digest


def _digest(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        return sha256(file.read()).digest()
