"""The whole wire protocol: every frame a client may send and every frame it may get.

The same shapes travel as JSON (the default) and as msgpack (sub-protocol `scorebox.msgpack`).
docs/protocol.md is the prose to it. Matches are named by UUID or by code. Times are RFC 3339 texts.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

SOCKET_PATH = "/v1/socket"
"""Where a WebSocket is opened."""
SUBPROTOCOL_JSON = "scorebox.json"
SUBPROTOCOL_MSGPACK = "scorebox.msgpack"

FRAME_LIMIT_BYTES = 64 * 1024
"""The largest frame a client may send."""

STATUSES = ("SCHEDULED", "LIVE", "COMPLETED", "ABANDONED")
"""Of a match."""

UUID_SHAPE = r"(?:[0-9a-fA-F]-*){32}"
"""Every text without signs of its own that Python's UUID reads."""
# Python's `$` would let a line feed stand at the end; `\Z` does not.
Id = Annotated[
    str, Meta(pattern=r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z")
]
MatchRef = Annotated[str, Meta(min_length=1, max_length=64)]
Code = Annotated[str, Meta(min_length=3, max_length=64, pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\Z")]
Seq = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place in a match's log: the epoch rises whenever the past was changed."""

    epoch: Seq
    seq: Seq


class Auth(msgspec.Struct, tag_field="op", tag="auth", frozen=True, forbid_unknown_fields=True):
    """The first frame of a browser, which cannot send a header: the bearer token."""

    token: Annotated[str, Meta(max_length=512)]


class CommandFrame(msgspec.Struct, tag_field="op", tag="command", frozen=True, forbid_unknown_fields=True):
    """One command. `id` is made by the client and unique per match; `saw` is the newest seq it has seen."""

    id: Id
    match: MatchRef
    code: Code
    input: dict[str, Any]
    saw: Seq
    override: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=16)] = []
    sent_at: Annotated[str, Meta(max_length=40)] | None = None
    device: Annotated[str, Meta(max_length=64)] | None = None


class CommandBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command over HTTP: the frame without `op` and `match`, which stand in the address."""

    id: Id
    code: Code
    input: dict[str, Any]
    saw: Seq
    override: Annotated[list[Annotated[str, Meta(max_length=64)]], Meta(max_length=16)] = []
    sent_at: Annotated[str, Meta(max_length=40)] | None = None
    device: Annotated[str, Meta(max_length=64)] | None = None


class OutsideId(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name something has at somebody else's: a file's, a federation's, a provider's."""

    source: Annotated[str, Meta(min_length=1, max_length=64)]
    id: Annotated[str, Meta(min_length=1, max_length=256)]


class CreateMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A match to be created. The same `external` gives the same match again.

    `opening` is the sport's own and becomes the first row of the log; `people` gives outside ids to
    the match-local keys in it. Without `code` one is made, without `version` the newest is taken. A code
    cannot be written like a UUID: that would name another match.
    """

    sport: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
    name: Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f]+\Z")]
    opening: dict[str, Any]
    code: Annotated[str, Meta(pattern=rf"^(?!{UUID_SHAPE}\Z)[A-Za-z0-9][A-Za-z0-9_.-]{{0,63}}\Z")] | None = (
        None
    )
    version: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    competition: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    external: OutsideId | None = None
    people: dict[str, OutsideId] = {}


class Created(msgspec.Struct, frozen=True):
    """A match stands. `created` is false when its outside id was known already."""

    match: str
    code: str
    seq: int
    epoch: int
    state_hash: str
    created: bool


class Watch(msgspec.Struct, tag_field="op", tag="watch", frozen=True, forbid_unknown_fields=True):
    """Follow a match. `after` asks to go on from a position without a snapshot where that can be."""

    match: MatchRef
    audience: Literal["scorer", "viewer"] = "viewer"
    after: Position | None = None


class Unwatch(msgspec.Struct, tag_field="op", tag="unwatch", frozen=True, forbid_unknown_fields=True):
    """Stop following a match."""

    match: MatchRef


class Ping(msgspec.Struct, tag_field="op", tag="ping", frozen=True, forbid_unknown_fields=True):
    """Asks for a pong with the same `n`."""

    n: Seq = 0


ClientFrame = Auth | CommandFrame | Watch | Unwatch | Ping


class LogEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """One row of the log as readers see it."""

    seq: int
    code: str
    input: Any
    received_at: str
    state_hash: str | None = None
    sent_at: str | None = None
    override: list[str] = []
    emits: list[str] = []
    source: dict[str, str] = {}
    """account, device, provider: who sent it."""
    id: str | None = None


class Revision(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of the log that touched an event."""

    seq: int
    code: str
    """The row's own: the event's, or match.correct, match.undo …"""
    at: str
    input: Any
    """The event's after the row; null where it was taken back."""
    standing: bool
    """Whether the event counted after the row."""
    reason: str | None = None
    by: str | None = None
    """The account, for those who may see it."""
    device: str | None = None


class EventHistory(msgspec.Struct, frozen=True):
    """An event as it stands, and every row that touched it, oldest first."""

    event: str
    """Its name: the seq of the row that brought it, "140/1" for a further one of an amendment."""
    code: str
    input: Any
    standing: bool
    """It counts: neither voided nor skipped."""
    voided: bool
    skipped: bool
    """It no longer fits what came before it, and was passed over by force."""
    history: list[Revision]


class Warned(msgspec.Struct, frozen=True, omit_defaults=True):
    """A warning in an answer: play went on."""

    code: str
    sentence: str
    field: str | None = None


class Accepted(msgspec.Struct, frozen=True, tag_field="outcome", tag="accepted"):
    """Committed. `duplicate` when the id was known already: the answer is the first one."""

    id: str
    match: str
    seq: int
    epoch: int
    state_hash: str
    emits: list[str] = []
    warnings: list[Warned] = []
    duplicate: bool = False
    op: Literal["answer"] = "answer"


class Refused(msgspec.Struct, frozen=True, tag_field="outcome", tag="refused"):
    """The rules say no, or the input is wrong."""

    id: str | None
    match: str
    code: str
    sentence: str
    field: str | None = None
    overridable: bool = False
    op: Literal["answer"] = "answer"


class Conflict(msgspec.Struct, frozen=True, tag_field="outcome", tag="conflict"):
    """`saw` is old: the missed events, or `resync` where they are too many or the past was changed."""

    id: str
    match: str
    last_seq: int
    epoch: int
    missed: list[LogEvent] = []
    resync: bool = False
    op: Literal["answer"] = "answer"


class Unfit(msgspec.Struct, frozen=True):
    """A later event that a correction leaves without sense."""

    event: str
    code: str
    sentence: str


class Preview(msgspec.Struct, frozen=True, tag_field="outcome", tag="preview"):
    """What a correction would change; nothing was written."""

    id: str
    match: str
    last_seq: int
    epoch: int
    state_hash: str
    head: Any
    parts: dict[str, Any]
    """The parts of the document that would change; null for one that would be no more."""
    unfit: list[Unfit] = []
    op: Literal["answer"] = "answer"


class TryAgain(msgspec.Struct, frozen=True, tag_field="outcome", tag="try_again"):
    """Nothing was saved that this answer knows of; the same id may be sent again after `after_ms`."""

    id: str | None
    match: str
    reason: str
    after_ms: int
    op: Literal["answer"] = "answer"


class Denied(msgspec.Struct, frozen=True, tag_field="outcome", tag="denied"):
    """Who you are does not allow it. `reason` is unauthenticated or forbidden."""

    id: str | None
    match: str
    reason: Literal["unauthenticated", "forbidden"]
    sentence: str
    op: Literal["answer"] = "answer"


Answer = Accepted | Refused | Conflict | Preview | TryAgain | Denied


class DocumentFrame(msgspec.Struct, frozen=True, tag_field="op", tag="document"):
    """The whole document: on joining, after a gap, and when the epoch rose."""

    match: str
    epoch: int
    seq: int
    state_hash: str
    document: dict[str, Any]
    """{"head": {...}, "parts": {segment: {...}}}"""


class EventFrame(msgspec.Struct, frozen=True, tag_field="op", tag="event"):
    """Scorers: one event, at once, with the parts of the document it changed."""

    match: str
    epoch: int
    seq: int
    state_hash: str
    event: LogEvent
    head: Any
    parts: dict[str, Any]


class ChangedFrame(msgspec.Struct, frozen=True, tag_field="op", tag="changed"):
    """Viewers: the head and the parts that changed up to `seq`, coalesced."""

    match: str
    epoch: int
    seq: int
    state_hash: str
    head: Any
    parts: dict[str, Any]


class Pong(msgspec.Struct, frozen=True, tag_field="op", tag="pong"):
    """The answer to a ping."""

    n: int


class Welcome(msgspec.Struct, frozen=True, tag_field="op", tag="welcome"):
    """The answer to `auth`: the role the token carries."""

    role: str


class Unwatched(msgspec.Struct, frozen=True, tag_field="op", tag="unwatched"):
    """The answer to `unwatch`: nothing more of that match follows."""

    match: str


class Problem(msgspec.Struct, frozen=True, tag_field="op", tag="error"):
    """A frame that could not be taken: what, where, and what to do. The socket stays open."""

    code: str
    sentence: str
    where: str | UnsetType = UNSET


ServerFrame = (
    Accepted
    | Refused
    | Conflict
    | Preview
    | TryAgain
    | Denied
    | DocumentFrame
    | EventFrame
    | ChangedFrame
    | Pong
    | Welcome
    | Unwatched
    | Problem
)

CLOSE_GOING_AWAY = 1001
"""Draining: come back, with the jitter in the reason ("retry 3.2s")."""
CLOSE_TOO_BIG = 1009
CLOSE_RESUME = 4001
"""The socket was too slow: the reason says from where to resume ("resume 2:311")."""
CLOSE_NO_PONG = 4002
CLOSE_TRY_LATER = 4003
"""Too many sockets, or the server is out of room."""
CLOSE_BAD_FRAMES = 4400
"""Frame after frame that cannot be understood. From 4400 on, do not reconnect without a change."""
CLOSE_UNAUTHENTICATED = 4401
