"""The inputs that fuzzing began with, and those that once broke something."""

from pathlib import Path

import pytest
import structlog

from tests.fuzz.edge import Edge
from tests.fuzz.targets import PLAIN, seeds

FOUND = sorted((Path(__file__).parent / "found").glob("*-*"))


@pytest.mark.parametrize("name", PLAIN)
def test_what_fuzzing_begins_with(name: str) -> None:
    for data in seeds(name):
        PLAIN[name](data)


@pytest.mark.parametrize(
    "path", [path for path in FOUND if path.name.split("-")[0] in PLAIN], ids=lambda path: path.name
)
def test_what_was_found(path: Path) -> None:
    PLAIN[path.name.split("-")[0]](path.read_bytes())


def test_what_was_found_at_the_edge() -> None:
    edge = Edge()
    try:
        for name in ("raw", "http", "socket"):
            for data in (*seeds(name), *(path.read_bytes() for path in FOUND if path.name.startswith(name))):
                getattr(edge, name)(data)
    finally:
        edge.end()


def test_a_target_that_fails_is_seen() -> None:
    edge = Edge()
    try:
        structlog.get_logger("scorebox.edge").error("a fault")
        with pytest.raises(AssertionError, match="a fault"):
            edge.http(b"GET /health/live\n")
    finally:
        edge.end()
