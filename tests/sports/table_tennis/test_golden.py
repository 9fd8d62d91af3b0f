"""Golden matches: the real finals' files are as they are made, and say what a reader can check."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sports.kit import read_match

FOLDER = Path(__file__).parents[3] / "sports" / "table_tennis"
FILES = sorted((FOLDER / "golden").glob("*.golden"))


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module


def test_the_files_are_as_they_are_made():
    made = load("make_finals")
    for seed, (name, final) in enumerate(made.FINALS.items()):
        assert (FOLDER / "golden" / f"{name}.golden").read_text() == made.write(final, seed), name


def test_they_say_what_is_made_up():
    for file in FILES:
        assert "made up" in file.read_text().lower(), file


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_game_has_as_many_points_as_rallies(file: Path):
    match = read_match(file)
    if not file.stem.startswith("2021"):
        assert {step.code.partition(".")[2] for step in match.steps} >= {
            "card",
            "expedite",
            "set_score",
            "retire",
        }
        return
    points = sum(
        mark.values["values"]["points"]
        for mark in match.marks
        if mark.kind == "line" and mark.values["role"] == "side"
    )
    assert points == sum(step.code == "table_tennis.point" for step in match.steps) > 100
