"""Every kind of fault: its name, the lane it runs in, and what is done. Plain data."""

from dataclasses import dataclass
from typing import Literal

Lane = Literal["light", "heavy"]
"""Light faults happen beside each other and beside a heavy one; heavy ones one after the other, each once
commands are accepted again after the one before it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fault. `ends_database`: postgres ends by it, and is started again by its keeper."""

    name: str
    lane: Lane
    sentence: str
    ends_database: bool = False


KINDS = (
    Kind("worker killed while idle", "light", "kill -9 of an idle worker"),
    Kind("worker killed before its reply", "light", "kill -9 of the workers while a command is in one"),
    Kind("worker killed after its reply", "light", "kill -9 of the workers once an answer is there"),
    Kind("worker stopped", "light", "SIGSTOP of a worker; it is called all the same"),
    Kind("rule runs away", "light", "a rule that never ends"),
    Kind("rule runs away in C", "light", "a rule that never ends, inside one C call"),
    Kind("rule sleeps", "light", "a rule that sleeps a minute"),
    Kind("rule eats memory", "light", "a rule that takes all memory it can get"),
    Kind("rule raises", "light", "a rule that raises an error"),
    Kind("rule recurses", "light", "a rule without an end to its recursion"),
    Kind("worker ends", "light", "a rule that ends its process"),
    Kind("worker hangs up", "light", "a worker that shuts its socket and goes on"),
    Kind("garbage from a worker", "light", "a frame that is not msgpack"),
    Kind("half a frame from a worker", "light", "a frame that stops in its middle"),
    Kind("overlong frame from a worker", "light", "a header that announces 4 GiB"),
    Kind("two replies from a worker", "light", "replies nobody asked for"),
    Kind("flood on stdout", "light", "a rule that prints a megabyte at once"),
    Kind("database session ended", "light", "pg_terminate_backend of one of the server's sessions"),
    Kind("all database sessions ended", "light", "pg_terminate_backend of all of them"),
    Kind(
        "commit cut after it was sent", "light", "the database saves, the connection breaks before it says so"
    ),
    Kind("commit cut before it arrived", "light", "the connection breaks with the call on its way"),
    Kind("reply of the database late", "light", "the answer to a commit is held back some seconds"),
    Kind("database session stands still", "light", "SIGSTOP of one of the server's backends for a while"),
    Kind("command sent twice", "light", "an accepted command again, with its id"),
    Kind("command sent twice at once", "light", "the same command on two sockets at the same time"),
    Kind("id used again", "light", "an id that is taken, with other content"),
    Kind("late command", "light", "a new command whose saw is old"),
    Kind("commands out of order", "light", "two commands of one saw, the later one first"),
    Kind("answer not heard", "light", "scorers' connections break right after a command was sent"),
    Kind("garbage from a client", "light", "frames that cannot be read, then an honest one"),
    Kind("half a frame from a client", "light", "a client that vanishes in the middle of a frame"),
    Kind("half a request", "light", "heads of requests that are never finished"),
    Kind("slow viewer", "light", "a viewer that does not read"),
    Kind("vanishing viewers", "light", "viewers that are reset without a word"),
    Kind("undo", "light", "the newest event is taken back by somebody else"),
    Kind("correction of the past", "light", "a past event gets another input, or never was"),
    Kind("forgotten event", "light", "a missed event is put into the past"),
    Kind("two corrections at once", "light", "two people correct the same event at the same time"),
    Kind("flag", "light", "a mark is put up and taken down"),
    Kind("version installed", "light", "a new version of a sport while matches run"),
    Kind("match moved", "light", "a running match goes on in another version"),
    Kind("version retired", "light", "a version that nothing needs is taken away"),
    Kind("install broken off", "light", "whoever uploads a version vanishes in the middle"),
    Kind("clock jumped", "light", "the server's clock of the day is set forward or back"),
    Kind("server killed", "heavy", "kill -9 of the server, and a start"),
    Kind("server killed while it starts", "heavy", "kill -9 of the server, and once more in its start"),
    Kind("server drained", "heavy", "SIGTERM, a clean end, and a start"),
    Kind("corrections during a drain", "heavy", "SIGTERM while corrections are under way, and a start"),
    Kind("server killed while it installs", "heavy", "kill -9 in the middle of an install, and a start"),
    Kind("server stands still", "heavy", "SIGSTOP of the server for a while"),
    Kind("database stopped", "heavy", "a fast stop of postgres", ends_database=True),
    Kind("database stopped at once", "heavy", "an immediate stop of postgres", ends_database=True),
    Kind("database killed", "heavy", "kill -9 of the postmaster", ends_database=True),
    Kind("database out of reach", "heavy", "connections break, and new ones are refused for a while"),
    Kind("database slow", "heavy", "everything to and from the database takes longer for a while"),
    Kind("disk full", "heavy", "no room for the database's tables for a while"),
)
"""In the order of the table in docs/reliability.md."""
