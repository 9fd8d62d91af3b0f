"""A sport's folder as its author keeps it (pyproject.toml, a package, golden matches), and its wheel."""

import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import trio

from config.errors import BadSportFolder
from runtime.fingerprint import package_files
from runtime.guarding import GuardPolicy
from runtime.trial import describe, staged
from runtime.versions import VersionStore, dev_version
from runtime.wheels import GOLDEN, MANIFEST, VERSION, read_wheel, wheel_name, write_wheel

FORBIDDEN = ("scripts", "gui-scripts", "entry-points", "optional-dependencies", "dependencies")
"""Of [project]: a sport brings none of them. The contract and msgspec are there already."""


@dataclass(frozen=True, slots=True)
class SportFolder:
    """What a folder holds: files by path, golden matches by name."""

    name: str
    version: str
    summary: str
    package: str
    files: Mapping[str, bytes]
    golden: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class BuiltWheel:
    """A wheel and the name of its file."""

    name: str
    data: bytes
    sport: str
    version: str


def read_folder(folder: Path) -> SportFolder:
    """Reads a sport's folder; its package's manifest.json is left out, since it is made anew.

    Raises:
        BadSportFolder: it cannot be built; says what to mend.
        CodeUnfit: so does its package.
    """
    project = _project(folder / "pyproject.toml")
    for key in FORBIDDEN:
        if project.get(key):
            raise BadSportFolder(f"{folder}: [project] has {key}; a sport brings none")
    name, version = project.get("name"), project.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        raise BadSportFolder(f"{folder / 'pyproject.toml'}: [project] must have a name and a version")
    if not VERSION.fullmatch(version) or "+" in version:
        raise BadSportFolder(f"{folder / 'pyproject.toml'}: the version {version!r} must be X.Y.Z")
    packages = [path.parent for path in sorted(folder.glob("scorebox_*/__init__.py"))]
    if len(packages) != 1:
        found = ", ".join(path.name for path in packages) or "none"
        raise BadSportFolder(f"{folder} must hold one package scorebox_…; it holds {found}")
    package = packages[0]
    files = package_files(package)
    files.pop(f"{package.name}/{MANIFEST}", None)
    golden = {path.name: path.read_bytes() for path in sorted((folder / GOLDEN).glob("*")) if path.is_file()}
    summary = " ".join(str(project.get("description", "")).split())
    return SportFolder(name, version, summary, package.name, files, golden)


def _project(path: Path) -> dict[str, Any]:
    try:
        project = tomllib.loads(path.read_text("utf-8")).get("project")
    except FileNotFoundError as error:
        raise BadSportFolder(f"{path.parent} is no sport's folder: it has no {path.name}") from error
    except (OSError, ValueError) as error:
        raise BadSportFolder(f"{path} cannot be read: {error}") from error
    if not isinstance(project, dict):
        raise BadSportFolder(f"{path} has no [project]")
    return project


TRUSTED = GuardPolicy(installed="audit")
"""Who builds a sport runs code of his own: what the kernel of his machine lacks need not stop him."""


async def build(folder: SportFolder, *, dev: bool = False) -> BuiltWheel:
    """The wheel of a folder, its manifest made by running the sport in a worker.

    With `dev` its version is X.Y.Z+dev.<sha8>: unreleased code, beside any other of the same number.

    Raises:
        BadSportFolder: what the sport says of itself is not what pyproject.toml says.
        RuntimeFault: the sport cannot be run, or its wheel could not be installed.
    """
    with tempfile.TemporaryDirectory(prefix="scorebox-build-") as place:
        store = VersionStore(Path(place) / "sports", guard=TRUSTED)
        async with staged(store, folder.files, folder.package, "built") as (pools, version):
            manifest = await describe(pools, version)
    if manifest["version"] != folder.version:
        raise BadSportFolder(
            f"the sport says it is version {manifest['version']}, pyproject.toml says {folder.version}; "
            "write the same in both"
        )
    files = {**folder.files, f"{folder.package}/{MANIFEST}": manifest_json(manifest)}
    number = dev_version(folder.version, files) if dev else folder.version
    data = write_wheel(folder.name, number, folder.summary, files, folder.golden)
    await trio.to_thread.run_sync(read_wheel, data)
    return BuiltWheel(wheel_name(folder.name, number), data, manifest["sport"], number)


def manifest_json(manifest: dict[str, Any]) -> bytes:
    """The manifest as it stands in a wheel: JSON with sorted keys, two spaces deep."""
    return msgspec.json.format(msgspec.json.encode(manifest, order="sorted"), indent=2) + b"\n"
