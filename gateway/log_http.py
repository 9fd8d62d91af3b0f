"""HTTP for a match's log: its rows, and the history of one event."""

import re

import msgspec
from quart import Response

from gateway.effective import Name
from gateway.past import NEWEST
from gateway.protocol import LogEvent, Problem
from gateway.requests import Callers, Refusal, no_match, refusal_of, sees_sources, whole
from gateway.responses import json_response
from gateway.routing import Route
from gateway.service import Service

LOG_PAGE_ROWS = 500
LOG_PAGE_LIMIT_ROWS = 1_000
EVENT_NAME = re.compile(r"([0-9]{1,15})(?:/([0-9]{1,2}))?")


class LogRoutes:
    """One method per route."""

    def __init__(self, service: Service, callers: Callers) -> None:
        self._service = service
        self._callers = callers

    def table(self) -> list[Route]:
        """Every route."""
        return [
            Route("/v1/matches/<ref>/events/<path:event>", "GET", self.event),
            Route("/v1/matches/<ref>/log", "GET", self.log),
        ]

    async def event(self, ref: str, event: str) -> Response:
        """GET /v1/matches/<ref>/events/<event>: the event and its history; "newest" is what an undo takes.

        Who changed it is told to those who may score the match.
        """
        name = None if event == NEWEST else _event_name(event)
        who = await self._callers.who()
        found = await self._service.event(ref, name)
        if isinstance(found, Problem):
            raise refusal_of(found)
        if not sees_sources(who, ref):
            rows = [msgspec.structs.replace(row, by=None, device=None) for row in found.history]
            found = msgspec.structs.replace(found, history=rows)
        return json_response(found)

    async def log(self, ref: str) -> Response:
        """GET /v1/matches/<ref>/log?after&limit: rows, and the seq to go on after (null at the end).

        Who sent a row is told to those who may score the match.
        """
        after = whole("after", 0, 0, 2**53 - 1)
        limit = whole("limit", LOG_PAGE_ROWS, 1, LOG_PAGE_LIMIT_ROWS)
        who = await self._callers.who()
        rows = await self._service.log(ref, after, limit)
        if rows is None:
            raise no_match(ref)
        if not sees_sources(who, ref):
            rows = [_without_source(row) for row in rows]
        return json_response({"rows": rows, "next": rows[-1].seq if len(rows) == limit else None})


def _event_name(text: str) -> Name:
    """An event's name as it is shown: "140", or "140/1"."""
    found = EVENT_NAME.fullmatch(text)
    if found is None:
        raise Refusal(400, "invalid", f'an event is named "140", "140/1" or "{NEWEST}"', "event")
    return Name(int(found[1]), int(found[2] or 0))


def _without_source(row: LogEvent) -> LogEvent:
    return msgspec.structs.replace(row, source={})
