"""Version folders: several versions of a sport's code side by side (design section 9).

    <root>/<sport>/<version>/<package>/…   the code, read-only
    <root>/<sport>/<version>/files.sha256  digest of what was installed
    <root>/<sport>/current                 the version new matches use
    <root>/<sport>/bundled                 code_shas that came with the application, one a line

A folder appears whole or not at all: it is written under another name and renamed. It is hashed again
before a worker starts from it; the server never imports from it. Who writes holds the root's lock file
shared: so what a killed process left half-written is known to be nobody's, and removed at the next start.
"""

import fcntl
import json
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

import structlog

from runtime.bundled import bundled_sports
from runtime.bytecode import Bytecode
from runtime.errors import CodeMissing, CodeTampered, CodeUnfit, ManifestMissing, VersionConflict
from runtime.fingerprint import BYTECODE_FOLDER, code_sha, files_sha, package_files
from runtime.guarding import GuardPolicy
from runtime.versionfolder import (
    INCOMING_PREFIX,
    MANIFEST_NAME,
    RETIRED_PREFIX,
    put_folder,
    read_folder,
    read_text,
    recorded_digest,
    remove_folder,
    take_away,
    write_text,
)
from runtime.worker.guard.level import Level
from runtime.worker.limits import EXPERIMENTAL_PACKAGE

CURRENT_NAME = "current"
BUNDLED_NAME = "bundled"
LOCK_NAME = ".lock"
DEV_SHA_CHARACTERS = 8
REFRESH_PAUSE_S = 1.0
"""The folders are looked at again for an unknown code_sha, but not for every call that asks for one."""

_VERSION = re.compile(r"^(\d+)\.(\d+)\.(\d+)(\+dev\.[0-9a-f]{8})?$")
_NAME = re.compile(r"^[a-z][a-z0-9_]{0,63}$")

DEFAULT_POLICY = GuardPolicy()

log = structlog.get_logger("scorebox.versions")


@dataclass(frozen=True, slots=True)
class SportVersion:
    """One installed version. `folder` is the version folder, the package lies in it."""

    sport: str
    version: str
    package: str
    folder: Path
    code_sha: str
    files_sha: str


class VersionStore:
    """The installed versions under a root folder. Safe to use from several threads and processes."""

    def __init__(
        self, root: Path, *, experimental: bool = False, guard: GuardPolicy = DEFAULT_POLICY
    ) -> None:
        self.root = root
        self._experimental = experimental
        self._guard = guard
        self._bytecode = Bytecode()
        self._lock = RLock()
        self._by_sha: dict[str, SportVersion] = {}
        self._refreshed_at = 0.0
        self.damaged: dict[Path, str] = {}
        """Folders that no longer hold what was installed → why. No match can use them."""
        _sweep(root)
        self.refresh()

    def refresh(self) -> None:
        """Looks at the folders again: another process may have installed a version."""
        found: dict[str, SportVersion] = {}
        damaged: dict[Path, str] = {}
        for folder in _version_folders(self.root):
            try:
                version = _read_version(folder)
            except (CodeTampered, CodeUnfit, OSError) as error:
                damaged[folder] = str(error)
                if folder not in self.damaged:
                    log.error("version_damaged", folder=str(folder), why=str(error))
            else:
                found[version.code_sha] = version
        with self._lock:
            self._by_sha, self.damaged = found, damaged
            self._refreshed_at = time.monotonic()

    def sports(self) -> list[str]:
        """Sports with at least one usable version."""
        return sorted({version.sport for version in self._by_sha.values()})

    def versions(self, sport: str) -> list[SportVersion]:
        """The usable versions of a sport, oldest first."""
        return sorted((each for each in self._by_sha.values() if each.sport == sport), key=_order)

    def current(self, sport: str, version: str | None = None) -> SportVersion | None:
        """The version new matches of a sport use, or the one asked for; None where there is none."""
        versions = {each.version: each for each in self.versions(sport)}
        if version is not None:
            return versions.get(version)
        named = read_text(self.root / sport / CURRENT_NAME)
        if named and named not in versions and time.monotonic() - self._refreshed_at >= REFRESH_PAUSE_S:
            # Another process has installed it.
            self.refresh()
            versions = {each.version: each for each in self.versions(sport)}
        return versions.get(named) or next(reversed(versions.values()), None)

    def find(self, sha: str) -> SportVersion:
        """The version a match is pinned to.

        Raises:
            CodeMissing: no usable folder has this code_sha.
        """
        version = self._by_sha.get(sha)
        if version is None and time.monotonic() - self._refreshed_at >= REFRESH_PAUSE_S:
            self.refresh()
            version = self._by_sha.get(sha)
        if version is None:
            raise CodeMissing(
                f"no installed version has the code_sha {sha}: install the one the match is pinned to"
            )
        return version

    def verify(self, version: SportVersion) -> None:
        """Hashes a version again, and makes its bytecode ours. Blocking: a few milliseconds.

        Raises:
            CodeMissing: the folder is gone, or it is an experimental sport's and those are off.
            CodeTampered: it holds other files than were installed.
        """
        self.check_allowed(version.package)
        if not version.folder.is_dir():
            raise CodeMissing(f"{version.folder} is gone: install {version.sport} {version.version} again")
        try:
            found = _read_version(version.folder)
        except (CodeUnfit, OSError) as error:
            raise CodeTampered(f"{version.folder}: {error}") from error
        if found.code_sha != version.code_sha:
            raise CodeTampered(f"{version.folder} has the code_sha {found.code_sha}, not {version.code_sha}")
        try:
            self._bytecode.refresh(version.folder / version.package)
        except OSError as error:
            raise CodeTampered(
                f"the {BYTECODE_FOLDER} folders in {version.folder} must be writable: {error}"
            ) from error

    def check_allowed(self, package: str) -> None:
        """That code of a package with this name may run here.

        Raises:
            CodeMissing: it is an experimental sport's, and those are off.
        """
        if package == EXPERIMENTAL_PACKAGE and not self._experimental:
            raise CodeMissing(
                "experimental sports are for developers and are off: set SCOREBOX_EXPERIMENTAL=true"
            )

    def manifest(self, version: SportVersion) -> dict[str, Any]:
        """The sport as data: manifest.json of the package.

        Raises:
            ManifestMissing: it is not there, or not a JSON object.
        """
        path = version.folder / version.package / MANIFEST_NAME
        try:
            manifest = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ManifestMissing(f"{path} cannot be read: {error}") from error
        if not isinstance(manifest, dict):
            raise ManifestMissing(f"{path} is no JSON object")
        return manifest

    def install_folder(self, package: Path, sport: str, version: str, *, dev: bool = False) -> SportVersion:
        """Installs a package's folder and returns the version it became. Blocking.

        Equal content installed before is left alone. With `dev`, other content under the same number
        becomes X.Y.Z+dev.<sha8>. New matches use what was installed, unless it is older than what they use.

        Raises:
            CodeUnfit: the package cannot be a sport's (compiled code, links, a wrong name or version).
            VersionConflict: the version is there with other content, and `dev` is off.
        """
        _check_names(sport, package.name, version)
        files = package_files(package)
        try:
            installed = self.place(files, package.name, sport, version)
        except VersionConflict:
            if not dev:
                raise
            installed = self.place(files, package.name, sport, dev_version(version, files))
        self.use(installed)
        return installed

    def place(self, files: Mapping[str, bytes], package: str, sport: str, version: str) -> SportVersion:
        """Puts a package's files (path → content) into a version folder. New matches do not use it yet.

        Raises:
            CodeUnfit: a wrong name or version.
            VersionConflict: the version is there with other content.
        """
        _check_names(sport, package, version)
        with self.writing():
            folder = self.root / sport / version
            if not put_folder(folder, files):
                raise _conflict(sport, version)
        installed = SportVersion(sport, version, package, folder, code_sha(files), files_sha(files))
        with self._lock:
            self._by_sha[installed.code_sha] = installed
        return installed

    def check_free(self, files: Mapping[str, bytes], sport: str, version: str) -> None:
        """That these files may be placed as this version.

        Raises:
            VersionConflict: the version is there with other content.
        """
        target = self.root / sport / version
        if target.is_dir() and recorded_digest(target) != files_sha(files):
            raise _conflict(sport, version)

    def use(self, version: SportVersion) -> bool:
        """Has new matches use a version, unless it is older than what they use. Whether they do."""
        with self._lock:
            self._make_current(version)
            return self.current(version.sport) == version

    def remove(self, version: SportVersion) -> None:
        """Removes a version. Whoever decided so knows that nothing needs it. One that is gone is left so."""
        with self.writing():
            take_away(version.folder)
            with self._lock:
                self._by_sha.pop(version.code_sha, None)

    @contextmanager
    def staging(self) -> "Iterator[VersionStore]":
        """A store of its own to try a version in; it is gone after the block. Blocking at both ends."""
        with self.writing():
            folder = Path(tempfile.mkdtemp(prefix=INCOMING_PREFIX, dir=self.root))
            try:
                yield VersionStore(folder, experimental=self._experimental, guard=self._guard)
            finally:
                remove_folder(folder)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While something half-written may lie about: nobody sweeps. Ends with the process at the latest."""
        self.root.mkdir(parents=True, exist_ok=True)
        with open(self.root / LOCK_NAME, "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            yield

    def install_bundled(self, application: Path, *, dev: bool = False) -> list[SportVersion]:
        """Installs every sport that comes with the application."""
        installed = [
            self.install_folder(bundled.package, bundled.sport, bundled.version, dev=dev)
            for bundled in bundled_sports(application)
        ]
        for version in installed:
            self.note_bundled(version)
        return installed

    def minimum_guard(self, version: SportVersion) -> Level:
        """The least level of guard that a worker must have to be given a version's code."""
        return self._guard.minimum(bundled=self.is_bundled(version))

    def is_bundled(self, version: SportVersion) -> bool:
        """Whether this code came with the application, now or earlier."""
        return version.code_sha in self._bundled(version.sport)

    def _bundled(self, sport: str) -> list[str]:
        return read_text(self.root / sport / BUNDLED_NAME).split()

    def note_bundled(self, version: SportVersion) -> None:
        """Remembers for good that this code came with the application: matches may stay pinned to it."""
        with self._lock, self.writing():
            known = self._bundled(version.sport)
            if version.code_sha not in known:
                lines = "".join(f"{sha}\n" for sha in (*known, version.code_sha))
                write_text(self.root / version.sport / BUNDLED_NAME, lines)

    def _make_current(self, installed: SportVersion) -> None:
        current = self.current(installed.sport)
        if current is None or current == installed or _takes_over(installed, current):
            path = self.root / installed.sport / CURRENT_NAME
            with self.writing():
                write_text(path, installed.version)


def dev_version(version: str, files: Mapping[str, bytes]) -> str:
    """The version of unreleased code: X.Y.Z+dev. and the first signs of its code_sha."""
    return f"{version.partition('+')[0]}+dev.{code_sha(files)[:DEV_SHA_CHARACTERS]}"


def _check_names(sport: str, package: str, version: str) -> None:
    if not _NAME.match(sport) or not _NAME.match(package):
        raise CodeUnfit(f"{sport!r} and {package!r} must be lower-case words")
    if not _VERSION.match(version):
        raise CodeUnfit(f"the version {version!r} of {sport} is not X.Y.Z")


def _conflict(sport: str, version: str) -> VersionConflict:
    return VersionConflict(f"{sport} {version} is installed with other content: raise the package's version")


def _takes_over(new: SportVersion, current: SportVersion) -> bool:
    """True where new matches should use `new`: a higher number, or the newest content of an equal one."""
    return _order(new)[:3] >= _order(current)[:3]


def _order(version: SportVersion) -> tuple[int, int, int, str]:
    match = _VERSION.match(version.version)
    assert match is not None, version
    return int(match[1]), int(match[2]), int(match[3]), match[4] or ""


def _read_version(folder: Path) -> SportVersion:
    """The version in a folder. Raises as `read_folder`."""
    held = read_folder(folder)
    return SportVersion(folder.parent.name, folder.name, held.package, folder, held.code_sha, held.files_sha)


def _version_folders(root: Path) -> Iterable[Path]:
    return [folder for folder in sorted(root.glob("*/*")) if _VERSION.match(folder.name) and folder.is_dir()]


def _sweep(root: Path) -> None:
    """Removes what processes that were killed left behind; nothing while somebody writes."""
    left = [
        path
        for prefix in (INCOMING_PREFIX, RETIRED_PREFIX)
        for path in (*root.glob(f"{prefix}*"), *root.glob(f"*/{prefix}*"))
    ]
    if not left:
        return
    with suppress(OSError), open(root / LOCK_NAME, "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for path in left:
            if path.is_dir():
                remove_folder(path)
            else:
                path.unlink(missing_ok=True)
