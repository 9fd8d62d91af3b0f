"""A file that is there whole or not at all, and never in another one's place."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from runtime.errors import FileTaken

NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR)
"""What O_TMPFILE answers where there are none (open(2))."""
FILE_MODE = 0o600
"""What is taken out of a server holds what people scored, and who did."""


@contextmanager
def new_file(target: Path) -> Iterator[BinaryIO]:
    """A file to write. Where the block ends well it appears under its name, flushed to disk; else never.

    Raises:
        FileTaken: something is there already.
        OSError: it cannot be written, as on a full disk.
    """
    if os.path.lexists(target):
        raise FileTaken(f"{target} is there already: choose another name, or move it away")
    with _unnamed(target) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        _name(file, target)


@contextmanager
def _unnamed(target: Path) -> Iterator[BinaryIO]:
    """A file in the target's folder that has no name: the kernel drops it, however this process ends.

    Where the file system has no such files (NFS), one beside it that the next try writes over.
    """
    beside: Path | None = None
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        descriptor = os.open(target.parent, os.O_TMPFILE | flags, FILE_MODE)
    except OSError as error:
        if error.errno not in NO_UNNAMED_FILES:
            raise
        beside = target.with_name(f".{target.name}.partial")
        descriptor = os.open(beside, os.O_CREAT | os.O_TRUNC | flags, FILE_MODE)
    try:
        with open(descriptor, "w+b") as file:
            yield file
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def _name(file: BinaryIO, target: Path) -> None:
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.link(f"/proc/self/fd/{file.fileno()}", target.name, dst_dir_fd=folder, follow_symlinks=True)
        os.fsync(folder)
    except FileExistsError as error:
        raise FileTaken(f"{target} appeared meanwhile: choose another name") from error
    finally:
        os.close(folder)
