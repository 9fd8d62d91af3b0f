"""What the edge decides from a request's head. Pure functions over bytes."""

import base64
import json
import re
from dataclasses import dataclass
from http import HTTPStatus

import h11

from gateway.protocol import SOCKET_PATH

HEAD_LIMIT_BYTES = 16 * 1024
_END = re.compile(rb"\n\r?\n")


@dataclass(frozen=True, slots=True)
class Http:
    """An ordinary request: hypercorn takes it."""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A WebSocket is asked for at the right place."""

    authorization: str | None
    protocols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnAway:
    """The request is answered at the door and the connection closed."""

    status: int
    code: str
    sentence: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def body(self) -> bytes:
        """The problem, as JSON."""
        return json.dumps({"code": self.code, "sentence": self.sentence}).encode()

    def response(self) -> bytes:
        """The whole answer as bytes."""
        body = self.body
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        lines += ["content-type: application/json", f"content-length: {len(body)}", "connection: close"]
        return "\r\n".join([*lines, "", ""]).encode() + body


HEAD_TOO_LARGE = TurnAway(431, "head_too_large", f"a request's head may have {HEAD_LIMIT_BYTES} bytes")
HEAD_TOO_LATE = TurnAway(408, "head_too_late", "the request's head did not come in time")
NO_SOCKET_HERE = TurnAway(404, "unknown_route", f"the WebSocket is at {SOCKET_PATH}")
FULL = TurnAway(
    503, "too_many_connections", "no room for another connection; try again", (("retry-after", "5"),)
)
CROWDED = TurnAway(
    429,
    "too_many_from_address",
    "this address has too many connections, or opens them too fast; close some, or try again later",
    (("retry-after", "5"),),
)
BUSY = TurnAway(
    503, "busy", "more is asked than can be answered just now; try again", (("retry-after", "1"),)
)

_UPGRADE = re.compile(rb"\nupgrade[ \t]*:[^\n]*(?=\n)", re.IGNORECASE)
_BARE = re.compile(rb"HTTP/1\.1 ([45]\d\d) [^\r\n]*\r\ncontent-length: 0\r\nconnection: close\r\n")
_BARE_ANSWERS = {
    400: ("malformed_request", "this request is not HTTP/1.1, or its body did not come whole"),
    431: ("head_too_large", f"a request's head may have {HEAD_LIMIT_BYTES} bytes"),
}


def without_upgrade(head: bytes) -> bytes:
    """The head of an ordinary request without the offer of another protocol, which hypercorn would take."""
    return _UPGRADE.sub(b"", head)


def with_sentence(answer: bytes) -> bytes:
    """The bytes of an answer; one of hypercorn's own, which says nothing, as a problem with a sentence."""
    if (bare := _BARE.match(answer)) is None:
        return answer
    status = int(bare[1])
    code, sentence = _BARE_ANSWERS.get(status, ("internal", "this request could not be answered"))
    return TurnAway(status, code, sentence).response()


def end_of_head(received: bytes | bytearray) -> int | None:
    """The length of the head with its empty line, or None while it is not whole."""
    found = _END.search(received)
    return found.end() if found else None


def judge(head: bytes) -> Http | Upgrade | TurnAway:
    """Who takes this request."""
    if head.startswith(b"PRI * HTTP/2"):
        return TurnAway(505, "http_version", "this server speaks HTTP/1.1")
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT_BYTES)
    try:
        parser.receive_data(head)
        request = parser.next_event()
    except h11.RemoteProtocolError as error:
        return TurnAway(400, "malformed_head", f"the request's head cannot be read: {error}")
    if not isinstance(request, h11.Request):
        return TurnAway(400, "malformed_head", "the request's head cannot be read")
    headers: dict[str, list[str]] = {}
    for name, value in request.headers:
        headers.setdefault(name.decode("latin1"), []).append(value.decode("latin1"))
    if request.target.split(b"?")[0].decode("latin1") != SOCKET_PATH:
        elsewhere = "websocket" in _tokens(headers, "upgrade")
        return NO_SOCKET_HERE if elsewhere else Http()
    return _socket(request, headers)


def _socket(request: h11.Request, headers: dict[str, list[str]]) -> Upgrade | TurnAway:
    """The opening handshake (RFC 6455, 4.2.1), refused with a sentence where it is not one."""
    if "websocket" not in _tokens(headers, "upgrade") or "upgrade" not in _tokens(headers, "connection"):
        return TurnAway(
            426,
            "upgrade_required",
            "this address is a WebSocket; connect with one",
            (("upgrade", "websocket"), ("sec-websocket-version", "13")),
        )
    if request.method != b"GET" or request.http_version < b"1.1":
        return TurnAway(400, "bad_handshake", "a WebSocket begins with GET over HTTP/1.1")
    if headers.get("sec-websocket-version") != ["13"]:
        return TurnAway(
            426, "websocket_version", "this server speaks version 13", (("sec-websocket-version", "13"),)
        )
    keys = headers.get("sec-websocket-key", [])
    if len(keys) != 1 or not _is_key(keys[0]):
        return TurnAway(400, "bad_handshake", "Sec-WebSocket-Key must be 16 bytes in base64")
    authorization = headers.get("authorization", [])
    protocols = tuple(
        name.strip() for value in headers.get("sec-websocket-protocol", []) for name in value.split(",")
    )
    return Upgrade(authorization[0] if authorization else None, tuple(name for name in protocols if name))


def _tokens(headers: dict[str, list[str]], name: str) -> set[str]:
    return {token.strip().lower() for value in headers.get(name, []) for token in value.split(",")}


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == 16
    except ValueError:
        # binascii.Error is one; what is not ASCII is another.
        return False
