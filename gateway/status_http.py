"""HTTP about this server: status, metrics, health."""

from collections.abc import Callable
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from quart import Response, render_template

from gateway.auth import Action
from gateway.counters import Counters
from gateway.lag import LIVE_LIMIT_S, LoopLag
from gateway.requests import Callers, wants_page
from gateway.responses import json_response
from gateway.routing import Route
from gateway.service import Service


class StatusRoutes:
    """One method per route. `edge_status` adds what the edge knows to the status."""

    def __init__(
        self,
        service: Service,
        callers: Callers,
        counters: Counters,
        lag: LoopLag,
        edge_status: Callable[[], dict[str, Any]],
    ) -> None:
        self._service = service
        self._callers = callers
        self._counters = counters
        self._lag = lag
        self._edge_status = edge_status

    def table(self) -> list[Route]:
        """Every route."""
        return [
            Route("/status", "GET", self.status),
            Route("/metrics", "GET", self.metrics),
            Route("/health/live", "GET", self.live),
            Route("/health/ready", "GET", self.ready),
        ]

    async def status(self) -> Response | str:
        """GET /status: JSON, or a page for browsers. Details take a token that may see them."""
        who = await self._callers.who()
        detail = who is not None and who.may(Action.SEE_STATUS)
        status = self._service.status(detail) | ({"edge": self._edge_status()} if detail else {})
        ready, missing = self._service.ready()
        status |= {"ready": ready, "missing": missing if detail else []}
        if wants_page():
            return await render_template("status.html", status=status, detail=detail)
        return json_response(status, headers={"cache-control": "no-store"})

    async def metrics(self) -> Response:
        """GET /metrics: Prometheus."""
        return Response(self._counters.page(), 200, content_type=CONTENT_TYPE_LATEST)

    async def live(self) -> Response:
        """GET /health/live: how late the event loop is."""
        late = self._lag.worst_s
        body = {"live": late < LIVE_LIMIT_S, "loop_lag_ms": round(late * 1000, 1)}
        return json_response(body, 200 if late < LIVE_LIMIT_S else 503)

    async def ready(self) -> Response:
        """GET /health/ready: 200, or 503 with what is missing."""
        ready, missing = self._service.ready()
        if self._edge_status().get("draining"):
            ready, missing = False, [*missing, "draining"]
        return json_response({"ready": ready, "missing": missing}, 200 if ready else 503)
