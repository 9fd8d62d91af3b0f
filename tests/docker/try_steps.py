"""Tries the Dockerfile without a container engine: its steps, in order, in a plain Debian root.

    python -m tests.docker.try_steps        (as root; `make try-dockerfile`)

FROM is a Debian bookworm made by debootstrap, whose Python 3.11 stands under /usr/local as in the image.
RUN, COPY, ENV and USER do what they say, as the user they say, in a chroot; then the CMD is started, the
HEALTHCHECK must fail while it starts and succeed when it is up, and SIGTERM must end it with 0. All mounts
are in a namespace of their own: nothing of this machine can be removed with the root, or written to from it.

Variables: DEBOOTSTRAP (its program), MIRROR (Debian's), TRY_BIND (folders that the root sees read-only, with
colons: where pip's own configuration names some). PIP_* and SSL_* are passed on to the RUN steps.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.docker.dockerfile import Step, context, health_command, read_steps

REPOSITORY = Path(__file__).parent.parent.parent
SUITE = "bookworm"
PACKAGES = "python3,python3-distutils,python3.11-venv,ca-certificates"
INSIDE = "TRY_STEPS_INSIDE"
"""Set once the mounts are in a namespace of their own."""
BASE_PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
START_LIMIT_S = 90.0
STOP_LIMIT_S = 40.0
PASSED_ON = ("PIP_", "SSL_")


def skipped(why: str) -> None:
    print(f"SKIPPED: the Dockerfile's steps were not tried: {why}")
    sys.exit(0)


class Root:
    """A Debian root that steps run in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = "root"
        self.workdir = "/"
        self.environment: dict[str, str] = {}
        self.health: list[str] = []
        self.command: list[str] = []

    def make(self, debootstrap: str) -> None:
        """FROM."""
        mirror = [os.environ["MIRROR"]] if "MIRROR" in os.environ else []
        run([debootstrap, "--variant=minbase", f"--include={PACKAGES}", SUITE, str(self.folder), *mirror])
        for name, source in (("proc", "proc"), ("dev/shm", "tmpfs")):
            (self.folder / name).mkdir(exist_ok=True)
            run(["mount", "-t", source, source, str(self.folder / name)])
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        for path in filter(None, os.environ.get("TRY_BIND", "").split(":")):
            (self.folder / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
            run(["mount", "--bind", path, str(self.folder / path.lstrip("/"))])
            run(["mount", "-o", "remount,bind,ro", str(self.folder / path.lstrip("/"))])
        self.run(["python3.11", "-m", "venv", "/usr/local"])

    def do(self, step: Step) -> None:
        """One step."""
        match step.name:
            case "RUN":
                passed_on = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
                self.run(["sh", "-ec", step.text], passed_on)
            case "WORKDIR":
                self.workdir = step.text
                (self.folder / step.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "COPY":
                *sources, target = step.words()
                self._copy(sources, self.folder / self.workdir.lstrip("/") / target)
            case "USER":
                self.user = step.text
            case "ENV":
                self.environment |= dict(word.split("=", 1) for word in step.words())
            case "HEALTHCHECK":
                self.health = health_command(step)
            case "CMD":
                self.command = step.words()
            case "FROM" | "VOLUME" | "EXPOSE" | "STOPSIGNAL":
                pass

    def _copy(self, sources: Sequence[str], target: Path) -> None:
        patterns = (REPOSITORY / ".dockerignore").read_text().split()
        for name in context(REPOSITORY, patterns):
            if any(source == "." or Path(source) == name for source in sources):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, target / name)

    def line(self, command: Sequence[str], more: Mapping[str, str] | None = None) -> list[str]:
        """What runs a command in the root, as its user, in its folder, with its environment alone."""
        given = {"PATH": BASE_PATH, "HOME": "/tmp", **self.environment, **(more or {})}
        return [
            "chroot",
            f"--userspec={self.user}:{self.user}",
            str(self.folder),
            "/usr/bin/env",
            "-i",
            f"--chdir={self.workdir}",
            *(f"{name}={value}" for name, value in given.items()),
            *command,
        ]

    def run(self, command: Sequence[str], more: Mapping[str, str] | None = None) -> None:
        """Run a command to its end."""
        run(self.line(command, more))

    def healthy(self) -> bool:
        """Whether the health check says so."""
        return (
            subprocess.run(self.line(self.health), capture_output=True, timeout=10, check=False).returncode
            == 0
        )


def run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stdout[-3000:] + done.stderr[-3000:]
        sys.exit(f"FAILED ({done.returncode}): {' '.join(command)[:500]}\n{said}")


def timed(what: str, began: float) -> None:
    print(f"{time.monotonic() - began:8.1f} s  {what}", flush=True)


def serve(root: Root) -> None:
    """CMD, HEALTHCHECK, STOPSIGNAL."""
    began = time.monotonic()
    with (root.folder / "server.log").open("wb") as log:
        server = subprocess.Popen(root.line(root.command), stdout=log, stderr=log, start_new_session=True)
    try:
        _watch(root, server, began)
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)


def _watch(root: Root, server: "subprocess.Popen[bytes]", began: float) -> None:
    failed = 0
    while not root.healthy():
        failed += 1
        if server.poll() is not None or time.monotonic() - began > START_LIMIT_S:
            sys.exit(f"FAILED: not healthy\n{(root.folder / 'server.log').read_text()[-4000:]}")
        time.sleep(0.2)
    timed(f"CMD {' '.join(root.command)}: healthy, after {failed} health checks that said no", began)
    uid = int(Path(f"/proc/{server.pid}/status").read_text().partition("\nUid:")[2].split()[0])
    print(f"            it runs as uid {uid}")
    began = time.monotonic()
    server.send_signal(signal.SIGTERM)
    code = server.wait(STOP_LIMIT_S)
    timed(f"SIGTERM: exit code {code}", began)
    if code != 0 or uid == 0 or failed == 0:
        sys.exit(f"FAILED\n{(root.folder / 'server.log').read_text()[-4000:]}")


def in_a_namespace() -> int:
    """Run this program with mounts of its own; its exit code. They end with it, then the root is removed."""
    os.environ[INSIDE] = "1"
    folder = tempfile.mkdtemp(prefix="scorebox-root-")
    unshare = ["unshare", "--mount", "--propagation", "private"]
    code = subprocess.run([*unshare, sys.executable, "-m", __spec__.name, folder], check=False).returncode
    if folder in Path("/proc/self/mountinfo").read_text():
        sys.exit(f"FAILED: something is mounted below {folder}, which is left as it is")
    shutil.rmtree(folder)
    return code


def main() -> None:
    debootstrap = os.environ.get("DEBOOTSTRAP") or shutil.which("debootstrap")
    if os.geteuid() != 0:
        skipped("a chroot takes root")
    if debootstrap is None:
        skipped("debootstrap is not here (package debootstrap of Debian)")
    assert debootstrap is not None
    if INSIDE not in os.environ:
        sys.exit(in_a_namespace())
    root = Root(Path(sys.argv[1]))
    root.folder.chmod(0o755)
    for step in read_steps((REPOSITORY / "Dockerfile").read_text()):
        began = time.monotonic()
        if step.name == "FROM":
            root.make(debootstrap)
        else:
            root.do(step)
        timed(f"{step.name} {step.text[:80]}", began)
    serve(root)
    print("the Dockerfile's steps work")


if __name__ == "__main__":
    main()
