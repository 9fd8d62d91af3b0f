"""The real match files, which stand outside the project."""

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]


def shared_folder() -> Path:
    """The folder of shared data: SCOREBOX_SHARED, else beside the project."""
    return Path(os.environ.get("SCOREBOX_SHARED") or PROJECT.parent / "shared")


def cricket_files() -> list[Path]:
    """Every Cricsheet file there; none without the folder."""
    return sorted((shared_folder() / "data" / "cricket").glob("*.json"))


def cricket_parameters() -> list[object]:
    """The files as parameters; one that skips visibly without them."""
    files = cricket_files()
    if not files:
        reason = "no match files: put the shared folder beside the project, or name it in SCOREBOX_SHARED"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-files")]
    return [pytest.param(file, id=file.stem) for file in files]
