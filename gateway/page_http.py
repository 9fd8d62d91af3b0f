"""The plain pages: rendered on the server; a small script keeps a score up to date through the socket."""

import msgspec
from quart import Response, render_template

from gateway.boards import tables
from gateway.match_http import LIST_MATCHES
from gateway.requests import NO_MATCH_SENTENCE
from gateway.routing import Route
from gateway.service import Service


class PageRoutes:
    """One method per page."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def table(self) -> list[Route]:
        """Every page."""
        return [
            Route("/", "GET", self.home_page),
            Route("/matches/<ref>", "GET", self.match_page),
        ]

    async def home_page(self) -> str:
        """GET /: the matches, live ones first."""
        matches = await self._service.matches(None, LIST_MATCHES)
        return await render_template("home.html", matches=matches)

    async def match_page(self, ref: str) -> str | Response:
        """GET /matches/<ref>: one score, live."""
        snapshot = await self._service.document(ref)
        if snapshot is None:
            page = await render_template("problem.html", title="No such match", sentence=NO_MATCH_SENTENCE)
            return Response(page, 404, content_type="text/html; charset=utf-8")
        head = msgspec.json.decode(snapshot.head)
        segments = [
            (segment, tables(msgspec.json.decode(part), head["names"]))
            for segment, part in sorted(snapshot.parts.items(), reverse=True)
        ]
        return await render_template("match.html", head=head, segments=segments, snapshot=snapshot)
