"""A webhook: every event of every match, posted in batches and signed.

The body is {"match", "events": [{"id", "seq", "epoch", "code", "emits", "at"}]}; `id` is stable, so what
comes twice is known. The header `Scorebox-Signature` is `t=SECONDS,v1=HEX`: HMAC-SHA256 of "SECONDS.BODY"
under the secret.
"""

import hashlib
import hmac
import ipaddress
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx
import msgspec
import trio

from gateway.errors import NotDelivered

DEADLINE_S = 10.0

_encode = msgspec.json.Encoder().encode


class Webhook:
    """Delivers to one address. Private addresses are refused unless allowed."""

    def __init__(self, url: str, secret: str, *, allow_private: bool = False) -> None:
        self.name = f"webhook:{hashlib.sha256(url.encode()).hexdigest()[:16]}"
        self._url = url
        self._secret = secret.encode()
        self._allow_private = allow_private

    async def deliver(self, match: UUID, notes: Sequence[dict[str, Any]]) -> None:
        """Post the notes; anything but a 2xx in time has them come again."""
        body = _encode({"match": str(match), "events": [_event(match, note) for note in notes]})
        headers = {
            "content-type": "application/json",
            "scorebox-signature": sign(self._secret, body, int(time.time())),
        }
        try:
            with trio.fail_after(DEADLINE_S):
                await self._refuse_private()
                # Of the answer only its head is read: its body may have no end.
                async with (
                    httpx.AsyncClient(timeout=DEADLINE_S, follow_redirects=False, trust_env=False) as client,
                    client.stream("POST", self._url, content=body, headers=headers) as answer,
                ):
                    pass
        except trio.TooSlowError as error:
            raise NotDelivered(f"no answer within {DEADLINE_S:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise NotDelivered(f"no answer: {error!r}") from error
        if not answer.is_success:
            raise NotDelivered(f"answered {answer.status_code}")

    async def _refuse_private(self) -> None:
        if self._allow_private:
            return
        url = httpx.URL(self._url)
        found = await trio.socket.getaddrinfo(url.host, url.port or 443, type=trio.socket.SOCK_STREAM)
        for *_, address in found:
            if not ipaddress.ip_address(address[0]).is_global:
                raise NotDelivered(
                    f"{url.host} is at {address[0]}, a private address; allow it in the settings"
                )


def sign(secret: bytes, body: bytes, seconds: int) -> str:
    """The signature of a body at a time (seconds since 1970)."""
    mac = hmac.new(secret, str(seconds).encode() + b"." + body, hashlib.sha256)
    return f"t={seconds},v1={mac.hexdigest()}"


def _event(match: UUID, note: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"{match}:{note['seq']}",
        "seq": note["seq"],
        "epoch": note["epoch"],
        "code": note["event_type"],
        "emits": list(note["emits"]),
        "at": note["created_at"],
    }
