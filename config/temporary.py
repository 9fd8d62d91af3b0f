"""A data folder that is gone afterwards."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_data_folder() -> Iterator[Path]:
    """A path for a server's data, within a folder that lasts as long as the block."""
    with tempfile.TemporaryDirectory(prefix="scorebox-", ignore_cleanup_errors=True) as folder:
        # postgres runs as another user where we are root, and has to reach its folder.
        os.chmod(folder, 0o711)  # noqa: S103
        yield Path(folder, "data")
