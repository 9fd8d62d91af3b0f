"""One HTTP request on its way through the application, and what its connection must know of it."""

from collections.abc import Awaitable, Callable
from typing import Any

from gateway.heads import TurnAway

Message = Any
"""A message of ASGI, as hypercorn and quart-trio have them."""
CLOSE = (b"connection", b"close")
FRAMED = (b"content-length", b"transfer-encoding")
"""Headers of a request that has a body."""


class Exchange:
    """Stands between hypercorn and the application for one request.

    quart-trio cancels whatever still runs for a request when it hears that the client is gone. hypercorn says
    so at the end of every request, while it is still closing the connection or making it ready for the next
    one. So what comes after the last byte of the answer is not passed on.
    """

    def __init__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
        *,
        last: Callable[[], bool],
    ) -> None:
        self._receive = receive
        self._send = send
        self._last = last
        self._answered = False
        self._plain = scope["http_version"].startswith("1")
        self.whole = not any(name in FRAMED for name, _ in scope["headers"])
        """True once all of the request was read."""

    async def receive(self) -> Message:
        """The next message for the application."""
        while True:
            message = await self._receive()
            if message["type"] == "http.request" and not message.get("more_body", False):
                self.whole = True
            if not self._answered:
                return message

    async def send(self, message: Message) -> None:
        """A message of the application.

        Its answer is the connection's last when nothing more is taken, or when it comes before the request is
        whole: the rest of that would stand in the next one's way.
        """
        if message["type"] == "http.response.start" and self._plain and (self._last() or not self.whole):
            message = message | {"headers": [*message.get("headers", ()), CLOSE]}
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._answered = True
        await self._send(message)

    async def refuse(self, answer: TurnAway) -> None:
        """Answer without the application."""
        headers = [(name.encode(), value.encode()) for name, value in answer.headers]
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer.body))]
        await self.send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": answer.body})


class NoTimer:
    """Instead of hypercorn's timer of idle connections, which outlives its connection: the stream has one."""

    async def restart(self, *_: object) -> None:
        """A connection became idle."""

    async def stop(self) -> None:
        """A request came."""
