"""The fingerprint of a sport's code: every file of the package counts (rule M6, design section 9).

Both digests are sha256 over lines "path sha256", sorted by path. `files_sha` is of the files alone and tells
whether a folder still holds what was installed; `code_sha` adds the contract's version and the Python
minor version and tells whether a match would be scored alike.
"""

import os
import stat
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from runtime.errors import CodeUnfit
from scorebox_contract import CONTRACT_VERSION

BYTECODE_FOLDER = "__pycache__"
NATIVE_SUFFIXES = frozenset({".so", ".pyd", ".dylib", ".dll", ".pyc", ".pyo"})
"""A sport is pure Python source: code that cannot be read cannot be reviewed or fingerprinted by review."""
PACKAGE_LIMIT_BYTES = 32 * 1024 * 1024
PACKAGE_LIMIT_FILES = 2_000


def python_minor() -> str:
    """The Python minor version that counts in a code_sha: "3.11"."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def package_files(package: Path) -> dict[str, bytes]:
    """The package's own files: path relative to the package's parent → content. No bytecode.

    Raises:
        CodeUnfit: no package, a link or device in it, compiled code, or more than the limits.
    """
    if not (package / "__init__.py").is_file():
        raise CodeUnfit(f"{package} is no Python package: it has no __init__.py")
    files: dict[str, bytes] = {}
    size = 0
    for folder, folders, names in os.walk(package, onerror=_raise):
        folders[:] = [name for name in folders if name != BYTECODE_FOLDER]
        for name in [*folders, *names]:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                continue
            if not stat.S_ISREG(mode):
                raise CodeUnfit(f"{path} is neither a file nor a folder (links are not followed)")
            if path.suffix in NATIVE_SUFFIXES:
                raise CodeUnfit(f"{path} is compiled code: a sport is Python source alone")
            content = path.read_bytes()
            size += len(content)
            files[path.relative_to(package.parent).as_posix()] = content
            if size > PACKAGE_LIMIT_BYTES or len(files) > PACKAGE_LIMIT_FILES:
                raise CodeUnfit(
                    f"{package} has over {PACKAGE_LIMIT_BYTES} bytes or {PACKAGE_LIMIT_FILES} files"
                )
    return files


def _raise(error: OSError) -> None:
    raise error


def files_sha(files: Mapping[str, bytes]) -> str:
    """The digest of the files alone, in hex."""
    return sha256(_lines(files).encode()).hexdigest()


def code_sha(files: Mapping[str, bytes], contract: str = CONTRACT_VERSION, python: str | None = None) -> str:
    """The fingerprint matches are pinned to, in hex."""
    text = f"{_lines(files)}contract {contract}\npython {python or python_minor()}\n"
    return sha256(text.encode()).hexdigest()


def _lines(files: Mapping[str, bytes]) -> str:
    return "".join(f"{path} {sha256(files[path]).hexdigest()}\n" for path in sorted(files))
