"""The edge with nothing behind it: what the socket layer and the fan-out cost by themselves."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import trio

from gateway.auth import Authenticator, Identity, Role, StoredToken, new_token, token_hash
from gateway.counters import Counters
from gateway.edge import Edge, EdgeSettings
from gateway.effective import Name
from gateway.fanout import FanOut, Snapshot, Topic, Update
from gateway.http import create_application
from gateway.lag import LoopLag
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
from gateway.service import Hear
from gateway.sink import Audience, Sink

MATCH = "0190b0a0-0000-7000-8000-00000000000a"
STATE_HASH = "0" * 16
HEAD = msgspec.json.encode({"sides": [["H", "241/6"], ["A", ""]]})


class EmptyService:
    """Accepts every command without judging or saving it."""

    def __init__(self, fan_out: FanOut) -> None:
        self.seq = 0
        self.topic = Topic(MATCH, self.snapshot, fan_out)

    def snapshot(self) -> Snapshot:
        return Snapshot(MATCH, 1, self.seq, STATE_HASH, HEAD, {})

    def update(self) -> Update:
        self.seq += 1
        event = LogEvent(self.seq, "cricket.delivery", {"bat": 1}, "2026-06-01T12:00:00Z")
        return Update(MATCH, 1, self.seq, STATE_HASH, event, HEAD, {})

    async def command(self, frame: CommandFrame, who: Identity, hear: Hear | None = None) -> Answer:
        self.seq += 1
        return Accepted(frame.id, MATCH, self.seq, 1, STATE_HASH)

    async def watch(
        self, match_ref: str, sink: Sink, audience: Audience, after: Position | None
    ) -> Topic | Problem:
        self.topic.join(sink, audience, after)
        return self.topic

    def unwatch(self, topic: Topic, sink: Sink) -> None:
        topic.leave(sink)

    async def create_match(self, body: CreateMatch, who: Identity) -> Created | Refused | TryAgain:
        return TryAgain(None, "", "no matches here", 0)

    async def document(self, ref: str) -> Snapshot | None:
        return self.snapshot()

    async def document_at(self, ref: str, seq: int) -> Snapshot | Problem:
        return self.snapshot()

    async def event(self, ref: str, name: Name | None) -> EventHistory | Problem:
        return Problem("unknown_event", "no events here")

    async def log(self, ref: str, after: int, limit: int) -> list[LogEvent] | None:
        return []

    async def matches(self, status: str | None, limit: int) -> list[dict[str, Any]]:
        return []

    def status(self, detail: bool) -> dict[str, Any]:
        return {}

    def ready(self) -> tuple[bool, list[str]]:
        return True, []


@dataclass(frozen=True, slots=True)
class EmptyServer:
    """A running edge on loopback and a scorer's token."""

    port: int
    token: str
    service: EmptyService
    fan_out: FanOut


@asynccontextmanager
async def empty_server() -> AsyncIterator[EmptyServer]:
    """The edge on a free port with an empty service behind it."""
    token = new_token()
    known = StoredToken(token_hash(token), Identity("bench", Role.SCORER))

    async def find_tokens(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        return {known.hash: known} if known.hash in digests else {}

    fan_out = FanOut()
    service = EmptyService(fan_out)
    counters, lag, authenticator = Counters(), LoopLag(), Authenticator(find_tokens)
    edge = Edge(
        EdgeSettings(port=0),
        service=service,
        authenticator=authenticator,
        application=create_application(service, authenticator, counters=counters, lag=lag),
        counters=counters,
        lag=lag,
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(fan_out.run)
        addresses = await nursery.start(edge.run)
        yield EmptyServer(addresses[0][1], token, service, fan_out)
        nursery.cancel_scope.cancel()
