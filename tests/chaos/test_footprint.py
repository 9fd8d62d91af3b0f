"""What counts as a leak."""

from dataclasses import replace

import pytest

from tests.chaos.footprint import DESCRIPTORS_A_WORKER, Footprint

BASE = Footprint(descriptors=40, clients=0, threads=5, memory_bytes=70 * 2**20, workers=6, other_children=0)


def test_as_much_as_before_is_no_leak_and_workers_take_descriptors() -> None:
    assert BASE.grown(BASE) == []
    more = replace(BASE, workers=10, descriptors=40 + 4 * DESCRIPTORS_A_WORKER)
    assert more.grown(BASE) == []


@pytest.mark.parametrize(
    ("what", "much"),
    [("descriptors", 500), ("clients", 1), ("threads", 100), ("memory_bytes", 2**30), ("other_children", 1)],
)
def test_more_is_a_leak(what: str, much: int) -> None:
    assert len(replace(BASE, **{what: much}).grown(BASE)) == 1
