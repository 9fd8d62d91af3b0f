"""HTTP for who runs the server: versions of sports are installed, listed, retired, matches moved to them."""

from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID, uuid4

import msgspec
import trio
from quart import Response
from quart_trio import QuartTrio

from gateway.auth import Action
from gateway.codec import unfit_command
from gateway.effective import MOVE, OPENING_SEQ
from gateway.errors import UnknownVersion, VersionInUse
from gateway.installing import Installing, Progress
from gateway.protocol import CommandFrame, Conflict, Seq
from gateway.requests import Refusal, WhoMay, read_body, read_struct
from gateway.responses import answer_response, json_response
from gateway.service import Service
from runtime.errors import RuntimeFault, VersionConflict

SPORTS = "/v1/sports"
LINES = "application/x-ndjson"
MOVE_TRIES = 10
"""How often a move is made while others score the match."""


class MoveBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a move; `id` and `saw` as a command has them."""

    version: str
    reason: str
    code_sha: str | None = None
    preview: bool = False
    force: bool = False
    id: UUID | None = None
    saw: Seq | None = None


class SportRoutes:
    """One method per route."""

    def __init__(self, installing: Installing, service: Service) -> None:
        self._installing = installing
        self._service = service
        self._who_may: WhoMay

    def add_to(self, app: QuartTrio, who_may: WhoMay) -> None:
        """Adds the routes to an application; `who_may` refuses whoever may not do something."""
        self._who_may = who_may
        app.add_url_rule(SPORTS, view_func=self.install_sport, methods=["POST"])
        app.add_url_rule(SPORTS, view_func=self.list_sports, methods=["GET"])
        app.add_url_rule(f"{SPORTS}/<sport>/<version>", view_func=self.retire_sport, methods=["DELETE"])
        app.add_url_rule("/v1/matches/<ref>/move", view_func=self.move_match, methods=["POST"])

    async def install_sport(self) -> Response:
        """POST /v1/sports: a wheel. Refused at once, or 200 and a line of JSON for every step.

        The last line's step says how it ended: "installed" or "failed".
        """
        await self._who_may(Action.INSTALL_SPORT)
        try:
            checked = await self._installing.read(await read_body())
        except VersionConflict as error:
            raise Refusal(409, "version_conflict", str(error)) from error
        except RuntimeFault as error:
            raise Refusal(422, "unfit_wheel", str(error)) from error
        response = Response(_lines(self._installing.start(checked)), 200, content_type=LINES)
        # The install has limits of its own.
        response.timeout = None
        return response

    async def list_sports(self) -> Response:
        """GET /v1/sports: every version, whether new matches use it, and the unfinished matches on it."""
        await self._who_may(Action.SEE_STATUS)
        return json_response({"versions": await self._installing.list()})

    async def retire_sport(self, sport: str, version: str) -> Response:
        """DELETE /v1/sports/<sport>/<version>: 204, or 409 while matches need it."""
        await self._who_may(Action.INSTALL_SPORT)
        try:
            await self._installing.retire(sport, version)
        except UnknownVersion as error:
            raise Refusal(404, "unknown_version", str(error)) from error
        except VersionInUse as error:
            raise Refusal(409, "version_in_use", str(error)) from error
        return Response(b"", 204)

    async def move_match(self, ref: str) -> Response:
        """POST /v1/matches/<ref>/move: the match goes on in another version; the answer of its command.

        Without `saw` it is moved wherever it stands: a move is made from the log, whatever is newest in it.
        """
        who = await self._who_may(Action.INSTALL_SPORT)
        body = read_struct(await read_body(), MoveBody)
        wanted: dict[str, Any] = {"version": body.version, "reason": body.reason}
        wanted |= {"code_sha": body.code_sha} if body.code_sha else {}
        wanted |= {name: True for name in ("preview", "force") if getattr(body, name)}
        id = str(body.id or uuid4())
        for _ in range(MOVE_TRIES):
            frame = CommandFrame(id, ref, MOVE, wanted, body.saw or await self._newest(ref))
            if (fault := unfit_command(frame)) is not None:
                raise Refusal(400, "invalid", fault[1], fault[0])
            answer = await self._service.command(frame, who)
            if body.saw is not None or not isinstance(answer, Conflict):
                break
        return answer_response(answer)

    async def _newest(self, ref: str) -> int:
        snapshot = await self._service.document(ref)
        # A match that is not there is refused by the command.
        return OPENING_SEQ if snapshot is None else snapshot.seq


async def _lines(progress: trio.MemoryReceiveChannel[Progress]) -> AsyncGenerator[bytes, None]:
    async with progress:
        async for each in progress:
            yield msgspec.json.encode(each) + b"\n"
