"""HTTP for matches: made, listed, read, scored."""

import msgspec
import trio
from quart import Response, request

from gateway.auth import Action, Identity, forbidden_command
from gateway.codec import Codec, unfit_command, unfit_value
from gateway.counters import Counters
from gateway.effective import OPENING_SEQ
from gateway.fanout import Snapshot, document_frame
from gateway.journal import journal
from gateway.protocol import (
    STATUSES,
    Answer,
    CommandBody,
    CommandFrame,
    Created,
    CreateMatch,
    Denied,
    Problem,
    Refused,
)
from gateway.requests import (
    Callers,
    Refusal,
    no_match,
    no_token,
    read_body,
    read_struct,
    refusal_of,
    whole,
)
from gateway.responses import answer_response, json_response
from gateway.routing import Route
from gateway.service import Service

LIST_MATCHES = 50
LIST_LIMIT_MATCHES = 500


class MatchRoutes:
    """One method per route."""

    def __init__(self, service: Service, callers: Callers, counters: Counters) -> None:
        self._service = service
        self._callers = callers
        self._counters = counters

    def table(self) -> list[Route]:
        """Every route."""
        return [
            Route("/v1/matches", "POST", self.create_match),
            Route("/v1/matches", "GET", self.list_matches),
            Route("/v1/matches/<ref>", "GET", self.match),
            Route("/v1/matches/<ref>/document", "GET", self.document),
            Route("/v1/matches/<ref>/commands", "POST", self.command),
        ]

    async def create_match(self) -> Response:
        """POST /v1/matches: 201, or 200 when it stood already."""
        who = await self._callers.who_may(Action.CREATE_MATCH)
        body = read_struct(await read_body(), CreateMatch)
        if (fault := unfit_value(msgspec.to_builtins(body), "")) is not None:
            where, _, sentence = fault.partition(": ")
            raise Refusal(400, "invalid", sentence, where.removeprefix("."))
        outcome = await self._service.create_match(body, who)
        if isinstance(outcome, Created):
            return json_response(
                outcome, 201 if outcome.created else 200, {"location": f"/v1/matches/{outcome.match}"}
            )
        return answer_response(outcome)

    async def list_matches(self) -> Response:
        """GET /v1/matches?status&limit."""
        matches = await self._service.matches(_status(), whole("limit", LIST_MATCHES, 1, LIST_LIMIT_MATCHES))
        return json_response({"matches": matches})

    async def match(self, ref: str) -> Response:
        """GET /v1/matches/<ref>: the head and its position."""
        snapshot = await self._snapshot(ref)
        return json_response(
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
            seq = whole("at", OPENING_SEQ, OPENING_SEQ, 2**53 - 1)
            found = await self._service.document_at(ref, seq)
            if isinstance(found, Problem):
                raise refusal_of(found)
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
        return json_response(body, headers=headers)

    async def command(self, ref: str) -> Response:
        """POST /v1/matches/<ref>/commands: the answer, with the status of its outcome."""
        started = trio.current_time()
        who = await self._callers.who()
        if who is None:
            raise no_token()
        body = read_struct(await read_body(), CommandBody)
        frame = CommandFrame(
            body.id, ref, body.code, body.input, body.saw, body.override, body.sent_at, body.device
        )
        answer = await self._judged(frame, who)
        if isinstance(answer, Denied):
            journal.told(frame, who.account, answer, 0.0)
        self._counters.answered(answer, trio.current_time() - started)
        return answer_response(answer)

    async def _judged(self, frame: CommandFrame, who: Identity) -> Answer:
        if (sentence := forbidden_command(who, frame.match, frame.code)) is not None:
            return Denied(frame.id, frame.match, "forbidden", sentence)
        if (fault := unfit_command(frame)) is not None:
            return Refused(frame.id, frame.match, "invalid_frame", fault[1], field=fault[0])
        return await self._service.command(frame, who)

    async def _snapshot(self, ref: str) -> Snapshot:
        snapshot = await self._service.document(ref)
        if snapshot is None:
            raise no_match(ref)
        return snapshot


def _status() -> str | None:
    text = request.args.get("status")
    if text is not None and text.upper() not in STATUSES:
        raise Refusal(400, "invalid", f"status is one of {', '.join(STATUSES)}", "status")
    return None if text is None else text.upper()
