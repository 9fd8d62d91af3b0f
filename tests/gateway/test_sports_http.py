"""Versions of sports over HTTP: who may, what is refused, what stays behind."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from gateway.auth import Authenticator, Identity, Role, StoredToken, new_token
from gateway.counters import Counters
from gateway.fanout import FanOut
from gateway.http import BODY_LIMIT_BYTES, create_application
from gateway.installing import Installing, ListedVersion
from gateway.lag import LoopLag
from gateway.sports_http import SportRoutes
from runtime.errors import DatabaseAway
from runtime.wheels import WHEEL_LIMIT_BYTES, read_wheel, write_wheel
from tests.acceptance.server import Desk, ServerProcess, server_process
from tests.gateway.standin import MemoryService
from tests.sportcopies import cricket_copy, cricket_wheel

CLEARED_LIMIT_S = 60.0


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    """A server that only the tests here install on."""
    with server_process() as server:
        yield server


@asynccontextmanager
async def client_of(server: ServerProcess, token: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {server.token if token is None else token}"}
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers if token != "" else {}, trust_env=False, timeout=60
    ) as client:
        yield client


async def install(client: httpx.AsyncClient, wheel: bytes) -> list[dict[str, Any]]:
    """Uploads a wheel; the lines of progress."""
    response = await client.post("/v1/sports", content=wheel)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.text.splitlines()]


async def cricket_versions(client: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    rows = (await client.get("/v1/sports")).json()["versions"]
    return {row["version"]: row for row in rows if row["sport"] == "cricket"}


def lying_about(server: ServerProcess) -> list[Path]:
    """What lies in the sports' folders that is no version and no note on versions."""
    root = server.data / "sports"
    known = re.compile(r"current|bundled|\d+\.\d+\.\d+.*")
    return [path for path in [*root.glob(".*"), *root.glob("*/*")] if not known.fullmatch(path.name)]


def changed(wheel: bytes, path: str, old: str, new: str, version: str | None = None) -> bytes:
    """A wheel with a text in one of its files replaced, and a RECORD that fits."""
    read = read_wheel(wheel)
    text = read.files[path].decode()
    assert old in text
    files = {**read.files, path: text.replace(old, new).encode()}
    return write_wheel("scorebox-cricket", version or read.version, "", files, read.golden)


@pytest.mark.parametrize(
    ("role", "listing", "installing"),
    [
        (None, 401, 401),
        ("viewer", 403, 403),
        ("scorer", 403, 403),
        ("operator", 200, 403),
        ("supervisor", 200, 403),
        ("ops", 200, 422),
        ("admin", 200, 422),
    ],
)
async def test_who_may_list_and_install(
    server: ServerProcess, role: str | None, listing: int, installing: int
) -> None:
    token = server.run("token", "create", "--role", role).stdout.strip() if role else ""
    async with client_of(server, token) as client:
        assert (await client.get("/v1/sports")).status_code == listing
        assert (await client.post("/v1/sports", content=b"no wheel")).status_code == installing
        retired = await client.delete("/v1/sports/cricket/9.9.9")
        assert retired.status_code == (404 if installing == 422 else installing)


async def test_what_is_no_wheel_or_too_large_is_refused(server: ServerProcess) -> None:
    async with client_of(server) as client:
        answer = await client.post("/v1/sports", content=b"no wheel")
        assert (answer.status_code, answer.json()["code"]) == (422, "unfit_wheel")
        assert "no wheel" in answer.json()["sentence"]
        answer = await client.post("/v1/sports", content=bytes(WHEEL_LIMIT_BYTES + 1))
        assert answer.status_code == 413
        assert str(WHEEL_LIMIT_BYTES) in answer.json()["sentence"]
        large = b"[" + bytes(BODY_LIMIT_BYTES)
        assert (await client.post("/v1/matches", content=large)).status_code == 413, "only here"


async def test_an_installed_version_is_used_by_new_matches(server: ServerProcess, tmp_path: Path) -> None:
    wheel = (await cricket_wheel(tmp_path, "1.1.0", officials="umpires", golden=1)).data
    async with client_of(server) as client:
        lines = await install(client, wheel)
        assert [line["step"] for line in lines] == ["read", "started", "golden", "installed"]
        assert (lines[2]["done"], lines[2]["of"]) == (1, 1)
        assert lines[-1]["current"]
        assert (await install(client, wheel))[-1]["step"] == "installed", "the same again changes nothing"
        versions = await cricket_versions(client)
        assert (versions["1.1.0"]["current"], versions["1.0.0"]["current"]) == (True, False)
        assert versions["1.1.0"]["code_sha"] == lines[-1]["code_sha"]
        other = (await cricket_wheel(tmp_path, "1.1.0", officials="judges")).data
        answer = await client.post("/v1/sports", content=other)
        assert (answer.status_code, answer.json()["code"]) == (409, "version_conflict")
        assert "other content" in answer.json()["sentence"]
        older = (await cricket_wheel(tmp_path, "1.0.9", officials="men")).data
        assert not (await install(client, older))[-1]["current"]
        assert (await cricket_versions(client))["1.1.0"]["current"]
    assert [path.name for path in lying_about(server)] == [".lock"]


@pytest.mark.parametrize(
    ("path", "old", "new", "sentence"),
    [
        ("lines.py", "import", "imp ort", "SyntaxError"),
        ("__init__.py", "SPORT:", "import os; os._exit(3)\nSPORT:", "no worker can be started"),
        ("__init__.py", "SPORT: EventSport = Cricket()", "SPORT = None", "no worker can be started"),
        ("manifest.json", '"name": "Cricket"', '"name": "Crickets"', "not what the sport says of itself"),
        (
            "delivery.py",
            "def deliver(",
            "def deliver(*_):\n    1 / 0\ndef deliver_(",
            "fails: ZeroDivisionError",
        ),
        ("delivery.py", 'else "sixes"] += 1', 'else "sixes"] += 2', "comes out otherwise"),
        (
            "sport.py",
            "    yield from innings.check_playing(state)",
            "    yield Refusal('no', 'No play today.')",
            "No play today.",
        ),
        (
            "sport.py",
            "        draft = Draft(state)",
            "        while True: pass",
            "ends its worker (deadline)",
        ),
    ],
)
async def test_what_fails_its_trial_leaves_nothing_behind(
    server: ServerProcess, tmp_path: Path, path: str, old: str, new: str, sentence: str
) -> None:
    whole = (await cricket_wheel(tmp_path, "3.0.0", golden=1)).data
    spoiled = changed(whole, f"scorebox_cricket/{path}", old, new)
    async with client_of(server) as client:
        last = (await install(client, spoiled))[-1]
        assert last["step"] == "failed"
        assert sentence in last["sentence"]
        assert "3.0.0" not in await cricket_versions(client)
        assert not (server.data / "sports" / "cricket" / "3.0.0").exists()
        assert [each.name for each in lying_about(server)] == [".lock"]


async def test_a_golden_match_nobody_can_read_is_refused(server: ServerProcess, tmp_path: Path) -> None:
    folder = cricket_copy(tmp_path, "3.0.0")
    for name, sentence in (("a.scorebook", "cannot be read"), ("a.xyz", "no form that is known")):
        read = read_wheel((await cricket_wheel(tmp_path / name, "3.0.0")).data)
        wheel = write_wheel("scorebox-cricket", "3.0.0", "", read.files, {name: b"1 run"})
        async with client_of(server) as client:
            answer = await client.post("/v1/sports", content=wheel)
            assert (answer.status_code, answer.json()["code"]) == (422, "unfit_wheel")
            assert sentence in answer.json()["sentence"]
    assert folder.is_dir()


async def test_a_version_is_retired_once_no_match_needs_it(server: ServerProcess, tmp_path: Path) -> None:
    async with client_of(server) as client, Desk(server) as desk:
        await install(client, (await cricket_wheel(tmp_path, "4.0.0", officials="four")).data)
        match = (await desk.create(version="4.0.0"))["match"]
        answer = await client.delete("/v1/sports/cricket/4.0.0")
        assert (answer.status_code, answer.json()["code"]) == (409, "version_in_use")
        assert "new matches use" in answer.json()["sentence"]
        await install(client, (await cricket_wheel(tmp_path, "4.0.1", officials="five")).data)
        answer = await client.delete("/v1/sports/cricket/4.0.0")
        assert answer.status_code == 409
        assert "1 unfinished match;" in answer.json()["sentence"]
        assert (await desk.send(match, "cricket.officials", {}, 1))["emits"] == ["four"]
        over = await desk.send(match, "cricket.result", {"kind": "abandoned"}, 2)
        assert over["outcome"] == "accepted", over
        assert (await client.delete("/v1/sports/cricket/4.0.0")).status_code == 204
        assert not (server.data / "sports" / "cricket" / "4.0.0").exists()
        assert "4.0.0" not in await cricket_versions(client)
        assert (await client.delete("/v1/sports/cricket/4.0.0")).status_code == 404
        assert (await desk.document(match))["document"]["head"]["status"] == "ABANDONED", "it is still read"
        await install(client, (await cricket_wheel(tmp_path / "again", "4.0.0", officials="four")).data)
        assert (await desk.create(version="4.0.0"))["match"], "installed again, it takes matches again"


async def test_a_client_that_leaves_in_the_middle_leaves_nothing_half_installed(
    server: ServerProcess, tmp_path: Path
) -> None:
    wheel = (await cricket_wheel(tmp_path, "1.0.5", officials="gone", golden=9)).data
    head = (
        f"POST /v1/sports HTTP/1.1\r\nhost: {server.url.partition('//')[2]}\r\n"
        f"authorization: Bearer {server.token}\r\ncontent-length: {len(wheel)}\r\n\r\n"
    )
    stream = await trio.open_tcp_stream("127.0.0.1", server.port)
    async with stream:
        await stream.send_all(head.encode() + wheel)
        received = b""
        while b'"started"' not in received:
            received += await stream.receive_some()
    async with client_of(server) as client:
        with trio.fail_after(CLEARED_LIMIT_S):
            while [path.name for path in lying_about(server)] != [".lock"]:
                await trio.sleep(0.05)
        folder = server.data / "sports" / "cricket" / "1.0.5"
        assert folder.exists() == ("1.0.5" in await cricket_versions(client))
        assert (await install(client, wheel))[-1]["step"] == "installed"


class Away(Installing):
    """What installs and lists, whose database is away."""

    def __init__(self) -> None:
        pass

    async def list(self) -> list[ListedVersion]:
        raise DatabaseAway("nobody answers at 10.0.0.7")


async def test_while_the_database_is_away_the_list_says_try_again() -> None:
    async def find(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        return {each: StoredToken(each, Identity("ops", Role.OPS)) for each in digests}

    service = MemoryService(FanOut())
    app = create_application(
        service,
        Authenticator(find),
        counters=Counters(),
        lag=LoopLag(),
        add_routes=lambda app, who_may: SportRoutes(Away(), service).add_to(app, who_may),
    )
    answer = await app.test_client().get("/v1/sports", headers={"Authorization": f"Bearer {new_token()}"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    body = json.loads(await answer.get_data())
    assert (body["code"], "10.0.0.7" in body["sentence"]) == ("try_again", False)
