"""The HTTP application: its routes, and what becomes of a request that fails.

Every problem is JSON {code, sentence, field?}; a page of the browser says it as a page.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from quart import Response, render_template, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from gateway.auth import Authenticator
from gateway.boards import plain
from gateway.counters import Counters
from gateway.lag import LoopLag
from gateway.log_http import LogRoutes
from gateway.match_http import MatchRoutes
from gateway.page_http import PageRoutes
from gateway.requests import Callers, Refusal, WhoMay, wants_page
from gateway.responses import json_response
from gateway.service import Service
from gateway.status_http import StatusRoutes
from runtime.errors import DatabaseAway

BODY_LIMIT_BYTES = 256 * 1024
BODY_DEADLINE_S = 10
ANSWER_DEADLINE_S = 30
"""Writing an answer; a client that takes longer is dropped."""
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}

log = structlog.get_logger("scorebox.http")


def create_application(
    service: Service,
    authenticator: Authenticator,
    *,
    counters: Counters,
    lag: LoopLag,
    edge_status: Callable[[], dict[str, Any]] = dict,
    add_routes: Callable[[QuartTrio, WhoMay], None] = lambda app, who_may: None,
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
    callers = Callers(authenticator)
    for routes in (
        MatchRoutes(service, callers, counters),
        LogRoutes(service, callers),
        StatusRoutes(service, callers, counters, lag, edge_status),
        PageRoutes(service),
    ):
        for route in routes.table():
            app.add_url_rule(route.rule, view_func=route.view, methods=[route.method])
    add_routes(app, callers.who_may)
    app.register_error_handler(Refusal, _refused)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(DatabaseAway, _away)
    app.register_error_handler(Exception, _failed)
    app.after_request(_finisher(counters))
    return app


def _finisher(counters: Counters) -> Callable[[Response], Awaitable[Response]]:
    async def finish(response: Response) -> Response:
        """Counts the request and sets the headers every answer has."""
        route = request.url_rule.rule if request.url_rule is not None else "unknown"
        counters.requests.labels(route, response.status_code).inc()
        for name, value in SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return finish


async def _refused(error: Refusal) -> Response:
    headers = {401: {"www-authenticate": "Bearer"}, 503: {"retry-after": "1"}}.get(error.status)
    return json_response(error.body, error.status, headers)


async def _http_error(error: HTTPException) -> Response:
    status = error.code or 500
    if status < 400:
        return Response(b"", status, dict(error.get_headers()))
    sentences = {
        404: ("unknown_route", "there is nothing at this address"),
        405: ("wrong_method", "this method is not possible here; see Allow"),
        408: ("body_too_late", "the body did not come in time"),
        413: ("body_too_large", f"a body may have {request.max_content_length} bytes here"),
    }
    code, sentence = sentences.get(status, ("http_error", error.description or error.name))
    headers = {"allow": ", ".join(sorted(error.valid_methods or ()))} if status == 405 else None  # type: ignore[attr-defined]
    return json_response({"code": code, "sentence": sentence}, status, headers)


async def _away(error: DatabaseAway) -> Response:
    """The database is away: what reads it can be asked for again."""
    sentence = "the database cannot be reached just now; try again"
    headers = {"retry-after": "1"}
    if request.path.startswith("/v1/") or not wants_page():
        return json_response({"code": "try_again", "sentence": sentence}, 503, headers)
    page = await render_template("problem.html", title="Just a moment", sentence=sentence.capitalize() + ".")
    return Response(page, 503, headers, content_type="text/html; charset=utf-8")


async def _failed(error: Exception) -> Response:
    """A fault of ours: logged with its place, answered without it."""
    log.error("a request failed", path=request.path, exc_info=error)
    return json_response({"code": "internal", "sentence": "this request failed; the fault was logged"}, 500)
