"""A new sport's folder: a small game that builds and plays, to be turned into the real one."""

import re
from pathlib import Path
from string import Template

from config.errors import BadSportFolder

TEMPLATES = Path(__file__).parent / "templates" / "sport"
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "$package/__init__.py": "init.py.txt",
    "$package/commands.py": "commands.py.txt",
    "$package/sport.py": "sport.py.txt",
    "golden/first.golden": "first.golden.txt",
}
"""Path in the folder → template."""
TYPED_MARK = "$package/py.typed"
CODE = re.compile(r"[a-z][a-z0-9_]{0,53}")
NAME_LIMIT_CHARACTERS = 64
UNFIT_IN_NAME = re.compile(r'["\\\x00-\x1f\x7f]')


def write_new(folder: Path, code: str, name: str) -> list[Path]:
    """Writes the folder of a new sport and returns its files. Nothing is written over.

    Raises:
        BadSportFolder: the code or the name cannot be a sport's, or something stands there already.
    """
    if not CODE.fullmatch(code):
        raise BadSportFolder(f"{code!r} is no code of a sport; write a word in small letters (table_tennis)")
    if not 0 < len(name) <= NAME_LIMIT_CHARACTERS or UNFIT_IN_NAME.search(name):
        raise BadSportFolder(
            f"{name!r} is no name of a sport; write up to {NAME_LIMIT_CHARACTERS} letters, without quotes"
        )
    if folder.exists() and any(folder.iterdir()):
        raise BadSportFolder(f"{folder} is not empty; give another folder")
    package = f"scorebox_{code}"
    words = {"code": code, "name": name, "package": package, "project": package.replace("_", "-")}
    written = []
    for path, template in FILES.items():
        content = Template((TEMPLATES / template).read_text("utf-8")).substitute(words)
        written.append(_write(folder / Template(path).substitute(words), content))
    written.append(_write(folder / Template(TYPED_MARK).substitute(words), ""))
    return written


def _write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path
