"""Whether more wants to run than there are processors, as the kernel tells it."""

import os
from pathlib import Path

import pytest

from runtime.processors import FEWEST, Processors

OURS = len(os.sched_getaffinity(0))
pytestmark = pytest.mark.skipif(OURS < FEWEST, reason="this machine has one processor: it is always crowded")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    running, quota = tmp_path / "loadavg", tmp_path / "cpu.max"
    tell(running, 1)
    return running, quota


def tell(file: Path, running: object) -> None:
    file.write_text(f"1.97 1.43 1.11 {running}/378 14649\n")


def test_a_look_is_at_this_moment(files: tuple[Path, Path]):
    with Processors(*files) as processors:
        for running, crowded in ((1, False), (OURS, False), (OURS + 1, True), (OURS, False)):
            tell(files[0], running)
            assert processors.crowded is crowded


@pytest.mark.parametrize(
    ("quota", "crowded"),
    [
        ("max 100000", False),
        ("200000 100000", False),
        ("150000 100000", True),
        ("50000 100000", True),
        ("", False),
        ("1 0", False),
        ("some 100000", False),
    ],
)
def test_a_container_with_less_than_two_processors_is_crowded(
    files: tuple[Path, Path], quota: str, crowded: bool
):
    files[1].write_text(quota)
    with Processors(*files) as processors:
        assert processors.crowded is crowded


@pytest.mark.parametrize("text", ["", "1.97 1.43", "1.97 1.43 1.11 many/378 14649"])
def test_what_cannot_be_told_counts_as_crowded(files: tuple[Path, Path], text: str):
    files[0].write_text(text)
    with Processors(*files) as processors:
        assert processors.crowded


def test_without_the_file_it_is_crowded(files: tuple[Path, Path]):
    files[0].unlink()
    with Processors(*files) as processors:
        assert processors.crowded


def test_outside_its_block_it_is_crowded(files: tuple[Path, Path]):
    processors = Processors(*files)
    with processors:
        assert not processors.crowded
    assert processors.crowded
