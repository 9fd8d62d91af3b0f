"""The shape of every reply. A worker runs code that is not trusted: what it sends is looked at first."""

from typing import Any, Literal, Required, TypedDict

import msgspec

from runtime.errors import FrameMalformed
from scorebox_contract.canonical import STATE_LIMIT_BYTES, state_hash


class RefusalData(TypedDict):
    """A refusal on the wire."""

    code: str
    sentence: str
    field: str | None
    overridable: bool


class IndexedRefusalData(RefusalData):
    """The first refusal of a replay, with the index of its event."""

    index: int


class WarningData(TypedDict):
    """A warning on the wire."""

    code: str
    sentence: str
    field: str | None


class ErrorData(TypedDict, total=False):
    """An exception of the sport's code, or an attempt of it at what is forbidden (which has a `where`)."""

    kind: Required[Literal["rule_failed", "rule_forbidden"]]
    message: Required[str]
    stack: Required[str]
    what: str
    where: str
    who: str
    """The sport and its version: put in by the server."""


class StepFields(TypedDict, total=False):
    """What one step came to; a refused one has nothing but the refusal."""

    refusal: RefusalData | None
    state: bytes
    lines: list[tuple[str, str, str, bytes]]
    emits: list[str]
    warnings: list[WarningData]
    joined: list[tuple[str, str, str]]
    summary: bytes


class StepData(StepFields, total=False):
    """One of many steps; a failed one has nothing but the error."""

    cpu_us: Required[int]
    ok: Required[bool]
    error: ErrorData


class Reply(TypedDict, total=False):
    """What every reply has; the fields of the op are there when `ok`."""

    id: Required[int]
    ok: Required[bool]
    error: ErrorData


class HelloReply(Reply, total=False):
    """Who answers."""

    sport: str
    version: str
    code_sha: str
    contract: str
    guard: str
    lacks: list[str]


class ManifestReply(Reply, total=False):
    """The sport described as data (JSON)."""

    manifest: bytes


class SummaryReply(Reply, total=False):
    """The summary of a state (JSON)."""

    summary: bytes


class StepReply(Reply, StepFields, total=False):
    """One step."""


class InitialReply(StepReply, total=False):
    """The first state, and the opening as it was understood."""

    opening: bytes


class StepsReply(Reply, total=False):
    """Many steps of different matches."""

    replies: list[StepData]


class PlayReply(Reply, total=False):
    """What many events come to."""

    refusal: IndexedRefusalData | None
    state: bytes
    lines: list[tuple[str, str, str, bytes]]
    emits_by_event: list[list[str]]
    joined: list[tuple[str, str, str]]
    summary: bytes


class ReplayReply(PlayReply, total=False):
    """The same, event by event."""

    hashes: list[bytes]
    line_events: list[int]
    line_hashes: list[bytes]
    warnings_by_event: list[list[WarningData]]


SHAPES: dict[str, type] = {
    "hello": HelloReply,
    "ping": Reply,
    "manifest": ManifestReply,
    "summary": SummaryReply,
    "initial_state": InitialReply,
    "check_and_step": StepReply,
    "steps": StepsReply,
    "play": PlayReply,
    "replay": ReplayReply,
}
"""Op → the shape of its reply."""

_COMMON = frozenset(Reply.__annotations__)
_FIELDS = {op: frozenset(shape.__annotations__) - _COMMON for op, shape in SHAPES.items()}
_STEP_FIELDS = frozenset(StepData.__annotations__) - {"error"}
STEPPING_OPS = ("initial_state", "check_and_step")
"""Ops that take one step, and whose refusal stands alone."""


def checked(op: str, number: int, reply: Any) -> dict[str, Any]:
    """The reply to request `number`, once it has the shape of its op; with the `state_hash` of its state.

    Raises:
        FrameMalformed: it has not; says where.
    """
    try:
        message: dict[str, Any] = msgspec.convert(reply, SHAPES[op])
    except msgspec.ValidationError as error:
        raise FrameMalformed(f"the reply to {op} is wrong: {error}") from error
    if message["id"] != number:
        raise FrameMalformed(f"the reply to {op} has the id {message['id']}, not {number}")
    if not message["ok"]:
        if "error" not in message:
            raise FrameMalformed(f"the reply to {op} is neither ok nor an error")
        return message
    if op == "steps":
        for step in message.get("replies", ()):
            if step["ok"]:
                _check_step(op, step, _STEP_FIELDS)
            elif "error" not in step:
                raise FrameMalformed("a reply to steps is neither ok nor an error")
    if op in STEPPING_OPS and message.get("refusal") is not None:
        return message
    _check_step(op, message, _FIELDS[op])
    return message


def _check_step(op: str, message: Any, fields: frozenset[str]) -> None:
    """That a reply is whole and its state small enough; puts the state's hash in."""
    if op == "steps" and message.get("refusal") is not None:
        return
    missing = fields - message.keys()
    if missing:
        raise FrameMalformed(f"the reply to {op} lacks {', '.join(sorted(missing))}")
    state = message.get("state")
    if state is not None:
        if len(state) > STATE_LIMIT_BYTES:
            raise FrameMalformed(
                f"the reply to {op} has a state of {len(state)} bytes, {STATE_LIMIT_BYTES} are allowed"
            )
        message["state_hash"] = state_hash(state)
