"""HTTP for taking a match out whole, and for putting one in."""

import re

import trio
from quart import Response, request
from quart_trio import QuartTrio

from gateway.auth import Action
from gateway.effective import OPENING_SEQ
from gateway.errors import TransferTaken, TransferUnfit, VersionRetired
from gateway.exporting import Exporter
from gateway.importing import Importer
from gateway.protocol import Problem
from gateway.requests import Refusal, WhoMay, read_body, refusal_of, whole
from gateway.responses import json_response
from runtime.errors import CodeMissing, CodeTampered, DatabaseAway, RuntimeFault

IMPORT = "/v1/matches/import"
LINES = "application/x-ndjson"


class TransferRoutes:
    """One method per route."""

    def __init__(self, exporter: Exporter, importer: Importer) -> None:
        self._exporter = exporter
        self._importer = importer
        self._who_may: WhoMay

    def add_to(self, app: QuartTrio, who_may: WhoMay) -> None:
        """Adds the routes to an application; `who_may` refuses whoever may not do something."""
        self._who_may = who_may
        app.add_url_rule(IMPORT, view_func=self.import_match, methods=["POST"])
        app.add_url_rule("/v1/matches/<ref>/export", view_func=self.export_match, methods=["GET"])

    async def export_match(self, ref: str) -> Response:
        """GET /v1/matches/<ref>/export?at: the match as a file, up to a row or to its newest."""
        await self._who_may(Action.TRANSFER_MATCH)
        at = whole("at", OPENING_SEQ, OPENING_SEQ, 2**53 - 1) if "at" in request.args else None
        found = await self._exporter.export(ref, at)
        if isinstance(found, Problem):
            raise refusal_of(found)
        name = re.sub(r"[^A-Za-z0-9._-]", "-", ref)[:64]
        headers = {
            "content-disposition": f'attachment; filename="{name}.match"',
            "cache-control": "no-store",
        }
        return Response(found, 200, headers, content_type=LINES)

    async def import_match(self) -> Response:
        """POST /v1/matches/import: 201, or 200 where it was here already, row for row."""
        who = await self._who_may(Action.TRANSFER_MATCH)
        try:
            created = await self._importer.import_match(await read_body(), who.account)
        except TransferUnfit as error:
            raise Refusal(422, "unfit_file", str(error)) from error
        except TransferTaken as error:
            raise Refusal(409, "match_exists", str(error)) from error
        except (CodeMissing, CodeTampered, VersionRetired) as error:
            raise Refusal(409, "other_code", str(error)) from error
        except DatabaseAway:
            raise
        except RuntimeFault as error:
            raise Refusal(
                503, "try_again", f"the match cannot be played just now ({error}); try again"
            ) from error
        except trio.TooSlowError as error:
            raise Refusal(503, "try_again", "the import took too long and was given up; try again") from error
        where = {"location": f"/v1/matches/{created.match}"}
        return json_response(created, 201 if created.created else 200, where)
