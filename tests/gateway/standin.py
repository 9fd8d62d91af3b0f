"""A server on loopback over real sockets, with matches kept in memory behind it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import trio
from trio_websocket import WebSocketConnection, wrap_client_stream

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
from runtime.alerts import AlertBoard

DEADLINE_S = 10.0
MATCH = "0190b0a0-0000-7000-8000-00000000000a"
CODE = "CRI-1"
OTHER = "0190b0a0-0000-7000-8000-00000000000b"
OTHER_CODE = "CRI-2"


def command_id(number: int) -> str:
    return f"0190b0a0-0000-7000-8000-{number:012x}"


@dataclass
class StoredMatch:
    """One match: its log, and a head and parts made from it."""

    match: str
    code: str
    topic: Topic
    epoch: int = 1
    log: list[LogEvent] = field(default_factory=list)
    ballast: str = ""

    @property
    def seq(self) -> int:
        return len(self.log)

    def head(self) -> bytes:
        return msgspec.json.encode(
            {
                "match": self.match,
                "code": self.code,
                "name": "Home v Away",
                "sport": "cricket",
                "status": "LIVE",
                "phase": "play",
                "segment": "innings-1",
                "sides": [
                    {"key": "H", "name": "Home", "score": f"{self.seq}/0", "rank": None},
                    {"key": "A", "name": "Away", "score": "", "rank": None},
                ],
                "result": None,
                "show": {},
                "names": {"H": "Home", "A": "Away", "H1": "Ada <b>", "A1": "Bo"},
            }
        )

    def part(self) -> bytes:
        values = {"runs": self.seq, "balls": self.seq}
        lines = [
            {"subject": "H1", "role": "batting", "values": values},
            {"subject": "A1", "role": "bowling", "values": values | {"maidens": 0}},
        ]
        return msgspec.json.encode({"segment": "innings-1", "lines": lines, "ballast": self.ballast})

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self.match, self.epoch, self.seq, f"{self.seq:064x}", self.head(), {"innings-1": self.part()}
        )

    def score(self, frame: CommandFrame, account: str) -> Accepted:
        """Accept one event and publish it."""
        event = LogEvent(
            self.seq + 1,
            frame.code,
            frame.input,
            "2026-06-01T12:00:00.000Z",
            state_hash=f"{self.seq + 1:064x}",
            source={"account": account},
            id=frame.id,
        )
        self.log.append(event)
        if frame.code == "match.undo":
            self.epoch += 1
        self.publish(event)
        return Accepted(frame.id, self.match, self.seq, self.epoch, f"{self.seq:064x}")

    def publish(self, event: LogEvent) -> None:
        self.topic.publish(
            Update(
                self.match,
                self.epoch,
                self.seq,
                f"{self.seq:064x}",
                event,
                self.head(),
                {"innings-1": self.part()},
            )
        )


Handler = Callable[[CommandFrame, Identity], Awaitable[Answer]]


class MemoryService:
    """Matches in memory. `handler`, where set, answers commands instead."""

    def __init__(self, fan_out: FanOut) -> None:
        self.alerts = AlertBoard()
        self.fan_out = fan_out
        self.matches_by_ref: dict[str, StoredMatch] = {}
        self.handler: Handler | None = None
        self.commands: list[CommandFrame] = []
        self.is_ready = True
        self.sinks: list[Sink] = []
        for match, code in ((MATCH, CODE), (OTHER, OTHER_CODE)):
            self.add(match, code)

    def add(self, match: str, code: str) -> StoredMatch:
        stored = StoredMatch(match, code, None)  # type: ignore[arg-type]
        stored.topic = Topic(match, stored.snapshot, self.fan_out)
        self.matches_by_ref[match] = self.matches_by_ref[code] = stored
        return stored

    async def command(self, frame: CommandFrame, who: Identity, hear: Hear | None = None) -> Answer:
        await trio.lowlevel.checkpoint()
        self.commands.append(frame)
        if self.handler is not None:
            return await self.handler(frame, who)
        stored = self.matches_by_ref.get(frame.match)
        if stored is None:
            return Refused(frame.id, frame.match, "unknown_match", "there is no such match", field="match")
        return stored.score(frame, who.account)

    async def watch(
        self, match_ref: str, sink: Sink, audience: Audience, after: Position | None
    ) -> Topic | Problem:
        await trio.lowlevel.checkpoint()
        stored = self.matches_by_ref.get(match_ref)
        if stored is None:
            return Problem("unknown_match", f"there is no match {match_ref!r}", where="match")
        self.sinks.append(sink)
        stored.topic.join(sink, audience, after)
        return stored.topic

    def unwatch(self, topic: Topic, sink: Sink) -> None:
        topic.leave(sink)

    async def create_match(self, body: CreateMatch, who: Identity) -> Created | Refused | TryAgain:
        await trio.lowlevel.checkpoint()
        if body.sport != "cricket":
            return Refused(None, "", "unknown_sport", f"{body.sport} is not installed", field="sport")
        code = body.code or "NEW-1"
        known = self.matches_by_ref.get(code)
        stored = known or self.add("0190b0a0-0000-7000-8000-0000000000ff", code)
        return Created(stored.match, code, stored.seq, stored.epoch, "0" * 64, known is None)

    async def document(self, ref: str) -> Snapshot | None:
        await trio.lowlevel.checkpoint()
        stored = self.matches_by_ref.get(ref)
        return None if stored is None else stored.snapshot()

    async def document_at(self, ref: str, seq: int) -> Snapshot | Problem:
        return await self.document(ref) or Problem("unknown_match", "there is no such match", "match")

    async def event(self, ref: str, name: Name | None) -> EventHistory | Problem:
        await trio.lowlevel.checkpoint()
        return Problem("unknown_event", "there is no such event", "event")

    async def log(self, ref: str, after: int, limit: int) -> list[LogEvent] | None:
        await trio.lowlevel.checkpoint()
        stored = self.matches_by_ref.get(ref)
        return None if stored is None else [row for row in stored.log if row.seq > after][:limit]

    async def matches(self, status: str | None, limit: int) -> list[dict[str, Any]]:
        await trio.lowlevel.checkpoint()
        found = {stored.match: stored for stored in self.matches_by_ref.values()}
        rows = []
        for stored in list(found.values())[:limit]:
            head = msgspec.json.decode(stored.head())
            rows.append(
                {key: head[key] for key in ("match", "code", "name", "sport", "status", "sides", "result")}
            )
        return [row for row in rows if status is None or row["status"] == status]

    def status(self, detail: bool) -> dict[str, Any]:
        details = {
            "matches": {"live": len(self.matches_by_ref)},
            "alerts": msgspec.to_builtins(self.alerts.newest()),
        }
        return {"version": "0.1.0"} | (details if detail else {})

    def ready(self) -> tuple[bool, list[str]]:
        return (self.is_ready, []) if self.is_ready else (False, ["database"])


@dataclass
class Server:
    """A running edge, and tokens by role."""

    edge: Edge
    service: MemoryService
    counters: Counters
    tokens: dict[str, str]
    port: int
    nursery: trio.Nursery
    revoke: Callable[[str], None]
    """Makes the token of a role invalid."""
    streams: list[trio.SocketStream] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def dial(self) -> trio.SocketStream:
        """A bare connection; closed with the server."""
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        self.streams.append(stream)
        return stream

    async def connect(
        self, *, role: str | None = "scorer", protocol: str | None = "scorebox.json", **options: Any
    ) -> "Client":
        headers = [] if role is None else [(b"authorization", f"Bearer {self.tokens[role]}".encode())]
        connection = await wrap_client_stream(
            self.nursery,
            await self.dial(),
            f"127.0.0.1:{self.port}",
            "/v1/socket",
            subprotocols=[] if protocol is None else [protocol],
            extra_headers=headers,
            **options,
        )
        return Client(connection, binary=protocol == "scorebox.msgpack")


@dataclass
class Client:
    """A client's end: plain dicts out and in."""

    connection: WebSocketConnection
    binary: bool = False

    async def send(self, frame: Any) -> None:
        data = msgspec.msgpack.encode(frame) if self.binary else msgspec.json.encode(frame).decode()
        await self.connection.send_message(data)

    async def receive(self) -> dict[str, Any]:
        with trio.fail_after(DEADLINE_S):
            message = await self.connection.get_message()
        assert isinstance(message, bytes) == self.binary
        decoded: dict[str, Any] = (
            msgspec.msgpack.decode(message) if isinstance(message, bytes) else msgspec.json.decode(message)
        )
        return decoded

    async def ask(self, frame: Any) -> dict[str, Any]:
        await self.send(frame)
        return await self.receive()

    async def receive_op(self, op: str) -> dict[str, Any]:
        """The next frame with this op; others are passed over."""
        while (frame := await self.receive())["op"] != op:
            pass
        return frame


def ball(number: int, match: str = MATCH, **fields: Any) -> dict[str, Any]:
    """A command frame as a tablet sends it."""
    return {
        "op": "command",
        "id": command_id(number),
        "match": match,
        "code": "cricket.delivery",
        "input": {"bat": 1},
        "saw": 0,
    } | fields


@asynccontextmanager
async def serving(settings: EdgeSettings | None = None) -> AsyncIterator[Server]:
    """A server on a free port, with a token for every role and one bound to the other match."""
    fan_out = FanOut()
    service = MemoryService(fan_out)
    counters = Counters()
    lag = LoopLag()
    tokens = {str(role): new_token() for role in Role}
    identities = {
        token_hash(token): Identity(f"{role}-account", Role(role)) for role, token in tokens.items()
    }
    tokens["bound"] = new_token()
    identities[token_hash(tokens["bound"])] = Identity(
        "bound-account", Role.SCORER, match=OTHER, match_code=OTHER_CODE
    )

    async def find_tokens(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        await trio.lowlevel.checkpoint()
        return {each: StoredToken(each, identities[each]) for each in digests if each in identities}

    authenticator = Authenticator(find_tokens)

    def revoke(role: str) -> None:
        del identities[token_hash(tokens[role])]
        authenticator._cache.clear()

    edges: list[Edge] = []
    application = create_application(
        service,
        authenticator,
        counters=counters,
        lag=lag,
        edge_status=lambda: edges[0].statistics(),  # noqa: PLW0108 (the edge comes later)
    )
    edge = Edge(
        settings or EdgeSettings(port=0),
        service=service,
        authenticator=authenticator,
        application=application,
        counters=counters,
        lag=lag,
    )
    edges.append(edge)
    async with trio.open_nursery() as nursery:
        await nursery.start(fan_out.run)
        addresses = await nursery.start(edge.run)
        async with trio.open_nursery() as clients:
            server = Server(edge, service, counters, tokens, addresses[0][1], clients, revoke)
            try:
                yield server
            finally:
                clients.cancel_scope.cancel()
                for stream in server.streams:
                    stream.socket.close()
        nursery.cancel_scope.cancel()
