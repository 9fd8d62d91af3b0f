"""The versions of sports on a server, or in the data folder here: installed, listed, retired."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from config.connection import FORBIDDEN_STATUS, refused_token
from config.database import reach_database
from config.errors import NotInstalled, Unexpected, Unreachable
from config.installed import installed_versions
from config.settings import Settings
from config.trials import read_golden
from gateway.errors import GatewayFault
from gateway.installing import Installing, ListedVersion, Progress
from gateway.registry import Registry
from runtime.errors import RuntimeFault

ANSWER_LIMIT_S = 60.0
STEP_LIMIT_S = 700.0
"""Between two lines of an install's progress."""

Tell = Callable[[Progress], Awaitable[None]]
T = TypeVar("T")


class Sports(Protocol):
    """What can be done with versions of sports."""

    async def install(self, wheel: bytes, tell: Tell) -> None:
        """Install a wheel; `tell` hears of every step. Raises NotInstalled with the reason."""
        ...

    async def list(self) -> list[ListedVersion]:
        """Every version."""
        ...

    async def retire(self, sport: str, version: str) -> None:
        """Take a version away. Raises NotInstalled where it is needed or not there."""
        ...


class _Listing(msgspec.Struct):
    versions: list[ListedVersion]


class _Problem(msgspec.Struct):
    sentence: str


class RemoteSports:
    """On a server."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._url = str(client.base_url).rstrip("/")

    async def install(self, wheel: bytes, tell: Tell) -> None:
        """Upload a wheel. See `Sports`."""
        last, failure = "", ""
        async with self._answer("POST", "/v1/sports", content=wheel) as response:
            async for line in response.aiter_lines():
                progress = self._read(line.encode(), Progress)
                last = progress.step
                if last == "failed":
                    failure = progress.sentence
                else:
                    await tell(progress)
        if last == "failed":
            raise NotInstalled(failure)
        if last != "installed":
            raise Unexpected(f"{self._url} went away in the middle of the install; install it again")

    async def list(self) -> list[ListedVersion]:
        """Every version."""
        async with self._answer("GET", "/v1/sports") as response:
            return self._read(await response.aread(), _Listing).versions

    async def retire(self, sport: str, version: str) -> None:
        """Take a version away. See `Sports`."""
        path = f"/v1/sports/{quote(sport, safe='')}/{quote(version, safe='')}"
        async with self._answer("DELETE", path):
            pass

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, content: bytes | None = None
    ) -> AsyncIterator[httpx.Response]:
        try:
            async with self._client.stream(method, path, content=content) as response:
                if response.is_error:
                    sentence = self._read(await response.aread(), _Problem).sentence
                    if response.status_code in FORBIDDEN_STATUS:
                        raise refused_token(self._url, response.status_code, sentence)
                    raise NotInstalled(sentence)
                yield response
        except (httpx.TransportError, OSError) as error:
            raise Unreachable(f"{self._url} does not answer ({error or type(error).__name__})") from error

    def _read(self, data: bytes, type: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=type)
        except msgspec.MsgspecError as error:
            raise Unexpected(f"{self._url} does not answer as a Scorebox server does ({error})") from error


class LocalSports:
    """In the data folder here; a server that runs on it takes what was installed for new matches."""

    def __init__(self, installing: Installing) -> None:
        self._installing = installing

    async def install(self, wheel: bytes, tell: Tell) -> None:
        """Install a wheel. See `Sports`."""
        try:
            await self._installing.install(await self._installing.read(wheel), tell)
        except RuntimeFault as error:
            raise NotInstalled(str(error)) from error

    async def list(self) -> list[ListedVersion]:
        """Every version."""
        return await self._installing.list()

    async def retire(self, sport: str, version: str) -> None:
        """Take a version away. See `Sports`."""
        try:
            await self._installing.retire(sport, version)
        except GatewayFault as error:
            raise NotInstalled(str(error)) from error


@asynccontextmanager
async def reach_sports(
    url: str | None, token: str | None, settings: Settings
) -> AsyncGenerator[Sports, None]:
    """The versions on the server at `url`, or without one those in the settings' data folder."""
    if url is not None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        timeout = httpx.Timeout(ANSWER_LIMIT_S, read=STEP_LIMIT_S)
        async with httpx.AsyncClient(
            base_url=url, headers=headers, timeout=timeout, trust_env=False
        ) as client:
            yield RemoteSports(client)
        return
    versions = await installed_versions(settings)
    async with reach_database(settings) as database:
        yield LocalSports(Installing(versions=versions, registry=Registry(database), read_golden=read_golden))
