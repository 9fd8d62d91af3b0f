"""What rules must not do, each one function of an amount; the imports are where an author would have them."""

import os
import sys
from types import FrameType
from typing import Any


def connect(amount: int) -> None:
    import socket

    socket.create_connection(("127.0.0.1", amount or 80))


def read_file(amount: int) -> None:
    open("/etc/passwd").close()


def list_folder(amount: int) -> None:
    os.listdir("/")


def write_file(amount: int) -> None:
    with open("/tmp/scorebox-rogue", "w") as file:
        file.write("x")


def write_inside(amount: int) -> None:
    """Into its own version folder."""
    with open(os.path.join(os.path.dirname(__file__), "more.py"), "w") as file:
        file.write("x")


def fill_disk(amount: int) -> None:
    descriptor = os.open("/var/tmp/scorebox-rogue", os.O_WRONLY | os.O_CREAT)
    while True:
        os.write(descriptor, bytes(1024 * 1024))


def remove_file(amount: int) -> None:
    os.remove(__file__)


def fork(amount: int) -> int:
    return os.fork()


def execute(amount: int) -> None:
    os.execv("/bin/true", ["true"])


def system(amount: int) -> None:
    os.system("true")


def subprocess(amount: int) -> None:
    import subprocess

    subprocess.run(["/bin/true"], check=True)


def thread(amount: int) -> None:
    import threading

    threading.Thread(target=print).start()


def time(amount: int) -> None:
    import time

    time.time()


def wait(amount: int) -> None:
    import time

    time.sleep(0.001)


def local_time(amount: int) -> None:
    import time

    time.localtime()


def now(amount: int) -> None:
    from datetime import datetime

    datetime.now()


def today(amount: int) -> None:
    from datetime import date

    date.today()


def choice(amount: int) -> None:
    import random

    random.choice([1, 2, 3])


def unseeded(amount: int) -> None:
    from random import Random

    Random().random()


def urandom(amount: int) -> None:
    os.urandom(8)


def uuid4(amount: int) -> None:
    import uuid

    uuid.uuid4()


def secrets(amount: int) -> None:
    import secrets

    secrets.token_hex()


def ctypes(amount: int) -> None:
    import ctypes

    ctypes.CDLL(None)


def frames(amount: int) -> None:
    """Up to the serving loop, for the server's objects."""
    walk(sys._getframe())


def frames_of_a_traceback(amount: int) -> None:
    try:
        raise LookupError
    except LookupError:
        traceback = sys.exc_info()[2]
    assert traceback is not None
    walk(traceback.tb_frame)


def walk(frame: FrameType | None) -> None:
    while frame is not None:
        frame.f_locals.clear()
        frame = frame.f_back


def objects(amount: int) -> None:
    import gc

    gc.get_objects()


def change_code(amount: int) -> None:
    walk.__code__ = read_file.__code__


def environment_of_the_server(amount: int) -> None:
    open(f"/proc/{os.getppid()}/environ").close()


def descriptors_of_the_server(amount: int) -> None:
    os.listdir(f"/proc/{os.getppid()}/fd")


def program_of_the_server(amount: int) -> None:
    """A link that the kernel follows for whoever might trace the process."""
    os.readlink(f"/proc/{os.getppid()}/exe")


def kill_the_server(amount: int) -> None:
    os.kill(os.getppid(), amount)


FORBIDDEN: dict[str, Any] = {
    "connect": connect,
    "read_file": read_file,
    "list_folder": list_folder,
    "write_file": write_file,
    "write_inside": write_inside,
    "fill_disk": fill_disk,
    "remove_file": remove_file,
    "fork": fork,
    "execute": execute,
    "system": system,
    "subprocess": subprocess,
    "thread": thread,
    "time": time,
    "wait": wait,
    "local_time": local_time,
    "now": now,
    "today": today,
    "choice": choice,
    "unseeded": unseeded,
    "urandom": urandom,
    "uuid4": uuid4,
    "secrets": secrets,
    "ctypes": ctypes,
    "frames": frames,
    "frames_of_a_traceback": frames_of_a_traceback,
    "objects": objects,
    "change_code": change_code,
    "environment_of_the_server": environment_of_the_server,
    "descriptors_of_the_server": descriptors_of_the_server,
    "program_of_the_server": program_of_the_server,
    "kill_the_server": kill_the_server,
}
