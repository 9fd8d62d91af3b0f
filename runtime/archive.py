"""An archive: one file of several members, each with its digest, that is there whole or not at all.

A zip file, so that any machine can look into it. Its last member, `manifest.json`, names every other one with
its size and sha256; the file's comment carries the manifest's own sha256. A cut or changed archive is
refused before anything is taken from it. Blocking: for threads and command lines.
"""

import errno
import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from runtime.errors import ArchiveUnfit
from runtime.newfile import new_file

MANIFEST = "manifest.json"
MANIFEST_LIMIT_BYTES = 64 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError)
"""What reading a damaged zip file may end in, beside a seek to where nothing is."""
COMPRESSION_LEVEL = 1
"""Rows shrink to a fifth at the cheapest level; higher ones cost more time than they save room."""


class MemberEntry(msgspec.Struct, frozen=True):
    """A member as the manifest names it."""

    bytes: int
    sha256: str


class _Manifest(msgspec.Struct, frozen=True):
    kind: str
    version: int
    members: dict[str, MemberEntry]
    about: msgspec.Raw


class ArchiveWriter:
    """Writes members one after another. Made by `new_archive`."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION_LEVEL, strict_timestamps=False
        )
        self._members: dict[str, MemberEntry] = {}

    def abandon(self) -> None:
        """Let go of the file, whatever state it is in."""
        with suppress(OSError, ValueError):
            self._zip.close()

    @contextmanager
    def member(self, name: str) -> Iterator[Callable[[bytes], None]]:
        """A member; yields what takes its bytes."""
        digest, size = hashlib.sha256(), 0
        with self._zip.open(name, "w", force_zip64=True) as file:

            def write(data: bytes) -> None:
                nonlocal size
                file.write(data)
                digest.update(data)
                size += len(data)

            yield write
        self._members[name] = MemberEntry(size, digest.hexdigest())

    def finish(self, kind: str, version: int, about: msgspec.Struct) -> str:
        """Write the manifest, and return its sha256: who keeps it can tell this archive from any other."""
        raw = msgspec.Raw(msgspec.json.encode(about))
        text = msgspec.json.format(
            msgspec.json.encode(_Manifest(kind, version, self._members, raw)), indent=1
        )
        sha = hashlib.sha256(text).hexdigest()
        self._zip.writestr(MANIFEST, text)
        self._zip.comment = _comment(kind, sha)
        self._zip.close()
        return sha


def _comment(kind: str, sha: str) -> bytes:
    return f"{kind} sha256={sha}".encode()


@contextmanager
def new_archive(target: Path) -> Iterator[ArchiveWriter]:
    """An archive to write. Where the block ends well it appears under its name, flushed to disk; else never.

    Raises:
        FileTaken: something is there already.
        OSError: it cannot be written, as on a full disk.
    """
    with new_file(target) as file:
        writer = ArchiveWriter(file)
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise


class Archive:
    """An archive that was found whole. Made by `open_archive`."""

    def __init__(self, file: zipfile.ZipFile, manifest: _Manifest, sha256: str) -> None:
        self._zip = file
        self.version = manifest.version
        self.about = manifest.about
        self.members = manifest.members
        self.sha256 = sha256

    def read(self, name: str) -> bytes:
        """A member as a whole."""
        return self._zip.read(name)

    def chunks(self, name: str) -> Iterator[bytes]:
        """A member, piece by piece."""
        with self._zip.open(name) as file:
            while data := file.read(CHUNK_BYTES):
                yield data


@contextmanager
def open_archive(path: Path, kind: str, versions: range) -> Iterator[Archive]:
    """An archive of this kind, checked to the last byte.

    Raises:
        ArchiveUnfit: it is none of this kind, or of a version that is not read here, or was cut or changed.
        OSError: the file cannot be read.
    """
    with path.open("rb") as raw:
        try:
            file = zipfile.ZipFile(raw)
            archive = _checked(path, file, kind, versions)
        except DAMAGE as error:
            raise _damaged(path, str(error)) from error
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            raise _damaged(path, "a place in it that cannot be") from error
        with file:
            yield archive


def _checked(path: Path, file: zipfile.ZipFile, kind: str, versions: range) -> Archive:
    names = file.namelist()
    if MANIFEST not in names or not file.comment.startswith(f"{kind} ".encode()):
        raise ArchiveUnfit(f"{path} is no {kind}")
    if file.getinfo(MANIFEST).file_size > MANIFEST_LIMIT_BYTES:
        raise _damaged(path, f"its {MANIFEST} is larger than {MANIFEST_LIMIT_BYTES} bytes")
    text = file.read(MANIFEST)
    sha = hashlib.sha256(text).hexdigest()
    if file.comment != _comment(kind, sha):
        raise _damaged(path, f"its {MANIFEST} is not the one it was written with")
    with suppress(msgspec.MsgspecError):
        manifest = msgspec.json.decode(text, type=_Manifest)
        if manifest.version not in versions:
            raise ArchiveUnfit(
                f"{path} is of version {manifest.version}, this program reads {versions[0]} to "
                f"{versions[-1]}: use the newer program"
            )
        if sorted(names) != sorted([*manifest.members, MANIFEST]):
            raise _damaged(path, "it does not hold the members its manifest names")
        for name, entry in manifest.members.items():
            digest, size = hashlib.sha256(), 0
            with file.open(name) as member:
                while data := member.read(CHUNK_BYTES):
                    digest.update(data)
                    size += len(data)
                    if size > entry.bytes:
                        break
            if size != entry.bytes or digest.hexdigest() != entry.sha256:
                raise _damaged(path, f"{name} is not what was written")
        return Archive(file, manifest, sha)
    raise _damaged(path, f"its {MANIFEST} cannot be read")


def _damaged(path: Path, why: str) -> ArchiveUnfit:
    return ArchiveUnfit(f"{path} was cut or changed since it was made ({why}): use another copy")
