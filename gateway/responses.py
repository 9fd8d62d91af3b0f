"""What goes back over HTTP: JSON, and the answer to a command with the status of its outcome."""

import math
from typing import Any

import msgspec
from quart import Response

from gateway.protocol import Accepted, Answer, Conflict, Denied, Preview, Refused, TryAgain

WRONG_INPUT = frozenset({"invalid_frame", "invalid_input", "unknown_command", "invalid"})
"""Refusals of what was written, not of what was played: 400, not 422."""


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, headers, content_type="application/json")


def answer_response(answer: Answer) -> Response:
    """The HTTP form of an answer, by the table of design 6."""
    headers = {}
    status: int
    match answer:
        case Accepted() | Preview():
            status = 200
        case Refused(code="unknown_match"):
            status = 404
        case Refused():
            status = 400 if answer.code in WRONG_INPUT else 422
        case Conflict():
            status = 409
        case TryAgain():
            status = 503
            headers["retry-after"] = str(max(1, math.ceil(answer.after_ms / 1000)))
        case Denied():
            status = 401 if answer.reason == "unauthenticated" else 403
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return json_response(answer, status, headers)
