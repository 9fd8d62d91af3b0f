"""Bodies that are larger than those of commands, and where they may come."""

from typing import Any

from quart_trio.wrappers import TrioRequest

from gateway.sports_http import SPORTS
from gateway.transfer import LIMIT_BYTES
from gateway.transfer_http import IMPORT
from runtime.wheels import WHEEL_LIMIT_BYTES

UPLOAD_DEADLINE_S = 120
"""For a whole file, over a slow line."""
LIMITS = {SPORTS: WHEEL_LIMIT_BYTES, IMPORT: LIMIT_BYTES}
"""Where a file is expected → its bytes at most."""


class UploadRequest(TrioRequest):
    """A request whose body may be a file where one is expected; everywhere else the usual limits hold."""

    def __init__(self, method: str, scheme: str, path: str, *args: Any, **options: Any) -> None:
        takes_file = method == "POST" and path in LIMITS
        if takes_file:
            options |= {"max_content_length": LIMITS[path], "body_timeout": UPLOAD_DEADLINE_S}
        super().__init__(method, scheme, path, *args, **options)
        if takes_file:
            # What a refusal names; the body itself was given it above.
            self.max_content_length = LIMITS[path]
