"""Frames of the protocol as bytes: what a client sent, what it gets. Pure functions.

JSON and msgpack mean the same: both are decoded into the same structs, and both are held to the same
values (no floats, no NUL, no lone surrogates, integers that every client can hold).
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from gateway.framing import data_frame
from gateway.misfit import misfit
from gateway.protocol import (
    SUBPROTOCOL_JSON,
    SUBPROTOCOL_MSGPACK,
    ClientFrame,
    CommandFrame,
    Id,
    Problem,
    Refused,
    ServerFrame,
    Unwatch,
    Watch,
)
from scorebox_contract import unfit

T = TypeVar("T")


class Codec(StrEnum):
    """How frames are written on one socket. The value is the sub-protocol's name."""

    JSON = SUBPROTOCOL_JSON
    MSGPACK = SUBPROTOCOL_MSGPACK


@dataclass(frozen=True, slots=True)
class Misread:
    """Bytes that are no frame: what to answer."""

    answer: Problem | Refused


_json_encoder = msgspec.json.Encoder()
_msgpack_encoder = msgspec.msgpack.Encoder()
_json_decoder = msgspec.json.Decoder(ClientFrame)
_msgpack_decoder = msgspec.msgpack.Decoder(ClientFrame)
_any_json = msgspec.json.Decoder()
_any_msgpack = msgspec.msgpack.Decoder()
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
EARLIEST_YEAR, LATEST_YEAR = 1900, 2999
"""A device's clock may be wrong, but not so that the database cannot give its time back."""


def parse(payload: bytes, *, binary: bool) -> ClientFrame | Misread:
    """A client's frame. Text is JSON, binary is msgpack, whatever sub-protocol was agreed."""
    decoder = _msgpack_decoder if binary else _json_decoder
    try:
        frame: ClientFrame = decoder.decode(payload)
        fault = _unfit(frame)
    except msgspec.ValidationError as error:
        return _misread(payload, binary, str(error))
    except (msgspec.DecodeError, ValueError, TypeError) as error:
        name = "msgpack" if binary else "JSON"
        return Misread(Problem("malformed", f"this frame is not {name} ({error}); mend it and send it again"))
    except RecursionError:
        return Misread(Problem("malformed", "this frame is nested too deep; send flatter input"))
    if fault is not None:
        where, sentence = fault
        return _wrong(_correlation(payload, binary), where, sentence)
    return frame


def encode(frame: ServerFrame, codec: Codec) -> bytes:
    """The payload of a frame for a client."""
    return _msgpack_encoder.encode(frame) if codec is Codec.MSGPACK else _json_encoder.encode(frame)


def wire(frame: ServerFrame, codec: Codec) -> bytes:
    """A whole WebSocket frame, ready to be written."""
    return data_frame(encode(frame, codec), binary=codec is Codec.MSGPACK)


def choose(proposed: tuple[str, ...]) -> Codec | None:
    """The first proposed sub-protocol that is known; JSON when none was proposed; None when none fits."""
    if not proposed:
        return Codec.JSON
    for name in proposed:
        if name in (SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK):
            return Codec(name)
    return None


def convert(payload: bytes, type: type[T]) -> T | Problem:
    """A JSON body as a struct, or what is wrong with it and where."""
    try:
        return msgspec.json.decode(payload, type=type)
    except msgspec.ValidationError as error:
        where, sentence = misfit(str(error))
        return Problem("invalid", sentence, where=msgspec.UNSET if where is None else where)
    except (msgspec.DecodeError, ValueError) as error:
        return Problem("malformed", f"the body is not JSON ({error})")
    except RecursionError:
        return Problem("malformed", "the body is nested too deep")


def unfit_command(frame: CommandFrame) -> tuple[str, str] | None:
    """The field of a command that may not go down the road, and why; None when all is well."""
    if fault := unfit_value(frame.input, "input"):
        where, _, sentence = fault.partition(": ")
        return where, sentence
    texts = (("match", frame.match), ("device", frame.device), ("override", "".join(frame.override)))
    for name, text in texts:
        if text and (wrong := unfit_text(text)):
            return name, wrong
    if frame.sent_at is not None and not _is_moment(frame.sent_at):
        return "sent_at", f'a time is written like "2026-05-01T14:30:00Z", {EARLIEST_YEAR} to {LATEST_YEAR}'
    return None


def unfit_value(value: Any, where: str) -> str | None:
    """As the contract's `unfit`; a value that is nested too deep to be looked at is unfit too."""
    try:
        return unfit(value, where)
    except RecursionError:
        return f"{where}: nested too deep; send flatter input"


def unfit_text(text: str) -> str | None:
    """Why a text cannot be stored, or None."""
    if text.isascii():
        return "a NUL character" if "\0" in text else None
    fault = unfit(text)
    return None if fault is None else fault.partition(": ")[2]


def _unfit(frame: ClientFrame) -> tuple[str, str] | None:
    if isinstance(frame, CommandFrame):
        return unfit_command(frame)
    if isinstance(frame, Watch | Unwatch):
        sentence = unfit_text(frame.match)
        return None if sentence is None else ("match", sentence)
    return None


def _is_moment(text: str) -> bool:
    """Whether a text is an RFC 3339 time in the years that are taken."""
    if _MOMENT.fullmatch(text) is None:
        return False
    try:
        moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return EARLIEST_YEAR <= moment.year <= LATEST_YEAR


def _misread(payload: bytes, binary: bool, message: str) -> Misread:
    where, sentence = misfit(message)
    if where == "op":
        return Misread(
            Problem("unknown_op", f"{sentence}; ops are auth, command, watch, unwatch and ping", where="op")
        )
    return _wrong(_correlation(payload, binary), where, sentence)


def _wrong(command: tuple[str, str] | None, where: str | None, sentence: str) -> Misread:
    """A command whose id can be read is refused, so that whoever waits on the id hears of it."""
    if command is not None:
        id, match = command
        return Misread(Refused(id, match, "invalid_frame", sentence, field=where))
    return Misread(Problem("invalid", sentence, where=msgspec.UNSET if where is None else where))


def _correlation(payload: bytes, binary: bool) -> tuple[str, str] | None:
    """Id and match of a command that could not be taken, where both can be read."""
    try:
        value: Any = (_any_msgpack if binary else _any_json).decode(payload)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("op") != "command":
        return None
    match = value.get("match")
    try:
        id = msgspec.convert(value.get("id"), Id)
    except msgspec.ValidationError:
        return None
    text = match if isinstance(match, str) and len(match) <= 64 and unfit_text(match) is None else ""
    return id, text
