"""The folder of one version on disk: put in place whole, sealed, read again, taken away.

Nothing is ever written in place: a folder is written under another name, flushed, and renamed.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import structlog

from runtime.errors import CodeTampered, CodeUnfit
from runtime.fingerprint import BYTECODE_FOLDER, code_sha, files_sha, package_files

RECORD_NAME = "files.sha256"
MANIFEST_NAME = "manifest.json"
INCOMING_PREFIX = ".incoming-"
DAMAGED_PREFIX = ".damaged-"
RETIRED_PREFIX = ".retired-"

log = structlog.get_logger("scorebox.versions")


class Held(NamedTuple):
    """What a version folder holds: a package and its digests."""

    package: str
    code_sha: str
    files_sha: str


def read_folder(folder: Path) -> Held:
    """What a folder holds, hashed now.

    Raises:
        CodeTampered: it is not what was installed.
        CodeUnfit: what is there cannot be a sport's package.
        OSError: it cannot be read.
    """
    recorded = read_text(folder / RECORD_NAME)
    packages = [entry.name for entry in os.scandir(folder) if entry.name != RECORD_NAME]
    if len(packages) != 1:
        raise CodeTampered(
            f"{folder} must hold one package and {RECORD_NAME}; it holds {', '.join(sorted(packages))}"
        )
    files = package_files(folder / packages[0])
    found = files_sha(files)
    if found != recorded:
        raise CodeTampered(
            f"the files in {folder} have the digest {found}, installed was {recorded or 'none'}"
        )
    return Held(packages[0], code_sha(files), found)


def is_sound(folder: Path) -> bool:
    """Whether a folder holds what was installed."""
    try:
        read_folder(folder)
    except (CodeTampered, CodeUnfit, OSError):
        return False
    return True


def recorded_digest(folder: Path) -> str:
    """The digest of what was installed in a folder; empty where there is none."""
    return read_text(folder / RECORD_NAME)


def put_folder(target: Path, files: Mapping[str, bytes]) -> bool:
    """Puts files (path → content) into a version folder; False where it holds others. Equal ones stay."""
    wanted = files_sha(files)
    target.parent.mkdir(parents=True, exist_ok=True)
    incoming = Path(tempfile.mkdtemp(prefix=INCOMING_PREFIX, dir=target.parent))
    try:
        _write(incoming, files, wanted)
        while True:
            try:
                os.rename(incoming, target)
                _sync(target.parent)
            except OSError:
                if not target.is_dir():
                    raise
                if recorded_digest(target) != wanted:
                    return False
                if is_sound(target):
                    return True
                # Damaged since it was installed, and here is what it held: put it back.
                _set_aside(target)
                continue
            return True
    finally:
        remove_folder(incoming)


def take_away(folder: Path) -> None:
    """Removes a version folder: gone at once for whoever looks. One that is gone is left so."""
    aside = folder.with_name(f"{RETIRED_PREFIX}{folder.name}-{secrets.token_hex(4)}")
    with suppress(FileNotFoundError):
        os.rename(folder, aside)
        _sync(aside.parent)
    remove_folder(aside)


def remove_folder(folder: Path) -> None:
    """Removes a folder of ours that may be sealed already; nothing where it was renamed away."""
    if not folder.is_dir():
        return
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


def read_text(path: Path) -> str:
    """A small file's text; empty where there is none."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def write_text(path: Path, text: str) -> None:
    """Puts a small file in place, whole or not at all."""
    with tempfile.NamedTemporaryFile("w", prefix=INCOMING_PREFIX, dir=path.parent, delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


def _write(folder: Path, files: Mapping[str, bytes], digest: str) -> None:
    """Writes and seals a version folder. Flushed to disk: after a crash it is whole or not there."""
    for name, content in {**files, RECORD_NAME: digest.encode()}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        path.chmod(0o444)
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            if path != folder:
                (path / BYTECODE_FOLDER).mkdir()
            _sync(path)
            path.chmod(0o555)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _set_aside(folder: Path) -> None:
    # Renamed within its parent: a sealed folder cannot move to another one.
    aside = folder.with_name(f"{DAMAGED_PREFIX}{folder.name}-{secrets.token_hex(4)}")
    with suppress(FileNotFoundError):
        os.rename(folder, aside)
        log.warning("version_set_aside", folder=str(folder), aside=str(aside))
