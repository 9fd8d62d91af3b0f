"""HTTP for who runs the server: versions of sports are listed, installed from a wheel, and retired."""

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import trio
from quart import Response, request
from quart_trio import QuartTrio
from quart_trio.wrappers import TrioRequest

from gateway.auth import Action
from gateway.errors import UnknownVersion, VersionInUse
from gateway.http import Refusal, WhoMay
from gateway.installing import Installing, Progress
from runtime.errors import DatabaseAway, RuntimeFault, VersionConflict
from runtime.wheels import WHEEL_LIMIT_BYTES

SPORTS = "/v1/sports"
UPLOAD_DEADLINE_S = 120
"""For the whole wheel, over a slow line."""
LINES = "application/x-ndjson"


class UploadRequest(TrioRequest):
    """A request whose body may be a wheel where one is expected; everywhere else the usual limits hold."""

    def __init__(self, method: str, scheme: str, path: str, *args: Any, **options: Any) -> None:
        if method == "POST" and path == SPORTS:
            options |= {"max_content_length": WHEEL_LIMIT_BYTES, "body_timeout": UPLOAD_DEADLINE_S}
        super().__init__(method, scheme, path, *args, **options)


class SportRoutes:
    """One method per route."""

    def __init__(self, installing: Installing) -> None:
        self._installing = installing
        self._who_may: WhoMay

    def add_to(self, app: QuartTrio, who_may: WhoMay) -> None:
        """Adds the routes to an application; `who_may` refuses whoever may not do something."""
        self._who_may = who_may
        app.request_class = UploadRequest
        app.add_url_rule(SPORTS, view_func=self.install_sport, methods=["POST"])
        app.add_url_rule(SPORTS, view_func=self.list_sports, methods=["GET"])
        app.add_url_rule(f"{SPORTS}/<sport>/<version>", view_func=self.retire_sport, methods=["DELETE"])

    async def install_sport(self) -> Response:
        """POST /v1/sports: a wheel. Refused at once, or 200 and a line of JSON for every step.

        The last line's step says how it ended: "installed" or "failed".
        """
        await self._who_may(Action.INSTALL_SPORT)
        data = await request.get_data(as_text=False)
        assert isinstance(data, bytes)
        try:
            checked = await self._installing.read(data)
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
        try:
            versions = await self._installing.list()
        except DatabaseAway as error:
            raise Refusal(503, "try_again", "the database cannot be reached just now; try again") from error
        return Response(msgspec.json.encode({"versions": versions}), content_type="application/json")

    async def retire_sport(self, sport: str, version: str) -> Response:
        """DELETE /v1/sports/<sport>/<version>: 204, or 409 while matches need it."""
        await self._who_may(Action.INSTALL_SPORT)
        try:
            await self._installing.retire(sport, version)
        except UnknownVersion as error:
            raise Refusal(404, "unknown_version", str(error)) from error
        except VersionInUse as error:
            raise Refusal(409, "version_in_use", str(error)) from error
        except DatabaseAway as error:
            raise Refusal(503, "try_again", "the database cannot be reached just now; try again") from error
        return Response(b"", 204)


async def _lines(progress: trio.MemoryReceiveChannel[Progress]) -> AsyncGenerator[bytes, None]:
    async with progress:
        async for each in progress:
            yield msgspec.json.encode(each) + b"\n"
