"""Sports that come with the application: found in its folders, without importing them."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import ManifestMissing
from runtime.versionfolder import MANIFEST_NAME


@dataclass(frozen=True, slots=True)
class BundledSport:
    """A sport that comes with the application, not installed yet."""

    sport: str
    version: str
    package: Path


def bundled_sports(application: Path) -> list[BundledSport]:
    """Sports under `sports/*/scorebox_*` of the application, found without importing them.

    The version is in the package's manifest.json, or in the pyproject.toml beside the package.

    Raises:
        ManifestMissing: neither says the version.
    """
    found = []
    for package in sorted(application.glob("sports/*/scorebox_*")):
        if package.name == "scorebox_contract" or not (package / "__init__.py").is_file():
            continue
        found.append(BundledSport(package.parent.name, _bundled_version(package), package))
    return found


def _bundled_version(package: Path) -> str:
    try:
        return str(json.loads((package / MANIFEST_NAME).read_bytes())["version"])
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestMissing(f"{package / MANIFEST_NAME} cannot be read: {error!r}") from error
    project = package.parent / "pyproject.toml"
    try:
        return str(tomllib.loads(project.read_text())["project"]["version"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestMissing(
            f"neither {MANIFEST_NAME} in {package} nor {project} says a version: {error!r}"
        ) from error
