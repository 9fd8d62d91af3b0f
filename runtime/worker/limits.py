"""The limits a worker process puts on itself, and how it ends. Read by the server too."""

import signal

ADDRESS_SPACE_BYTES = 256 * 1024 * 1024
FILE_SIZE_BYTES = 0
"""A worker writes no files; pipes and sockets are not files here."""
OPEN_FILES = 32
CORE_BYTES = 0
CPU_LIFE_SECONDS = 300
"""RLIMIT_CPU over the life of the process: only a backstop, the server's wall clock is the limit."""

RESOURCES = {
    "RLIMIT_AS": ADDRESS_SPACE_BYTES,
    "RLIMIT_FSIZE": FILE_SIZE_BYTES,
    "RLIMIT_NOFILE": OPEN_FILES,
    "RLIMIT_CORE": CORE_BYTES,
    "RLIMIT_CPU": CPU_LIFE_SECONDS,
}
"""Resource limits, soft and hard. RLIMIT_NPROC is not among them: it counts a user's processes, and root's
not at all; the guard refuses new processes."""

STEPS_MOST = 32
"""Steps of different matches in one call."""
REPLAY_EVENTS_MOST = 250
"""Events in one replay call; longer replays are a series of calls."""

READ_BYTES = 64 * 1024
"""One read from the socket: a whole frame of the usual size."""

EXPERIMENTAL_PACKAGE = "scorebox_experimental"
"""The package of a sport sent by value: the only one whose worker has cloudpickle."""

STACK_SIGNAL = signal.SIGUSR2
"""Has the Python stack of every thread written to the `stack` descriptor, also from within a C loop."""
STACK_TEXT_LIMIT_CHARACTERS = 8 * 1024
"""The tail of a stack kept in an error."""

EXIT_EOF = 0
EXIT_ORPHAN = 70
"""The parent was gone before the death signal was armed."""
EXIT_MEMORY = 71
"""The address space was used up: what the process holds is in doubt."""
EXIT_PROTOCOL = 72
"""A frame that is no request: the stream is in doubt."""
EXIT_LOAD = 73
"""The sport's code could not be loaded; the reason is on stderr."""
EXIT_GUARD = 74
"""The guard is weaker than the sport's code needs; the sentence is on stderr. The code did not run."""
