"""Becomes postgres: drops to an unprivileged user, asks to be told of its parent's death, then execs.

Run as a script by `runtime.postgres`, with nothing but the standard library. It runs in the server's own
interpreter, so the unprivileged user needs no access to Python. Arguments: the parent's pid, uid, gid
("-" keeps the user), then the program and its arguments.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""prctl(2): the signal this process gets when the thread that made it ends."""


def main(arguments: list[str]) -> None:
    """Change user, arm the death signal, become the program. Never returns."""
    parent, uid, gid, *command = arguments
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    if uid != "-":
        os.setgroups([])
        os.setgid(int(gid))
        os.setuid(int(uid))
    if libc is not None:
        # After setuid: the kernel clears the death signal when credentials change. SIGINT is postgres'
        # fast shutdown.
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("the server that wanted postgres is gone")
    os.umask(0o077)
    os.execv(command[0], command)  # noqa: S606  (becoming the program is what it is for)


if __name__ == "__main__":
    main(sys.argv[1:])
