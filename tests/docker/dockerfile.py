"""Reads a Dockerfile and its ignore file: as much of the language as ours uses, and nothing silently."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

KNOWN = frozenset(
    {
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "USER",
        "ENV",
        "VOLUME",
        "EXPOSE",
        "STOPSIGNAL",
        "HEALTHCHECK",
        "CMD",
    }
)


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction and what comes after its name."""

    name: str
    text: str

    def words(self) -> list[str]:
        """The text as a list: JSON where it is, else words."""
        found: list[str] = json.loads(self.text) if self.text.startswith("[") else shlex.split(self.text)
        return found


def read_steps(text: str) -> list[Step]:
    """The steps in order. Raises ValueError for an instruction that is not known here."""
    joined = re.sub(r"\\\n", " ", "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    steps = [Step(*line.strip().split(maxsplit=1)) for line in joined.splitlines() if line.strip()]
    if unknown := {step.name for step in steps} - KNOWN:
        raise ValueError(f"these instructions are not known here: {', '.join(sorted(unknown))}")
    return steps


def health_command(step: Step) -> list[str]:
    """What a HEALTHCHECK runs."""
    command: list[str] = json.loads(step.text.partition("CMD ")[2])
    return command


def context(folder: Path, patterns: list[str]) -> Iterator[Path]:
    """The files of a build context, relative to it, without those that are ignored."""
    for path in sorted(folder.iterdir()):
        yield from _within(folder, path, patterns)


def _within(folder: Path, path: Path, patterns: list[str]) -> Iterator[Path]:
    name = path.relative_to(folder)
    if any(_matches(name, pattern) for pattern in patterns):
        return
    if path.is_dir() and not path.is_symlink():
        for inner in sorted(path.iterdir()):
            yield from _within(folder, inner, patterns)
    else:
        yield name


def _matches(name: Path, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch(name.name, pattern.removeprefix("**/"))
    return fnmatch(str(name), pattern) and len(name.parts) == len(Path(pattern).parts)
