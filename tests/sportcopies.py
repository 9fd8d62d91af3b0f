"""Copies of cricket for tests: another version, another rule, built as its author would."""

import re
import shutil
from pathlib import Path

from config.sportfolder import BuiltWheel, build, read_folder

CRICKET = Path(__file__).parent.parent / "sports" / "cricket"
OFFICIALS = '_only_logged("officials")'


def cricket_copy(folder: Path, version: str, *, officials: str = "officials", golden: int = 0) -> Path:
    """A folder of cricket in another version, where `cricket.officials` emits another word.

    Of its golden matches only so many are kept.
    """
    copy = folder / f"cricket-{version}-{officials}"
    shutil.copytree(CRICKET, copy, ignore=shutil.ignore_patterns("__pycache__", "dist", "golden"))
    project, sport = copy / "pyproject.toml", copy / "scorebox_cricket" / "sport.py"
    project.write_text(re.sub(r'^version = ".*"$', f'version = "{version}"', project.read_text(), flags=re.M))
    text = re.sub(r'^    version = ".*"$', f'    version = "{version}"', sport.read_text(), flags=re.M)
    assert OFFICIALS in text
    sport.write_text(text.replace(OFFICIALS, f'_only_logged("{officials}")'))
    (copy / "golden").mkdir()
    for file in sorted((CRICKET / "golden").glob("*.scorebook"))[:golden]:
        shutil.copy(file, copy / "golden")
    return copy


async def cricket_wheel(folder: Path, version: str, **how: object) -> BuiltWheel:
    """The wheel of such a copy."""
    return await build(read_folder(cricket_copy(folder, version, **how)))  # type: ignore[arg-type]
