"""The one thread that starts worker processes.

A worker's death signal follows the thread that started it, not the process (trio#3360). Trio's own threads
end after ten idle seconds, so workers are started by a thread that lives as long as the server.
A spawn is never lost: where the one who asked was cancelled meanwhile, the new process is killed and reaped.
"""

import compileall
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import ModuleType

import msgpack
import msgspec
import trio

import runtime
import scorebox_contract
from runtime import worker
from runtime.errors import CodeMissing, CodeTampered, PoolClosed, SpawnFailed
from runtime.worker import guard
from runtime.worker import main as worker_main
from runtime.worker.guard.level import Layer, Level
from runtime.worker.limits import EXPERIMENTAL_PACKAGE

HOST_PACKAGES = (runtime, worker, guard, msgpack, msgspec, scorebox_contract)
"""Packages a worker loads from before its path is narrowed."""

INTERPRETER_FLAGS = ("-s", "-P", "-S")
"""No user site, no script folder on the path, no site-packages. Not -I: it would ignore PYTHONHASHSEED."""


@dataclass(frozen=True, slots=True)
class SpawnOrder:
    """What to start: a package in a version folder. `verify` runs in the thread, just before the start.

    `nice` is by how much the process yields to others, as the kernel counts it: 0 to 19.
    A worker whose guard does not reach `minimum_guard` ends without running the code. `withheld` layers are
    not put up: tests see what a weaker kernel would do.
    """

    folder: Path
    package: str
    code_sha: str
    hash_seed: int
    verify: Callable[[], None]
    nice: int = 0
    minimum_guard: Level = "full"
    withheld: tuple[Layer, ...] = ()


@dataclass(frozen=True, slots=True)
class Child:
    """A started process and the server's ends of what connects it. The owner closes and reaps."""

    popen: subprocess.Popen[bytes]
    pidfd: int
    socket: socket.socket
    stack: int
    output: int

    def close(self) -> None:
        """Closes every descriptor."""
        self.socket.close()
        for descriptor in (self.pidfd, self.stack, self.output):
            os.close(descriptor)


class _Ticket:
    """One order on its way through the thread."""

    def __init__(self, order: SpawnOrder, token: trio.lowlevel.TrioToken) -> None:
        self.order = order
        self.token = token
        self.done = trio.Event()
        self.abandoned = False
        self.result: Child | Exception | None = None


class Spawner:
    """Owns the thread. `close` ends it, and with it, by their death signal, every worker still alive."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[_Ticket | Child | None] = SimpleQueue()
        self._closed = False
        self._thread = Thread(target=self._work, name="scorebox spawner", daemon=True)
        self._thread.start()

    async def spawn(self, order: SpawnOrder) -> Child:
        """Starts a worker process.

        Raises:
            SpawnFailed: the process could not be started.
            CodeMissing, CodeTampered: from the order's `verify`.
            PoolClosed: the spawner is closed.
        """
        if self._closed:
            raise PoolClosed("the spawner is closed")
        ticket = _Ticket(order, trio.lowlevel.current_trio_token())
        self._orders.put(ticket)
        try:
            await ticket.done.wait()
        except trio.Cancelled:
            # Given back once: what is not delivered yet is given back where it would have been delivered.
            if ticket.done.is_set() and isinstance(ticket.result, Child):
                self._give_back(ticket.result)
            ticket.abandoned = True
            raise
        if isinstance(ticket.result, Child):
            return ticket.result
        assert ticket.result is not None
        raise ticket.result

    def close(self) -> None:
        """Ends the thread, after what was ordered before. Blocking, for as long as a spawn takes."""
        if not self._closed:
            self._closed = True
            self._orders.put(None)
            self._thread.join()

    def _work(self) -> None:
        compile_host()
        while (task := self._orders.get()) is not None:
            if isinstance(task, Child):
                discard(task)
                continue
            task.result = _attempt(task.order)
            if task.abandoned and isinstance(task.result, Child):
                discard(task.result)
                continue
            try:
                task.token.run_sync_soon(self._deliver, task)
            except trio.RunFinishedError:
                if isinstance(task.result, Child):
                    discard(task.result)

    def _deliver(self, ticket: _Ticket) -> None:
        if not ticket.abandoned:
            ticket.done.set()
        elif isinstance(ticket.result, Child):
            self._give_back(ticket.result)

    def _give_back(self, child: Child) -> None:
        if self._closed:
            discard(child)
        else:
            self._orders.put(child)


def _attempt(order: SpawnOrder) -> Child | Exception:
    try:
        order.verify()
        return start(order)
    except (CodeMissing, CodeTampered) as error:
        return error
    except Exception as error:
        return SpawnFailed(f"no worker could be started from {order.folder}: {error!r}")


@cache
def nowhere() -> int:
    """A descriptor of the folder where workers stand, which is gone: nothing can be made in it.

    One for all and for good: a server that is killed leaves none behind.
    """
    folder = tempfile.mkdtemp(prefix="scorebox-")
    try:
        return os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.rmdir(folder)


def start(order: SpawnOrder, parent: int | None = None) -> Child:
    """Starts the process. Blocking, a few milliseconds. `parent` is who it should live for (this process).

    Raises:
        OSError: no descriptors, no memory, no more processes.
    """
    with ExitStack() as ours, ExitStack() as theirs:
        near, far = socket.socketpair()
        ours.callback(near.close)
        theirs.callback(far.close)
        near.setblocking(False)
        stack_read, stack_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        ours.callback(os.close, stack_read)
        theirs.callback(os.close, stack_write)
        output_read, output_write = os.pipe2(os.O_CLOEXEC)
        ours.callback(os.close, output_read)
        theirs.callback(os.close, output_write)
        os.set_blocking(output_read, False)
        popen = subprocess.Popen(
            [
                sys.executable,
                *INTERPRETER_FLAGS,
                worker_main.__file__,
                *_words(order, far.fileno(), stack_write, parent),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output_write,
            stderr=output_write,
            pass_fds=(far.fileno(), stack_write),
            cwd=f"/proc/self/fd/{nowhere()}",
            env={"PYTHONHASHSEED": str(order.hash_seed)},
            process_group=0,
        )
        ours.callback(_end, popen)
        if order.nice:
            # Before it has a second thread: what it starts later is as nice.
            os.setpriority(os.PRIO_PROCESS, popen.pid, order.nice)
        pidfd = os.pidfd_open(popen.pid)
        ours.pop_all()
    return Child(popen, pidfd, near, stack_read, output_read)


def _words(order: SpawnOrder, socket_descriptor: int, stack_descriptor: int, parent: int | None) -> list[str]:
    words = {
        "parent": parent or os.getpid(),
        "socket": socket_descriptor,
        "stack": stack_descriptor,
        "host": os.pathsep.join(host_folders(order.package)),
        "folder": order.folder,
        "package": order.package,
        "code_sha": order.code_sha,
        "minimum": order.minimum_guard,
        "withheld": ",".join(order.withheld),
    }
    return [f"{key}={value}" for key, value in words.items()]


def host_folders(package_name: str) -> list[str]:
    """Folders of the few modules of the host that a package's worker loads before its path is narrowed."""
    folders = [str(_folder(package).parent) for package in HOST_PACKAGES if "." not in package.__name__]
    if package_name == EXPERIMENTAL_PACKAGE:
        found = importlib.util.find_spec("cloudpickle")
        assert found is not None, "it is a dependency of the application"
        assert found.origin is not None, "it is a package with an __init__.py"
        folders.append(str(Path(found.origin).parent.parent))
    return list(dict.fromkeys(folders))


def compile_host() -> None:
    """Puts the bytecode of the host's modules on disk, where that can be; what is up to date is left alone.

    A worker writes no files: it would compile them at each of its starts.
    """
    for folder in _host_packages():
        compileall.compile_dir(folder, maxlevels=0, quiet=2)


def _host_packages() -> list[Path]:
    return [_folder(package) for package in HOST_PACKAGES]


def _folder(package: ModuleType) -> Path:
    assert package.__file__ is not None, "it has an __init__.py"
    return Path(package.__file__).resolve().parent


def discard(child: Child) -> None:
    """Kills and reaps a process nobody wants. Blocking, a few milliseconds."""
    _end(child.popen)
    child.close()


def _end(popen: subprocess.Popen[bytes]) -> None:
    os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
