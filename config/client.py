"""A client of a Scorebox server: commands and watching over WebSockets, the rest over HTTP.

It behaves as a tablet does: one command at a time, a new id for every tap, and the same id again after
"try again" or a lost connection, until there is an answer.
"""

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeVar

import httpx
import msgspec
import trio

from config.connection import FORBIDDEN_STATUS, Connection, Lost, connect, refused_token
from config.errors import Unexpected, Unreachable
from gateway.protocol import (
    Accepted,
    ChangedFrame,
    CommandFrame,
    Conflict,
    Created,
    CreateMatch,
    Denied,
    DocumentFrame,
    EventFrame,
    EventHistory,
    LogEvent,
    Pong,
    Position,
    Preview,
    Problem,
    Refused,
    TryAgain,
    Unwatched,
    Watch,
    Welcome,
)
from runtime.groups import sole_error

ANSWER_LIMIT_S = 20.0
"""A command without an answer for so long: the connection is given up and the command sent again."""
PATIENCE_S = 120.0
"""How long "try again" and lost connections are borne before a command is given up."""
FIRST_RETRY_S = 0.25
MOST_RETRY_S = 5.0
"""The wait before the next connection, doubled each time."""
TRANSFER_LIMIT_S = 600.0
"""A whole match, out or in: it is played again there."""
LOG_PAGE_ROWS = 500
UNKNOWN_EVENT = "unknown_event"

Answer = Accepted | Refused | Conflict | Preview | Denied
WatchFrame = DocumentFrame | EventFrame | ChangedFrame
T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_answers = msgspec.json.Decoder(Accepted | Refused | Conflict | Preview | TryAgain | Denied)
_frames = msgspec.json.Decoder(
    DocumentFrame | EventFrame | ChangedFrame | Pong | Welcome | Unwatched | Problem
)


class _Operation(msgspec.Struct):
    op: str


_operations = msgspec.json.Decoder(_Operation)


class LogPage(msgspec.Struct, frozen=True):
    """A page of a match's log; `next` is the seq to go on after, None at the end."""

    rows: list[LogEvent]
    next: int | None = None


class Client:
    """Made by `open_client`. Commands go one at a time: a tablet sends one and waits."""

    def __init__(self, url: str, token: str | None, nursery: trio.Nursery, device: str | None) -> None:
        self.url = url.rstrip("/")
        self._nursery = nursery
        self._device = device
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.AsyncClient(
            base_url=self.url, headers=self._headers, timeout=ANSWER_LIMIT_S, trust_env=False
        )
        self._connection: Connection | None = None

    async def command(
        self, match: str, code: str, input: dict[str, Any], saw: int, override: Sequence[str] = ()
    ) -> Answer:
        """Sends one command and waits for its answer, over "try again" and lost connections.

        Raises:
            Unreachable: no answer within `PATIENCE_S`.
            TokenRefused: the server does not know the token.
            Unexpected: the server could not read the frame, or answered something else.
        """
        frame = CommandFrame(
            id=str(uuid.uuid4()),
            match=match,
            code=code,
            input=input,
            saw=saw,
            override=list(override),
            device=self._device,
        )
        text = _encode(frame).decode()
        give_up_at = trio.current_time() + PATIENCE_S
        retry_s = FIRST_RETRY_S
        while True:
            try:
                answer = await self._ask(frame.id, text)
            except Lost as lost:
                reason, wait_s = str(lost), retry_s
                retry_s = min(retry_s * 2, MOST_RETRY_S)
            else:
                if not isinstance(answer, TryAgain):
                    return answer
                reason, wait_s = answer.reason, answer.after_ms / 1000
            if trio.current_time() + wait_s > give_up_at:
                raise Unreachable(f"{self.url} did not take {code} within {PATIENCE_S:.0f} s ({reason})")
            await trio.sleep(wait_s)

    async def correct(
        self, match: str, code: str, input: dict[str, Any], *, saw: int | None = None
    ) -> Answer:
        """Sends a correction (`match.undo`, `match.correct` …), made where the match stands now.

        With `saw` where it stood then: whoever scored since makes it a conflict. The answer is a preview
        where the input asks for one. Raises as `command` does.
        """
        if saw is None:
            saw = (await self.document(match))["seq"]
        return await self.command(match, code, input, saw)

    async def watch(
        self,
        match: str,
        *,
        audience: Literal["scorer", "viewer"] = "viewer",
        after: Position | None = None,
    ) -> AsyncGenerator[WatchFrame, None]:
        """Follows a match on a socket of its own: its document, then what changes, over lost connections."""
        retry_s = FIRST_RETRY_S
        while True:
            connection: Connection | None = None
            try:
                connection = await connect(self._nursery, self.url, self._headers)
                await connection.send(_encode(Watch(match, audience, after)).decode())
                while True:
                    frame = self._frame(await connection.receive())
                    if isinstance(frame, WatchFrame):
                        after = Position(frame.epoch, frame.seq)
                        retry_s = FIRST_RETRY_S
                        yield frame
            except Lost:
                await trio.sleep(retry_s)
                retry_s = min(retry_s * 2, MOST_RETRY_S)
            finally:
                if connection is not None:
                    await connection.close()

    async def create_match(self, body: CreateMatch) -> Created:
        """Creates a match, or finds the one with the same outside id."""
        give_up_at = trio.current_time() + PATIENCE_S
        while True:
            response = await self._request("POST", "/v1/matches", content=_encode(body))
            busy = response.status_code == httpx.codes.SERVICE_UNAVAILABLE
            if not busy or trio.current_time() > give_up_at:
                return self._read(response, Created)
            await trio.sleep(FIRST_RETRY_S)

    async def matches(self, *, status: str | None = None, limit: int | None = None) -> list[dict[str, Any]]:
        """Matches as the server lists them."""
        given = {"status": status, "limit": limit}
        parameters = {name: value for name, value in given.items() if value is not None}
        found = self._read(await self._request("GET", "/v1/matches", params=parameters), dict[str, Any])
        listed: list[dict[str, Any]] = found["matches"]
        return listed

    async def document(self, match: str, *, at: int | None = None) -> dict[str, Any]:
        """The match's document and where it stands: match, epoch, seq, state_hash, document.

        With `at` as it stood after that row of the log.
        """
        parameters = {} if at is None else {"at": at}
        response = await self._request("GET", f"/v1/matches/{match}/document", params=parameters)
        return self._read(response, dict[str, Any])

    async def export(self, match: str, *, at: int | None = None) -> bytes:
        """A match as a file: its log up to the row `at`, or whole."""
        parameters = {} if at is None else {"at": at}
        response = await self._request(
            "GET", f"/v1/matches/{match}/export", params=parameters, timeout=TRANSFER_LIMIT_S
        )
        self._check(response)
        return response.content

    async def import_match(self, data: bytes) -> Created:
        """Puts an exported match into the server."""
        response = await self._request("POST", "/v1/matches/import", content=data, timeout=TRANSFER_LIMIT_S)
        return self._read(response, Created)

    async def event(self, match: str, name: str) -> EventHistory | None:
        """An event and its history, by its name or as "newest"; None where there is no such event."""
        response = await self._request("GET", f"/v1/matches/{match}/events/{name}")
        if response.status_code == httpx.codes.NOT_FOUND and _problem(response).get("code") == UNKNOWN_EVENT:
            return None
        return self._read(response, EventHistory)

    async def log(self, match: str, *, after: int = 0) -> AsyncGenerator[LogEvent, None]:
        """The rows of a match's log in order, read page by page."""
        position: int | None = after
        while position is not None:
            parameters = {"after": position, "limit": LOG_PAGE_ROWS}
            response = await self._request("GET", f"/v1/matches/{match}/log", params=parameters)
            page = self._read(response, LogPage)
            for row in page.rows:
                yield row
            position = page.next

    async def status(self) -> dict[str, Any]:
        """The server's status."""
        return self._read(await self._request("GET", "/status"), dict[str, Any])

    async def aclose(self) -> None:
        """Closes the socket and the HTTP connections."""
        await self._hang_up()
        await self._http.aclose()

    async def _ask(self, id: str, text: str) -> Answer | TryAgain:
        """One try: sends a command on the socket, a new one if need be, and waits for its answer.

        A socket that did not bring the answer is not used again: what it brings later would be late.
        """
        answered = False
        try:
            with trio.fail_after(ANSWER_LIMIT_S):
                if self._connection is None:
                    self._connection = await connect(self._nursery, self.url, self._headers)
                await self._connection.send(text)
                while True:
                    payload = await self._connection.receive()
                    if _operations.decode(payload).op != "answer":
                        self._frame(payload)
                        continue
                    answer: Answer | TryAgain = _answers.decode(payload)
                    if answer.id == id:
                        answered = True
                        return answer
        except trio.TooSlowError as error:
            raise Lost(f"no answer within {ANSWER_LIMIT_S:.0f} s") from error
        except msgspec.MsgspecError as error:
            raise Unexpected(f"{self.url} sent a frame that cannot be read ({error})") from error
        finally:
            if not answered:
                await self._hang_up()

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _frame(self, payload: bytes) -> object:
        """A frame that is no answer. A problem with what was sent is an error."""
        operation = _operations.decode(payload).op
        frame = _answers.decode(payload) if operation == "answer" else _frames.decode(payload)
        if isinstance(frame, Problem | Refused | Denied):
            raise Unexpected(f"{self.url}: {frame.sentence}")
        return frame

    async def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            return await self._http.request(method, path, **options)
        except (httpx.TransportError, OSError) as error:
            raise Unreachable(
                f"nothing answers at {self.url} ({str(error) or type(error).__name__}); "
                "start a server with `scorebox serve` or check the address"
            ) from error

    def _check(self, response: httpx.Response) -> None:
        if response.status_code in FORBIDDEN_STATUS:
            raise refused_token(self.url, response.status_code, _sentence(response))
        if response.is_error:
            raise Unexpected(f"{self.url} answered {response.status_code}: {_sentence(response)}")

    def _read(self, response: httpx.Response, type: type[T]) -> T:
        self._check(response)
        try:
            return msgspec.json.decode(response.content, type=type)
        except msgspec.MsgspecError as error:
            raise Unexpected(
                f"{response.url} does not answer as a Scorebox server does ({error}); check the address"
            ) from error


@asynccontextmanager
async def open_client(
    url: str, token: str | None = None, *, device: str | None = None
) -> AsyncIterator[Client]:
    """A client of the server at `url`. The socket is opened by the first command.

    Raises:
        Unexpected: `url` is no address of a server.
    """
    try:
        address = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Unexpected(f"{url!r} is no address ({error}); write http://HOST:PORT") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise Unexpected(f"{url!r} is no address of a server; write http://HOST:PORT")
    with sole_error():
        async with trio.open_nursery() as nursery:
            client = Client(url, token, nursery, device)
            try:
                yield client
            finally:
                await client.aclose()
                nursery.cancel_scope.cancel()


def _problem(response: httpx.Response) -> dict[str, Any]:
    """An error's body; empty where it is none of a Scorebox server."""
    try:
        body = msgspec.json.decode(response.content)
    except msgspec.MsgspecError:
        return {}
    return body if isinstance(body, dict) else {}


def _sentence(response: httpx.Response) -> str:
    """What the server says is wrong, from an error's body."""
    body = _problem(response)
    said = body.get("sentence") or body.get("reason")
    where = body.get("where") or body.get("field") if said else None
    return f"{said} ({where})" if where else str(said or response.reason_phrase)
