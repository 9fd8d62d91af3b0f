"""A match file on disk."""

from pathlib import Path

from sports.readers.errors import NotThisFormat


def read_file(path: Path) -> bytes:
    """What a file holds.

    Raises:
        NotThisFormat: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotThisFormat(
            str(path), f"the file cannot be read ({error.strerror})", "check its path"
        ) from error
