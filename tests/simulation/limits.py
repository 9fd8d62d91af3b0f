"""Limits of the server made small, so that a history of thirty commands comes up against them."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from gateway import channel, fanout, ledger, match, parking, replaying, road, sink
from runtime.actor import Actor

SMALL: tuple[tuple[ModuleType, str, int], ...] = (
    (sink, "COALESCE_AT_BYTES", 1_500),
    (channel, "OWED_LIMIT_BYTES", 4_000),
    (fanout, "TAIL_UPDATES", 4),
    (fanout, "UNDELIVERED_LIMIT_UPDATES", 2),
    (fanout, "SOCKETS_PER_TURN", 1),
    (match, "REMEMBERED_ROWS", 5),
    (match, "HISTORY_CARDS", 2),
    (parking, "PARKED_LIMIT", 1),
    (ledger, "TAIL_ROWS", 4),
    (road, "MISSED_LIMIT_EVENTS", 3),
    (replaying, "REPLAY_EVENTS", 3),
    (replaying, "REPLAY_BYTES", 80),
)
MAILBOX_MESSAGES = 2


@contextmanager
def small_limits(small: bool) -> Iterator[None]:
    """The limits are small within the block, where they are to be."""
    before = [(module, name, getattr(module, name)) for module, name, _ in SMALL]
    defaults = Actor.__init__.__kwdefaults__
    assert defaults is not None, "the mailbox's limit is a keyword"
    mailbox = defaults["limit"]
    try:
        if small:
            for module, name, value in SMALL:
                setattr(module, name, value)
            defaults["limit"] = MAILBOX_MESSAGES
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
        defaults["limit"] = mailbox
