"""A small disk for the database's tables: a file system in memory whose size is changed under it."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOM_BYTES = 2 * 2**30
"""Memory is used only for what is written."""
LEFT_BYTES = 128 * 1024
"""What a full disk has left: some commits get through, then none."""


class NoDisk(Exception):
    """No file system can be mounted here; says why."""


class SmallDisk:
    """A mounted tmpfs at `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leave next to no room."""
        found = os.statvfs(self.folder)
        used = (found.f_blocks - found.f_bfree) * found.f_frsize
        self._mount(f"remount,size={used + LEFT_BYTES}")

    def free(self) -> None:
        """Leave all the room there is."""
        self._mount(f"remount,size={ROOM_BYTES}")

    def _mount(self, options: str) -> None:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
        if done.returncode != 0:
            raise NoDisk(done.stderr.strip() or f"mount ended with {done.returncode}")


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A disk at `folder`, gone afterwards.

    Raises:
        NoDisk: it cannot be mounted: it takes root's rights.
    """
    if os.geteuid() != 0:
        raise NoDisk("only root may mount a file system")
    folder.mkdir()
    disk = SmallDisk(folder)
    try:
        disk._mount(f"size={ROOM_BYTES},mode=0711")
    except OSError as error:
        raise NoDisk(str(error)) from error
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], timeout=10, check=False, capture_output=True)
