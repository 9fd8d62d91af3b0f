"""HTTP: matches, documents, logs, commands, status, health, metrics, and the plain pages.

Every problem is JSON {code, sentence, field?}. A page is rendered on the server; a small script keeps a
score up to date through the socket.
"""

import math
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import structlog
import trio
from prometheus_client import CONTENT_TYPE_LATEST
from quart import Response, render_template, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from gateway.auth import Action, Authenticator, Identity, bearer, forbidden_command
from gateway.boards import plain, tables
from gateway.codec import Codec, convert, unfit_command, unfit_value
from gateway.counters import Counters
from gateway.effective import OPENING_SEQ, Name
from gateway.fanout import Snapshot, document_frame
from gateway.lag import LIVE_LIMIT_S, LoopLag
from gateway.past import NEWEST
from gateway.protocol import (
    STATUSES,
    Accepted,
    Answer,
    CommandBody,
    CommandFrame,
    Conflict,
    Created,
    CreateMatch,
    Denied,
    LogEvent,
    Preview,
    Problem,
    Refused,
    TryAgain,
)
from gateway.service import Service
from runtime.errors import DatabaseAway

BODY_LIMIT_BYTES = 256 * 1024
BODY_DEADLINE_S = 10
ANSWER_DEADLINE_S = 30
"""Writing an answer; a client that takes longer is dropped."""
LOG_PAGE_ROWS = 500
LOG_PAGE_LIMIT_ROWS = 1_000
LIST_MATCHES = 50
LIST_LIMIT_MATCHES = 500

WRONG_INPUT = frozenset({"invalid_frame", "invalid_input", "unknown_command", "invalid"})
"""Refusals of what was written, not of what was played: 400, not 422."""

PROBLEM_STATUS = {
    "unknown_match": 404,
    "unknown_seq": 404,
    "unknown_event": 404,
    "other_code": 409,
    "try_again": 503,
}
"""Of what the service has to say about a match's past."""
EVENT_NAME = re.compile(r"([0-9]{1,15})(?:/([0-9]{1,2}))?")

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}

T = TypeVar("T")

log = structlog.get_logger("scorebox.http")


class Refusal(Exception):
    """A request that is answered with a problem; raised by what reads requests, answered in one place."""

    def __init__(self, status: int, code: str, sentence: str, field: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.body = {"code": code, "sentence": sentence} | ({} if field is None else {"field": field})


def create_application(
    service: Service,
    authenticator: Authenticator,
    *,
    counters: Counters,
    lag: LoopLag,
    edge_status: Callable[[], dict[str, Any]] = dict,
    add_routes: "Callable[[QuartTrio, WhoMay], None]" = lambda app, who_may: None,
) -> QuartTrio:
    """The HTTP application of one server. `edge_status` adds what the edge knows to the status.

    `add_routes` adds further routes; it is given what refuses whoever may not do something.
    """
    app = QuartTrio(
        "gateway.http",
        template_folder="pages/templates",
        static_folder="pages/static",
        static_url_path="/static",
    )
    app.config["MAX_CONTENT_LENGTH"] = BODY_LIMIT_BYTES
    app.config["BODY_TIMEOUT"] = BODY_DEADLINE_S
    app.config["RESPONSE_TIMEOUT"] = ANSWER_DEADLINE_S
    # Asked for anew each time (304 while it is the same): the script goes with the server's version.
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = 0
    # Every problem is JSON; werkzeug would answer a doubled slash with a page that sends on.
    app.url_map.merge_slashes = False
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.globals["plain"] = plain
    routes = Routes(service, authenticator, counters, lag, edge_status)
    for rule, methods, view in routes.table():
        app.add_url_rule(rule, endpoint=view.__name__, view_func=view, methods=methods)
    add_routes(app, routes.who_may)
    app.register_error_handler(Refusal, _refused)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(DatabaseAway, _away)
    app.register_error_handler(Exception, _failed)
    app.after_request(routes.finish)
    return app


View = Callable[..., Awaitable[Response | str]]
WhoMay = Callable[[Action], Awaitable[Identity]]


class Routes:
    """One method per route."""

    def __init__(
        self,
        service: Service,
        authenticator: Authenticator,
        counters: Counters,
        lag: LoopLag,
        edge_status: Callable[[], dict[str, Any]],
    ) -> None:
        self._service = service
        self._authenticator = authenticator
        self._counters = counters
        self._lag = lag
        self._edge_status = edge_status

    def table(self) -> list[tuple[str, list[str], View]]:
        """Every route: rule, methods, view."""
        return [
            ("/v1/matches", ["POST"], self.create_match),
            ("/v1/matches", ["GET"], self.list_matches),
            ("/v1/matches/<ref>", ["GET"], self.match),
            ("/v1/matches/<ref>/document", ["GET"], self.document),
            ("/v1/matches/<ref>/events/<path:event>", ["GET"], self.event),
            ("/v1/matches/<ref>/log", ["GET"], self.log),
            ("/v1/matches/<ref>/commands", ["POST"], self.command),
            ("/status", ["GET"], self.status),
            ("/metrics", ["GET"], self.metrics),
            ("/health/live", ["GET"], self.live),
            ("/health/ready", ["GET"], self.ready),
            ("/", ["GET"], self.home_page),
            ("/matches/<ref>", ["GET"], self.match_page),
        ]

    async def create_match(self) -> Response:
        """POST /v1/matches: 201, or 200 when it stood already."""
        who = await self.who_may(Action.CREATE_MATCH)
        body = read_struct(await read_body(), CreateMatch)
        if (fault := unfit_value(msgspec.to_builtins(body), "")) is not None:
            where, _, sentence = fault.partition(": ")
            raise Refusal(400, "invalid", sentence, where.removeprefix("."))
        outcome = await self._service.create_match(body, who)
        if isinstance(outcome, Created):
            return _json(
                outcome, 201 if outcome.created else 200, {"location": f"/v1/matches/{outcome.match}"}
            )
        return answer_response(outcome)

    async def list_matches(self) -> Response:
        """GET /v1/matches?status&limit."""
        matches = await self._service.matches(_status(), _whole("limit", LIST_MATCHES, 1, LIST_LIMIT_MATCHES))
        return _json({"matches": matches})

    async def match(self, ref: str) -> Response:
        """GET /v1/matches/<ref>: the head and its position."""
        snapshot = await self._snapshot(ref)
        return _json(
            {
                "match": snapshot.match,
                "epoch": snapshot.epoch,
                "seq": snapshot.seq,
                "state_hash": snapshot.state_hash,
                "head": msgspec.Raw(snapshot.head),
            }
        )

    async def document(self, ref: str) -> Response:
        """GET /v1/matches/<ref>/document: the whole document. The ETag is its position.

        With `at` as it stood after that row of the log.
        """
        if "at" in request.args:
            seq = _whole("at", OPENING_SEQ, OPENING_SEQ, 2**53 - 1)
            found = await self._service.document_at(ref, seq)
            if isinstance(found, Problem):
                raise _refusal(found)
            snapshot = found
        else:
            snapshot = await self._snapshot(ref)
        etag = f"{snapshot.epoch}-{snapshot.seq}"
        headers = {"etag": f'"{etag}"', "cache-control": "no-cache"}
        if request.if_none_match.contains_weak(etag):
            return Response(b"", 304, headers)
        frame = document_frame(snapshot, Codec.JSON)
        body = {
            "match": frame.match,
            "epoch": frame.epoch,
            "seq": frame.seq,
            "state_hash": frame.state_hash,
            "document": frame.document,
        }
        return _json(body, headers=headers)

    async def event(self, ref: str, event: str) -> Response:
        """GET /v1/matches/<ref>/events/<event>: the event and its history; "newest" is what an undo takes.

        Who changed it is told to those who may score the match.
        """
        name = None if event == NEWEST else _event_name(event)
        who = await self._who()
        found = await self._service.event(ref, name)
        if isinstance(found, Problem):
            raise _refusal(found)
        if not _sees_sources(who, ref):
            rows = [msgspec.structs.replace(row, by=None, device=None) for row in found.history]
            found = msgspec.structs.replace(found, history=rows)
        return _json(found)

    async def log(self, ref: str) -> Response:
        """GET /v1/matches/<ref>/log?after&limit: rows, and the seq to go on after (null at the end).

        Who sent a row is told to those who may score the match.
        """
        after = _whole("after", 0, 0, 2**53 - 1)
        limit = _whole("limit", LOG_PAGE_ROWS, 1, LOG_PAGE_LIMIT_ROWS)
        who = await self._who()
        rows = await self._service.log(ref, after, limit)
        if rows is None:
            raise _no_match(ref)
        if not _sees_sources(who, ref):
            rows = [_without_source(row) for row in rows]
        return _json({"rows": rows, "next": rows[-1].seq if len(rows) == limit else None})

    async def command(self, ref: str) -> Response:
        """POST /v1/matches/<ref>/commands: the answer, with the status of its outcome."""
        started = trio.current_time()
        who = await self._who()
        if who is None:
            raise _no_token()
        body = read_struct(await read_body(), CommandBody)
        frame = CommandFrame(
            body.id, ref, body.code, body.input, body.saw, body.override, body.sent_at, body.device
        )
        answer = await self._judged(frame, who)
        self._counters.answered(answer, trio.current_time() - started)
        return answer_response(answer)

    async def _judged(self, frame: CommandFrame, who: Identity) -> Answer:
        if (sentence := forbidden_command(who, frame.match, frame.code)) is not None:
            return Denied(frame.id, frame.match, "forbidden", sentence)
        if (fault := unfit_command(frame)) is not None:
            return Refused(frame.id, frame.match, "invalid_frame", fault[1], field=fault[0])
        return await self._service.command(frame, who)

    async def status(self) -> Response | str:
        """GET /status: JSON, or a page for browsers. Details take a token that may see them."""
        who = await self._who()
        detail = who is not None and who.may(Action.SEE_STATUS)
        status = self._service.status(detail) | ({"edge": self._edge_status()} if detail else {})
        ready, missing = self._service.ready()
        status |= {"ready": ready, "missing": missing if detail else []}
        if _wants_page():
            return await render_template("status.html", status=status, detail=detail)
        return _json(status, headers={"cache-control": "no-store"})

    async def metrics(self) -> Response:
        """GET /metrics: Prometheus."""
        return Response(self._counters.page(), 200, content_type=CONTENT_TYPE_LATEST)

    async def live(self) -> Response:
        """GET /health/live: how late the event loop is."""
        late = self._lag.worst_s
        body = {"live": late < LIVE_LIMIT_S, "loop_lag_ms": round(late * 1000, 1)}
        return _json(body, 200 if late < LIVE_LIMIT_S else 503)

    async def ready(self) -> Response:
        """GET /health/ready: 200, or 503 with what is missing."""
        ready, missing = self._service.ready()
        if self._edge_status().get("draining"):
            ready, missing = False, [*missing, "draining"]
        return _json({"ready": ready, "missing": missing}, 200 if ready else 503)

    async def home_page(self) -> str:
        """GET /: the matches, live ones first."""
        matches = await self._service.matches(None, LIST_MATCHES)
        return await render_template("home.html", matches=matches)

    async def match_page(self, ref: str) -> str | Response:
        """GET /matches/<ref>: one score, live."""
        snapshot = await self._service.document(ref)
        if snapshot is None:
            page = await render_template("problem.html", title="No such match", sentence=_NO_MATCH_SENTENCE)
            return Response(page, 404, content_type="text/html; charset=utf-8")
        head = msgspec.json.decode(snapshot.head)
        segments = [
            (segment, tables(msgspec.json.decode(part), head["names"]))
            for segment, part in sorted(snapshot.parts.items(), reverse=True)
        ]
        return await render_template("match.html", head=head, segments=segments, snapshot=snapshot)

    async def finish(self, response: Response) -> Response:
        """Counts the request and sets the headers every answer has."""
        route = request.url_rule.rule if request.url_rule is not None else "unknown"
        self._counters.requests.labels(route, response.status_code).inc()
        for name, value in SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    async def _snapshot(self, ref: str) -> Snapshot:
        snapshot = await self._service.document(ref)
        if snapshot is None:
            raise _no_match(ref)
        return snapshot

    async def _who(self) -> Identity | None:
        """Who asks; None without a token. A token that is not known is refused, not ignored."""
        header = request.headers.get("authorization")
        if header is None:
            return None
        token = bearer(header)
        try:
            who = None if token is None else await self._authenticator.identify(token)
        except Exception as error:
            log.warning("a token could not be looked up", error=repr(error))
            raise Refusal(503, "try_again", "the token cannot be checked just now; try again") from error
        if who is None:
            raise Refusal(401, "unauthenticated", "this token is not known; ask for a new one")
        return who

    async def who_may(self, action: Action) -> Identity:
        """Who asks, once the role is seen to allow an action, and the token to be no match's."""
        who = await self._who()
        if who is None:
            raise _no_token()
        if not who.may(action):
            raise Refusal(403, "forbidden", f"the role {who.role} does not allow {action}")
        if who.match is not None:
            raise Refusal(403, "forbidden", "this token is for one match only")
        return who


_NO_MATCH_SENTENCE = "There is no match of this name. Look it up in the list of matches."


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
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
    return _json(answer, status, headers)


def read_struct(body: bytes, type: type[T]) -> T:
    """A body as what it must be. Raises Refusal where it is not."""
    value = convert(body, type)
    if isinstance(value, Problem):
        raise Refusal(400, value.code, value.sentence, value.where or None)
    return value


def _whole(name: str, default: int, least: int, most: int) -> int:
    """A whole number in the query, within its bounds."""
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and least <= int(text) <= most):
        raise Refusal(400, "invalid", f"{name} is a whole number from {least} to {most}", name)
    return int(text)


def _status() -> str | None:
    text = request.args.get("status")
    if text is not None and text.upper() not in STATUSES:
        raise Refusal(400, "invalid", f"status is one of {', '.join(STATUSES)}", "status")
    return None if text is None else text.upper()


def _event_name(text: str) -> Name:
    """An event's name as it is shown: "140", or "140/1"."""
    found = EVENT_NAME.fullmatch(text)
    if found is None:
        raise Refusal(400, "invalid", f'an event is named "140", "140/1" or "{NEWEST}"', "event")
    return Name(int(found[1]), int(found[2] or 0))


def _refusal(problem: Problem) -> Refusal:
    where = problem.where if isinstance(problem.where, str) else None
    return Refusal(PROBLEM_STATUS[problem.code], problem.code, problem.sentence, where)


def _sees_sources(who: Identity | None, ref: str) -> bool:
    return who is not None and who.may(Action.SCORE) and who.covers(ref)


def _without_source(row: LogEvent) -> LogEvent:
    return msgspec.structs.replace(row, source={})


def _wants_page() -> bool:
    best: str | None = request.accept_mimetypes.best_match(["application/json", "text/html"])
    return best == "text/html"


async def read_body() -> bytes:
    """The body of this request."""
    body = await request.get_data(as_text=False)
    assert isinstance(body, bytes)
    return body


def _no_token() -> Refusal:
    return Refusal(401, "unauthenticated", "send a token: Authorization: Bearer …")


def _no_match(ref: str) -> Refusal:
    return Refusal(
        404, "unknown_match", f"there is no match {ref[:64]!r}; look it up in the list of matches", "match"
    )


async def _refused(error: Refusal) -> Response:
    headers = {401: {"www-authenticate": "Bearer"}, 503: {"retry-after": "1"}}.get(error.status)
    return _json(error.body, error.status, headers)


async def _http_error(error: HTTPException) -> Response:
    status = error.code or 500
    if status < 400:
        return Response(b"", status, dict(error.get_headers()))
    sentences = {
        404: ("unknown_route", "there is nothing at this address"),
        405: ("wrong_method", "this method is not possible here; see Allow"),
        408: ("body_too_late", "the body did not come in time"),
        413: ("body_too_large", f"a body may have {BODY_LIMIT_BYTES} bytes"),
    }
    code, sentence = sentences.get(status, ("http_error", error.description or error.name))
    headers = {"allow": ", ".join(sorted(error.valid_methods or ()))} if status == 405 else None  # type: ignore[attr-defined]
    return _json({"code": code, "sentence": sentence}, status, headers)


async def _away(error: DatabaseAway) -> Response:
    """The database is away: what reads it can be asked for again."""
    sentence = "the database cannot be reached just now; try again"
    headers = {"retry-after": "1"}
    if request.path.startswith("/v1/") or not _wants_page():
        return _json({"code": "try_again", "sentence": sentence}, 503, headers)
    page = await render_template("problem.html", title="Just a moment", sentence=sentence.capitalize() + ".")
    return Response(page, 503, headers, content_type="text/html; charset=utf-8")


async def _failed(error: Exception) -> Response:
    """A fault of ours: logged with its place, answered without it."""
    log.error("a request failed", path=request.path, exc_info=error)
    return _json({"code": "internal", "sentence": "this request failed; the fault was logged"}, 500)
