"""Whatever takes bytes from outside, as functions of bytes. A target that raises has a fault.

Errors that are told in a sentence are no faults: each target lets through those its subject documents.
"""

import copy
import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgpack

from gateway.codec import Codec, Misread, parse, wire
from gateway.framing import Control, FrameSplitter, Message, Violation
from gateway.heads import HEAD_LIMIT_BYTES, TurnAway, end_of_head, judge, without_upgrade
from gateway.protocol import FRAME_LIMIT_BYTES
from runtime.errors import FrameError, FrameMalformed, WheelUnfit
from runtime.frames import FrameDecoder, encode
from runtime.wheels import read_wheel
from runtime.worker.replies import SHAPES, checked
from sports.readers.cricsheet import parse_cricsheet
from sports.readers.errors import ReaderError
from tests.sports.readers.small_match import small

Target = Callable[[bytes], None]
OPS = tuple(SHAPES)


def frames(data: bytes) -> None:
    """A worker's bytes to the server, in pieces of a size that the first byte gives."""
    if not data:
        return
    decoder = FrameDecoder()
    whole: list[object] = []
    try:
        for start in range(1, len(data), data[0] + 1):
            whole += decoder.receive(data[start : start + data[0] + 1])
    except FrameError:
        return
    try:
        again = FrameDecoder().receive(b"".join(encode(message) for message in whole))
    except FrameMalformed:
        return  # What msgpack reads and does not write, such as a lone surrogate.
    assert repr(again) == repr(whole)


def replies(data: bytes) -> None:
    """A worker's message as the reply to each op."""
    try:
        message = msgpack.unpackb(data, raw=False)
    except Exception:
        return
    for op in OPS:
        try:
            checked(op, 1, message)
        except FrameMalformed as error:
            assert str(error)  # noqa: PT017


def framing(data: bytes) -> None:
    """A client's WebSocket frames, in pieces; the same items whatever the pieces."""
    if not data:
        return
    size = data[0] + 1
    items = _items([data[start : start + size] for start in range(1, len(data), size)])
    assert items == _items([data[1:]])


def _items(pieces: list[bytes]) -> list[Message | Control | Violation]:
    splitter = FrameSplitter(FRAME_LIMIT_BYTES)
    items: list[Message | Control | Violation] = []
    for piece in pieces:
        splitter.feed(piece)
        while (item := splitter.take()) is not None:
            items.append(item)
            if isinstance(item, Violation):
                return items
    return items


def messages(data: bytes) -> None:
    """One data message of a client: a frame, or an answer that says what is wrong with it."""
    for binary in (False, True):
        frame = parse(data, binary=binary)
        if isinstance(frame, Misread):
            for codec in Codec:
                assert wire(frame.answer, codec)
            assert frame.answer.sentence


def heads(data: bytes) -> None:
    """The head of a request."""
    end = end_of_head(data)
    if end is None or end > HEAD_LIMIT_BYTES:
        return
    verdict = judge(data[:end])
    if isinstance(verdict, TurnAway):
        assert verdict.response().startswith(b"HTTP/1.1 ")
    assert b"\nupgrade:" not in without_upgrade(data[:end]).lower()


def wheel(data: bytes) -> None:
    """A file that is to be installed: the bytes as they are, and as changes to a right one's contents.

    A change is a line "place content" or "place>new name": the place-th file of the wheel.
    """
    _wheel(data)
    entries = dict(WHEEL_FILES)
    for line in data.split(b"\n"):
        place, renamed, content = line[:1], line[1:2] == b">", line[2:]
        if not place:
            continue
        path = list(entries)[place[0] % len(entries)]
        if renamed:
            # A name from NUL on is cut off by the archive; without a name there is no file.
            name = content.decode(errors="replace").partition("\0")[0] or path
            entries[name] = entries.pop(path)
        else:
            entries[path] = content
    with suppress(ValueError, UnicodeError):
        _wheel(_zipped(entries))


def _wheel(data: bytes) -> None:
    try:
        read_wheel(data)
    except WheelUnfit as error:
        assert str(error)  # noqa: PT017


def _zipped(entries: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in entries.items():
            archive.writestr(path, content)
    return made.getvalue()


def cricsheet(data: bytes) -> None:
    """A match file: the bytes as they are, and as changes to a right one.

    Three bytes make a change: a place among all values of the match (two), and what stands there instead.
    """
    _cricsheet(data)
    match = small()
    for at in range(0, len(data) - 2, 3):
        places = list(_places(match)) or [({"": None}, "")]
        holder, key = places[int.from_bytes(data[at : at + 2]) % len(places)]
        odd = ODD[data[at + 2] % len(ODD)]
        if odd is GONE:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(odd)
    _cricsheet(json.dumps(match).encode())


def _cricsheet(data: bytes) -> None:
    try:
        parse_cricsheet(data, "fuzzed.json", id="fuzzed")
    except ReaderError as error:
        assert str(error)  # noqa: PT017


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a JSON value that something else could stand at."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


GONE = object()
NUMBERS = (0, -1, 7, 10**20, 1.5)
TEXTS = ("", "R1", "B1", "Nobody", "\ud800", "1e9")
ODD: tuple[Any, ...] = (GONE, None, True, *NUMBERS, *TEXTS, [], {}, [[]], {"runs": 1})
INFO = "scorebox_chess-1.0.0.dist-info"
WHEEL_FILES = {
    "scorebox_chess/__init__.py": b"SPORT = None\n",
    "scorebox_chess/manifest.json": b'{"sport":"chess","version":"1.0.0"}',
    f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: scorebox-chess\nVersion: 1.0.0\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": b"scorebox_chess/__init__.py,,\n",
}

PLAIN: dict[str, Target] = {
    "frames": frames,
    "replies": replies,
    "framing": framing,
    "messages": messages,
    "heads": heads,
    "wheel": wheel,
    "cricsheet": cricsheet,
}
"""Targets that need nothing; those with a server behind them are in `tests/fuzz/edge.py`."""


def seeds(target: str) -> list[bytes]:
    """Inputs to begin with: short, and right."""
    command = {
        "op": "command",
        "id": "0190b0a0-0000-7000-8000-000000000001",
        "match": "m",
        "code": "cricket.delivery",
        "input": {"bat": 1, "wickets": [{"kind": "bowled", "out": "A1"}]},
        "saw": 1,
        "override": ["a"],
        "sent_at": "2026-06-01T12:00:03.120Z",
        "device": "d",
    }
    watch = {"op": "watch", "match": "m", "audience": "scorer", "after": {"epoch": 1, "seq": 2}}
    text = [json.dumps(each).encode() for each in (command, watch, {"op": "ping", "n": 1})]
    packed = [msgpack.packb(each) for each in (command, watch)]
    step: dict[str, Any] = {
        "id": 1,
        "ok": True,
        "refusal": None,
        "state": b"{}",
        "lines": [],
        "emits": [],
    }
    masked = b"\x81\x85\0\0\0\0hello"
    found: dict[str, list[bytes]] = {
        "frames": [b"\x03" + struct.pack("!I", len(body)) + body for body in packed],
        "replies": [msgpack.packb(step), msgpack.packb({"id": 1, "ok": False})],
        "framing": [b"\x02" + masked + b"\x89\x80\0\0\0\0" + masked, b"\xff\x01\x80\0\0\0\0\x80\x80\0\0\0\0"],
        "messages": [*text, *packed],
        "heads": [
            b"GET /v1/socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
            b"POST /v1/matches HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
        ],
        "wheel": [_zipped(WHEEL_FILES), b"\x01 {}\n\x02>../../etc/passwd", b"\x00>a\n\x04 a,sha256=x,1"],
        "cricsheet": [json.dumps(small()).encode(), b"\x00\x05\x00", b"\x00\x20\x04\x00\x31\x0a"],
        "http": [b"POST /v1/matches/m/commands\n" + text[0], b"GET /v1/matches?limit=5\n", b"GET /status\n"],
        "socket": [bytes((1, len(each))) + each for each in text if len(each) < 256],
    }
    return found.get(target, [b""])
