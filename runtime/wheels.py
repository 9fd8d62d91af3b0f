"""A sport's wheel: read without trusting it, and written so that equal sources give equal bytes.

A wheel is a zip archive that holds one package and a `.dist-info` folder. What is read here is looked at
entry by entry before anything is unpacked, and what is unpacked stays in memory until it was compared with
the wheel's RECORD. Nothing is imported and nothing is written. Golden matches lie in the package's folder
`golden`, or in the same folder of the `.dist-info`, where they do not count in the fingerprint.
"""

import csv
import io
import json
import re
import stat
import zipfile
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from installer.exceptions import InstallerError
from installer.records import parse_record_file
from installer.sources import WheelFile
from installer.utils import parse_metadata_file

from runtime.errors import WheelUnfit
from runtime.fingerprint import BYTECODE_FOLDER, NATIVE_SUFFIXES, PACKAGE_LIMIT_BYTES, PACKAGE_LIMIT_FILES
from runtime.worker.limits import EXPERIMENTAL_PACKAGE
from scorebox_contract import CONTRACT_VERSION

WHEEL_LIMIT_BYTES = 8 * 1024 * 1024
"""Of the file as it is sent; cricket with ten golden matches has a tenth of it."""
UNPACKED_LIMIT_BYTES = PACKAGE_LIMIT_BYTES
FILES_LIMIT = PACKAGE_LIMIT_FILES
RATIO_LIMIT = 100
"""Unpacked bytes to one packed; source text shrinks to a tenth at best."""
RATIO_FROM_BYTES = 1024 * 1024
"""Smaller files are not asked how far they unpack."""
PATH_LIMIT_CHARACTERS = 200
PATH_LIMIT_FOLDERS = 12

MANIFEST = "manifest.json"
GOLDEN = "golden"
DIST_INFO = ".dist-info"
DATA = ".data"
CONTRACT_PACKAGE = "scorebox_contract"
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every entry in a wheel made here."""
FILE_MODE = (stat.S_IFREG | 0o644) << 16
STRONG_HASHES = frozenset({"sha256", "sha384", "sha512"})
PLAIN_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
ENTRY_MARK = b"PK\x01\x02"
"""Begins every entry of an archive's directory."""
ENCRYPTED = 0x1

VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(\+dev\.[0-9a-f]{8})?")
_PACKAGE = re.compile(r"scorebox_[a-z0-9_]{1,54}")
_SPORT = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PATH = re.compile(r"[A-Za-z0-9_.+~ -]+(/[A-Za-z0-9_.+~ -]+)*/?")
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    InstallerError,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
    KeyError,
)
"""What reading a spoiled archive or RECORD raises."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an archive, as its directory tells of it. Sizes are in bytes, `mode` as in stat."""

    path: str
    size: int
    packed: int
    mode: int = 0
    flags: int = 0
    method: int = zipfile.ZIP_STORED


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that may be installed, as far as its files tell.

    `files` are the package's own, path → content; `golden` name → content; `manifest` is the package's
    manifest.json, which still has to be compared with what the sport says of itself.
    """

    package: str
    sport: str
    version: str
    files: Mapping[str, bytes]
    golden: Mapping[str, bytes]
    manifest: dict[str, Any]


def read_wheel(data: bytes) -> Wheel:
    """Reads a wheel. Pure; a few milliseconds.

    Raises:
        WheelUnfit: it cannot be installed; one sentence says what is wrong with it.
    """
    if len(data) > WHEEL_LIMIT_BYTES:
        raise WheelUnfit(f"the file has {len(data)} bytes, {WHEEL_LIMIT_BYTES} are allowed")
    if data.count(ENTRY_MARK) > FILES_LIMIT:
        raise WheelUnfit(f"the wheel has more than {FILES_LIMIT} files")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [_entry(info) for info in archive.infolist()]
            if any(info.orig_filename != info.filename for info in archive.infolist()):
                raise WheelUnfit("a file's name in the wheel is written in two ways; build it again")
            check_entries(entries, len(data))
            package, dist_info = check_layout(entry.path for entry in entries)
            # The name that `installer` asks for says what the folder says: a file's own may be anything.
            archive.filename = f"{dist_info.removesuffix(DIST_INFO)}-py3-none-any.whl"
            return _read(WheelFile(archive), package)
    except zipfile.BadZipFile as error:
        raise WheelUnfit(
            f"the file is no wheel, or was damaged on its way ({error}); build it with `scorebox sport build`"
        ) from error
    except _UNREADABLE as error:
        raise WheelUnfit(f"the wheel cannot be read: {error}") from error


def _entry(info: zipfile.ZipInfo) -> Entry:
    return Entry(
        info.filename,
        info.file_size,
        info.compress_size,
        info.external_attr >> 16,
        info.flag_bits,
        info.compress_type,
    )


def check_entries(entries: Iterable[Entry], archive_bytes: int) -> None:
    """That every entry is a plain file at a plain path, and that all of them together are not too much.

    Raises:
        WheelUnfit: one is not, or they are.
    """
    listed = list(entries)
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for entry in listed:
        check_path(entry.path)
        if stat.S_IFMT(entry.mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise WheelUnfit(f"{entry.path} in the wheel is a link or a device; only files may be in it")
        if entry.flags & ENCRYPTED or entry.method not in PLAIN_METHODS:
            raise WheelUnfit(
                f"{entry.path} in the wheel is encrypted, or packed in a way that is not allowed"
            )
        if entry.size > RATIO_FROM_BYTES and entry.size > RATIO_LIMIT * max(entry.packed, 1):
            raise WheelUnfit(
                f"{entry.path} in the wheel unpacks to over {RATIO_LIMIT} times its size: that is a zip bomb"
            )
        _note_path(entry.path, files, folders)
    total = sum(entry.size for entry in listed)
    if len(listed) > FILES_LIMIT:
        raise WheelUnfit(f"the wheel has {len(listed)} files, {FILES_LIMIT} are allowed")
    if total > UNPACKED_LIMIT_BYTES:
        raise WheelUnfit(f"the wheel unpacks to {total} bytes, {UNPACKED_LIMIT_BYTES} are allowed")
    if total > RATIO_FROM_BYTES and total > RATIO_LIMIT * archive_bytes:
        raise WheelUnfit(f"the wheel unpacks to over {RATIO_LIMIT} times its size: that is a zip bomb")


def check_path(path: str) -> None:
    """That a path stays in its folder and means the same on every system.

    Raises:
        WheelUnfit: it does not.
    """
    parts = path.rstrip("/").split("/")
    if path.startswith("/") or "\\" in path or ".." in parts or re.match(r"[A-Za-z]:", path):
        raise WheelUnfit(f"the path {path!r} in the wheel leads out of its folder")
    if not _PATH.fullmatch(path) or any(part in (".", "") or part != part.strip(" .") for part in parts):
        raise WheelUnfit(f"the path {path!r} in the wheel has signs that are not allowed in it")
    if len(path) > PATH_LIMIT_CHARACTERS or len(parts) > PATH_LIMIT_FOLDERS:
        raise WheelUnfit(
            f"the path {path[:PATH_LIMIT_CHARACTERS]!r} in the wheel is too long or lies too deep"
        )


def _note_path(path: str, files: dict[str, str], folders: dict[str, str]) -> None:
    """Takes a path in; refuses one that some system would take for another that is there already."""
    parts = path.rstrip("/").split("/")
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
    if path.endswith("/"):
        above.append(path.rstrip("/"))
    for folder in above:
        if folders.setdefault(folder.lower(), folder) != folder or folder.lower() in files:
            raise WheelUnfit(f"the folder {folder!r} is in the wheel twice, or in two spellings")
    if not path.endswith("/"):
        if path.lower() in files or path.lower() in folders:
            raise WheelUnfit(f"the path {path!r} is in the wheel twice, or in two spellings")
        files[path.lower()] = path


def check_layout(paths: Iterable[str]) -> tuple[str, str]:
    """The package and the `.dist-info` folder of a wheel with these paths.

    Raises:
        WheelUnfit: there is anything else in it, or compiled code, or something that would be run.
    """
    files = [path for path in paths if not path.endswith("/")]
    tops = {path.split("/")[0] for path in files}
    for path in files:
        parts = path.split("/")
        if parts[0].endswith(DATA):
            raise WheelUnfit(f"{path} would be put outside the package: scripts and data are not allowed")
        if parts[-1] == "entry_points.txt" and parts[0].endswith(DIST_INFO):
            raise WheelUnfit("the wheel has entry points: a sport brings no scripts")
        if BYTECODE_FOLDER in parts or any(path.lower().endswith(suffix) for suffix in NATIVE_SUFFIXES):
            raise WheelUnfit(f"{path} is compiled code: a sport is Python source alone")
        if len(parts) == 1:
            raise WheelUnfit(f"{path} lies beside the package: all of a sport lies in its package")
    dist_infos = [top for top in tops if top.endswith(DIST_INFO)]
    packages = sorted(tops.difference(dist_infos))
    if len(dist_infos) != 1:
        raise WheelUnfit("the file is no wheel: it must have one .dist-info folder")
    if len(packages) != 1:
        raise WheelUnfit(f"the wheel must hold one package; it holds {', '.join(packages) or 'none'}")
    package = packages[0]
    if not _PACKAGE.fullmatch(package) or package in (CONTRACT_PACKAGE, EXPERIMENTAL_PACKAGE):
        raise WheelUnfit(
            f"the package is called {package}; a sport's is scorebox_ and its name in small letters"
        )
    if f"{package}/__init__.py" not in files:
        raise WheelUnfit(f"{package} in the wheel is no Python package: it has no __init__.py")
    return package, dist_infos[0]


def _read(source: WheelFile, package: str) -> Wheel:
    """The wheel's files, compared with its RECORD, and what they say of themselves."""
    record = _check_record(source)
    files: dict[str, bytes] = {}
    about: dict[str, bytes] = {}
    for (path, _, _), stream, _ in source.get_contents():
        top, _, rest = path.partition("/")
        if top == package:
            files[path] = stream.read()
        else:
            about[rest] = stream.read()
    listed = record - files.keys() - {f"{source.dist_info_dir}/{name}" for name in about}
    if listed:
        raise WheelUnfit(f"RECORD in the wheel names {min(listed)}, which is not there; build it again")
    version = _check_metadata(about)
    manifest = _check_manifest(files.get(f"{package}/{MANIFEST}"), version)
    golden = {
        path.rsplit("/", 1)[1]: content
        for path, content in [*files.items(), *((f"{package}/{name}", about[name]) for name in about)]
        if path.startswith(f"{package}/{GOLDEN}/")
    }
    return Wheel(package, manifest["sport"], version, files, golden, manifest)


def _check_record(source: WheelFile) -> set[str]:
    """Every path in RECORD, once all files are as it says."""
    try:
        source.validate_record()
        rows = list(parse_record_file(source.read_dist_info("RECORD").splitlines()))
    except source.validation_error as error:
        issues = getattr(error, "issues", [str(error)])
        raise WheelUnfit(f"the wheel's files are not what its RECORD says: {issues[0]}") from error
    paths = [path for path, _, _ in rows]
    if len(set(paths)) != len(paths):
        raise WheelUnfit("RECORD in the wheel names a file twice; build it again")
    for path, digest, _ in rows:
        if digest and digest.partition("=")[0] not in STRONG_HASHES:
            raise WheelUnfit(f"RECORD in the wheel has no sha256 of {path}; build it again")
    return set(paths)


def _check_metadata(about: Mapping[str, bytes]) -> str:
    """The version in METADATA, once it and WHEEL ask for nothing."""
    if "METADATA" not in about or "WHEEL" not in about:
        raise WheelUnfit("the file is no wheel: METADATA or WHEEL is missing in its .dist-info folder")
    metadata = parse_metadata_file(about["METADATA"].decode())
    wheel = parse_metadata_file(about["WHEEL"].decode())
    if needed := metadata.get_all("Requires-Dist"):
        raise WheelUnfit(f"the wheel has dependencies ({needed[0]}): a sport brings none")
    tags = wheel.get_all("Tag") or []
    if str(wheel.get("Root-Is-Purelib")).lower() != "true" or not all(
        str(tag).endswith("-none-any") for tag in tags
    ):
        raise WheelUnfit("the wheel is built for one kind of machine: a sport is pure Python")
    version = str(metadata.get("Version"))
    if not VERSION.fullmatch(version):
        raise WheelUnfit(f"the wheel's version is {version!r}; write X.Y.Z (or X.Y.Z+dev.<8 signs>)")
    return version


def _check_manifest(content: bytes | None, version: str) -> dict[str, Any]:
    """The manifest, once it is one for this contract and of this version."""
    build = "build it with `scorebox sport build`"
    if content is None:
        raise WheelUnfit(f"the package has no {MANIFEST}; {build}")
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise WheelUnfit(f"{MANIFEST} in the package is no JSON ({error}); {build}") from error
    if not isinstance(manifest, dict) or not all(
        isinstance(manifest.get(key), str) for key in ("sport", "name", "version", "contract")
    ):
        raise WheelUnfit(f"{MANIFEST} does not say the sport, its name, version and contract; {build}")
    if manifest["contract"] != CONTRACT_VERSION:
        raise WheelUnfit(
            f"the sport is built for the contract {manifest['contract']!r}, "
            f"this server has {CONTRACT_VERSION!r}"
        )
    if not _SPORT.fullmatch(manifest["sport"]):
        raise WheelUnfit(f"the sport's code is {manifest['sport']!r}; write a word in small letters")
    if manifest["version"] != version.partition("+")[0]:
        raise WheelUnfit(
            f"the wheel says it is version {version}, its {MANIFEST} says {manifest['version']}; {build}"
        )
    return manifest


def write_wheel(
    name: str, version: str, summary: str, files: Mapping[str, bytes], golden: Mapping[str, bytes]
) -> bytes:
    """A wheel of a package's files. Equal arguments give equal bytes, on every machine: nothing is packed."""
    folder = f"{name.replace('-', '_')}-{version}{DIST_INFO}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"
    wheel = "Wheel-Version: 1.0\nGenerator: scorebox\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents = dict(sorted(files.items()))
    contents |= {f"{folder}/{GOLDEN}/{each}": golden[each] for each in sorted(golden)}
    contents |= {f"{folder}/METADATA": metadata.encode(), f"{folder}/WHEEL": wheel.encode()}
    rows = [(path, f"sha256={_digest(content)}", str(len(content))) for path, content in contents.items()]
    record = io.StringIO()
    csv.writer(record, lineterminator="\n").writerows([*rows, (f"{folder}/RECORD", "", "")])
    contents[f"{folder}/RECORD"] = record.getvalue().encode()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for path, content in contents.items():
            info = zipfile.ZipInfo(path, ZIP_EPOCH)
            info.create_system = 3  # Unix, on every system: the mode below is read so
            info.external_attr = FILE_MODE
            archive.writestr(info, content)
    return data.getvalue()


def wheel_name(name: str, version: str) -> str:
    """The file name of a wheel."""
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
