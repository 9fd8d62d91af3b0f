"""SQL kept as SQL: files of named blocks.

A block begins with a line `-- name: what_it_is` and an explaining comment, and goes on to the next one.
"""

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "sql"
_HEADING = re.compile(r"^-- name: ([a-z_]+)$", re.MULTILINE)


def split_blocks(text: str) -> dict[str, str]:
    """Name → statement, without its comments in front."""
    names = _HEADING.findall(text)
    bodies = _HEADING.split(text)[2::2]
    if len(set(names)) != len(names):
        raise ValueError("two blocks of SQL have the same name")
    return {name: _statement(body) for name, body in zip(names, bodies, strict=True)}


def _statement(body: str) -> str:
    lines = body.strip().splitlines()
    while lines and lines[0].startswith("--"):
        del lines[0]
    return "\n".join(lines)


@cache
def load_blocks(file: str) -> dict[str, str]:
    """The blocks of one file in `gateway/sql`."""
    return split_blocks((FOLDER / file).read_text("utf-8"))
