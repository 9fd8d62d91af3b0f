"""What stands behind the edge: the matches, as sockets and HTTP see them."""

from collections.abc import Callable
from typing import Any, Protocol

from gateway.auth import Identity
from gateway.effective import Name
from gateway.fanout import Snapshot, Topic
from gateway.protocol import (
    Accepted,
    Answer,
    CommandFrame,
    Created,
    CreateMatch,
    EventHistory,
    LogEvent,
    Position,
    Problem,
    Refused,
    TryAgain,
)
from gateway.sink import Audience, Sink

Hear = Callable[[Accepted], None]
"""Is told of a saved command at once, before anything else is done about it. Neither waits nor raises."""


class Service(Protocol):
    """The matches of this node, named by UUID or code. Nothing here raises for what a client did."""

    async def command(self, frame: CommandFrame, who: Identity, hear: Hear | None = None) -> Answer:
        """One command down the road. `who` was found to be allowed to send it.

        `hear` is given the answer to a command that is saved, before watchers are and before this returns it.
        """
        ...

    async def watch(
        self, match_ref: str, sink: Sink, audience: Audience, after: Position | None
    ) -> Topic | Problem:
        """Join a match's watchers; the sink was given the document or the missed events on return."""
        ...

    def unwatch(self, topic: Topic, sink: Sink) -> None:
        """Leave a match's watchers."""
        ...

    async def create_match(self, body: CreateMatch, who: Identity) -> Created | Refused | TryAgain:
        """Create a match, or find the one with the same outside id. `body` holds no unfit value."""
        ...

    async def document(self, ref: str) -> Snapshot | None:
        """The whole document, or None where there is no such match."""
        ...

    async def document_at(self, ref: str, seq: int) -> Snapshot | Problem:
        """The document as it stood after a row of the log.

        Problems: unknown_match, unknown_seq, other_code, try_again.
        """
        ...

    async def event(self, ref: str, name: Name | None) -> EventHistory | Problem:
        """The history of one event, None for the newest.

        Problems: unknown_match, unknown_event, try_again.
        """
        ...

    async def log(self, ref: str, after: int, limit: int) -> list[LogEvent] | None:
        """At most `limit` log rows after a seq, oldest first, or None where there is no such match."""
        ...

    async def matches(self, status: str | None, limit: int) -> list[dict[str, Any]]:
        """Matches for a list, live and newest first."""
        ...

    def status(self, detail: bool) -> dict[str, Any]:
        """The state of this node; `detail` for those who may see it."""
        ...

    def ready(self) -> tuple[bool, list[str]]:
        """Whether commands can be taken, and what stands in the way."""
        ...
