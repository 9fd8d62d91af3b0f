"""HTTP over real sockets."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.auth import Identity
from gateway.http import BODY_LIMIT_BYTES, SECURITY_HEADERS
from gateway.protocol import Answer, CommandFrame, Conflict, Refused, TryAgain
from runtime.errors import DatabaseAway
from tests.gateway.rawsocket import RawSocket
from tests.gateway.standin import CODE, MATCH, OTHER, Server, ball, serving

NEW = {"sport": "cricket", "name": "A v B", "opening": {}, "code": "NEW-7"}


def command(number: int, **fields: Any) -> dict[str, Any]:
    return {key: value for key, value in ball(number, **fields).items() if key not in ("op", "match")}


@asynccontextmanager
async def client_of(role: str | None = "scorer") -> AsyncIterator[tuple[Server, httpx.AsyncClient]]:
    async with serving() as server:
        headers = {} if role is None else {"authorization": f"Bearer {server.tokens[role]}"}
        async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
            yield server, client


async def test_a_document_has_its_position_as_etag() -> None:
    async with client_of(None) as (server, client):
        response = await client.get(f"/v1/matches/{MATCH}/document")
        assert response.status_code == 200
        assert response.json()["document"]["head"]["code"] == CODE
        etag = response.headers["etag"]
        assert etag == '"1-0"'
        again = await client.get(f"/v1/matches/{CODE}/document", headers={"if-none-match": etag})
        assert (again.status_code, again.content) == (304, b"")
        server.service.matches_by_ref[MATCH].score(CommandFrame("i", MATCH, "a.bc", {}, 0), "a")
        newer = await client.get(f"/v1/matches/{MATCH}/document", headers={"if-none-match": etag})
        assert (newer.status_code, newer.json()["seq"]) == (200, 1)


async def test_a_command_is_accepted() -> None:
    async with client_of() as (server, client):
        response = await client.post(f"/v1/matches/{MATCH}/commands", json=command(1))
        assert response.status_code == 200
        assert response.json()["outcome"] == "accepted"
        assert server.service.commands[0].match == MATCH


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (Refused("i", "m", "free_hit", "no"), 422),
        (Refused("i", "m", "invalid_input", "no", field="bat"), 400),
        (Refused("i", "m", "unknown_match", "no"), 404),
        (Conflict("i", "m", 3, 1), 409),
        (TryAgain("i", "m", "busy", 1_200), 503),
    ],
)
async def test_outcomes_have_their_status(answer: Answer, status: int) -> None:
    async with client_of() as (server, client):

        async def handler(frame: CommandFrame, who: Identity) -> Answer:
            return answer

        server.service.handler = handler
        response = await client.post(f"/v1/matches/{MATCH}/commands", json=command(1))
        assert response.status_code == status
        assert response.headers.get("retry-after") == ("2" if status == 503 else None)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", None),
        (b"[]", None),
        (b"\xff", None),
        (b"{}", "id"),
        ({"saw": "3"}, "saw"),
        ({"input": None}, "input"),
        ({"op": "command"}, "op"),
        ({"input": {"a": 1.5}}, "input.a"),
        ({"input": {"a": "\0"}}, "input.a"),
        ({"sent_at": "noon"}, "sent_at"),
    ],
)
async def test_a_bad_command_names_the_field(body: Any, field: str | None) -> None:
    async with client_of() as (server, client):
        sent = {"content": body} if isinstance(body, bytes) else {"json": command(1) | body}
        response = await client.post(f"/v1/matches/{MATCH}/commands", **sent)
        assert response.status_code == 400
        assert response.json().get("field") == field
        assert response.json()["sentence"]
        assert server.service.commands == []


@pytest.mark.parametrize(
    ("role", "status"), [(None, 401), ("viewer", 403), ("bound", 403), ("scorer", 200), ("admin", 200)]
)
async def test_who_may_send_a_command(role: str | None, status: int) -> None:
    async with client_of(role) as (_, client):
        response = await client.post(f"/v1/matches/{MATCH}/commands", json=command(1))
        assert response.status_code == status
        assert ("www-authenticate" in response.headers) == (status == 401)


@pytest.mark.parametrize(
    ("role", "status"), [(None, 401), ("scorer", 403), ("bound", 403), ("operator", 201)]
)
async def test_who_may_create_a_match(role: str | None, status: int) -> None:
    async with client_of(role) as (_, client):
        assert (await client.post("/v1/matches", json=NEW)).status_code == status


async def test_creating_the_same_match_again() -> None:
    async with client_of("operator") as (_, client):
        first = await client.post("/v1/matches", json=NEW)
        assert (first.status_code, first.json()["created"]) == (201, True)
        again = await client.post("/v1/matches", json=NEW)
        assert (again.status_code, again.json()["created"]) == (200, False)
        assert (await client.get(first.headers["location"])).json()["head"]["code"] == "NEW-7"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"sport": "Cricket!"}, "sport"),
        ({"name": ""}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"opening": []}, "opening"),
        ({"opening": {"a": 0.5}}, "opening.a"),
        ({"code": "a b"}, "code"),
        ({"external": {"source": "s"}}, "external.id"),
        ({"people": {"A1": {"source": "s", "id": "\0"}}}, "people.A1.id"),
        ({"colour": 1}, "colour"),
    ],
)
async def test_a_bad_match_names_the_field(fields: dict[str, Any], field: str) -> None:
    async with client_of("operator") as (_, client):
        response = await client.post("/v1/matches", json=NEW | fields)
        assert response.status_code == 400
        assert response.json()["field"] == field


async def test_a_token_that_is_not_known_is_refused_everywhere() -> None:
    async with client_of(None) as (_, client):
        headers = {"authorization": "Bearer nobody"}
        for path in ("/status", f"/v1/matches/{MATCH}/log"):
            assert (await client.get(path, headers=headers)).status_code == 401


async def test_the_log_is_paged_and_tells_scorers_who_sent_a_row() -> None:
    async with client_of() as (server, client):
        for number in range(5):
            await client.post(f"/v1/matches/{MATCH}/commands", json=command(number))
        after: int | None = 0
        seen = []
        while after is not None:
            page = (await client.get(f"/v1/matches/{MATCH}/log", params={"after": after, "limit": 2})).json()
            seen += page["rows"]
            after = page["next"]
        assert [row["seq"] for row in seen] == [1, 2, 3, 4, 5]
        assert seen[0]["source"] == {"account": "scorer-account"}
        async with httpx.AsyncClient(base_url=server.url) as anybody:
            row = (await anybody.get(f"/v1/matches/{MATCH}/log")).json()["rows"][0]
            assert "source" not in row


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "limit=0", "limit=1001", "after=1.5", "after=٣", "limit="]
)
async def test_a_bad_page_names_the_field(query: str) -> None:
    async with client_of(None) as (_, client):
        response = await client.get(f"/v1/matches/{MATCH}/log?{query}")
        assert response.status_code == 400
        assert response.json()["field"] == query.split("=", maxsplit=1)[0]


async def test_the_list() -> None:
    async with client_of(None) as (_, client):
        assert [row["code"] for row in (await client.get("/v1/matches")).json()["matches"]] == [CODE, "CRI-2"]
        assert len((await client.get("/v1/matches?status=live&limit=1")).json()["matches"]) == 1
        assert (await client.get("/v1/matches?status=lost")).json()["field"] == "status"


@pytest.mark.parametrize("path", ["", "/document", "/log"])
async def test_an_unknown_match(path: str) -> None:
    async with client_of(None) as (_, client):
        response = await client.get(f"/v1/matches/NOWHERE{path}")
        assert (response.status_code, response.json()["code"]) == (404, "unknown_match")


async def test_unknown_routes_and_methods() -> None:
    async with client_of(None) as (_, client):
        missing = await client.get("/v2/anything")
        assert (missing.status_code, missing.json()["code"]) == (404, "unknown_route")
        wrong = await client.delete("/v1/matches")
        assert (wrong.status_code, wrong.json()["code"]) == (405, "wrong_method")
        assert "POST" in wrong.headers["allow"]
        assert (await client.get("/static/../http.py")).status_code == 404


async def test_a_body_that_is_too_large() -> None:
    async with client_of() as (_, client):
        response = await client.post(f"/v1/matches/{MATCH}/commands", content=b"x" * (BODY_LIMIT_BYTES + 1))
        assert (response.status_code, response.json()["code"]) == (413, "body_too_large")
        assert str(BODY_LIMIT_BYTES) in response.json()["sentence"]


async def test_status_tells_details_to_those_who_may_know() -> None:
    async with client_of(None) as (server, client):
        brief = (await client.get("/status")).json()
        assert brief["ready"] is True
        assert "edge" not in brief
        assert "matches" not in brief
        headers = {"authorization": f"Bearer {server.tokens['supervisor']}"}
        full = (await client.get("/status", headers=headers)).json()
        assert full["edge"]["connections"] >= 1
        assert "matches" in full
        page = await client.get("/status", headers={"accept": "text/html,*/*;q=0.8"})
        assert page.headers["content-type"].startswith("text/html")
        assert "Ready to take commands" in page.text


async def test_the_status_page_shows_an_alert_with_its_match_its_event_and_since_when() -> None:
    async with client_of("operator") as (server, client):
        alerts = server.service.alerts
        alerts.raise_alert("verification_failed", "a-v-b", "they <part>", event=52)
        alerts.raise_alert("worker_lost", "match c-v-d", "lost", "in step")
        alerts.raise_alert("worker_lost", "match c-v-d", "lost again")
        alerts.settle("verification_failed", "a-v-b")
        page = (await client.get("/status", headers={"accept": "text/html"})).text
        assert "<strong>verification failed</strong>, a-v-b, event 52" in page
        assert "they &lt;part&gt;" in page
        assert page.count("over <time") == 1
        assert "2 times" in page
        assert "<pre>in step</pre>" in page
        [lost, parted] = (await client.get("/status")).json()["alerts"]
        assert (parted["event"], lost["event"], lost["times"]) == (52, None, 2)
        assert parted["over_at"] > parted["since"]


async def test_health() -> None:
    async with client_of(None) as (server, client):
        live = await client.get("/health/live")
        assert (live.status_code, live.json()["live"]) == (200, True)
        assert (await client.get("/health/ready")).status_code == 200
        server.service.is_ready = False
        ready = await client.get("/health/ready")
        assert (ready.status_code, ready.json()["missing"]) == (503, ["database"])


async def test_metrics_never_name_a_match() -> None:
    async with client_of() as (server, client):
        socket = await server.connect()
        await socket.ask(ball(1))
        await client.post(f"/v1/matches/{OTHER}/commands", json=command(1))
        await client.get(f"/v1/matches/{CODE}")
        text = (await client.get("/metrics")).text
        assert 'scorebox_commands_total{outcome="accepted"} 2.0' in text
        assert "scorebox_sockets 1.0" in text
        for name in (MATCH, OTHER, CODE):
            assert name not in text


async def test_a_fault_of_ours_is_answered_without_its_details() -> None:
    async with client_of() as (server, client):

        async def handler(frame: CommandFrame, who: Identity) -> Answer:
            raise RuntimeError("the password is 1234")

        server.service.handler = handler
        response = await client.post(f"/v1/matches/{MATCH}/commands", json=command(1))
        assert (response.status_code, response.json()["code"]) == (500, "internal")
        assert "1234" not in response.text


async def test_pages_are_rendered_and_hold_no_markup_of_others() -> None:
    async with client_of(None) as (server, client):
        home = await client.get("/")
        assert home.status_code == 200
        assert f'href="/matches/{CODE}"' in home.text
        server.service.matches_by_ref[MATCH].score(CommandFrame("i", MATCH, "a.bc", {}, 0), "a")
        page = await client.get(f"/matches/{CODE}")
        assert page.status_code == 200
        assert "Ada &lt;b&gt;" in page.text
        assert page.text.count("aria-live") == 1
        assert page.text.count("<table>") == 2
        for response in (home, page):
            assert response.headers["content-security-policy"] == SECURITY_HEADERS["content-security-policy"]
            assert "style=" not in response.text
            assert "http://" not in response.text
            assert "https://" not in response.text
        script = await client.get("/static/live.js")
        assert script.status_code == 200
        assert "max-age=0" in script.headers["cache-control"]
        seen = {"if-none-match": script.headers["etag"]}
        assert (await client.get("/static/live.js", headers=seen)).status_code == 304
        assert (await client.get("/static/scorebox.css")).status_code == 200
        missing = await client.get("/matches/NOWHERE")
        assert missing.status_code == 404
        assert "No such match" in missing.text


ADDRESS = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30) | st.binary(
    max_size=12
).map(lambda data: "".join(f"%{byte:02x}" for byte in data))


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(addresses=st.lists(ADDRESS, min_size=8, max_size=16))
async def test_no_address_makes_a_fault(addresses: list[str]) -> None:
    async with serving() as server:
        for number, address in enumerate(addresses):
            prefix = ("/", "/v1/matches/", "/matches/", f"/v1/matches/{MATCH}/log?")[number % 4]
            raw = RawSocket(await server.dial())
            await raw.send(f"GET {prefix}{address} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert int((await raw.head()).split()[1]) < 500
            raw.stream.socket.close()


@pytest.mark.parametrize("code", ["NEW-7\n", MATCH, MATCH.upper(), MATCH.replace("-", ""), "a/b", ".."])
async def test_a_match_cannot_have_a_code_that_names_another_or_that_no_address_holds(code: str) -> None:
    async with client_of("operator") as (_, client):
        response = await client.post("/v1/matches", json=NEW | {"code": code})
        assert (response.status_code, response.json()["field"]) == (400, "code")


@pytest.mark.parametrize("path", [f"/v1/matches//{MATCH}", "/static//live.js", "/v1//matches"])
async def test_a_doubled_slash_is_no_address(path: str) -> None:
    async with client_of(None) as (server, client):
        response = await client.get(server.url + path)
        assert (response.status_code, response.json()["code"]) == (404, "unknown_route")


@pytest.mark.parametrize("path", ["", "/{0}", "/{0}/document", "/{0}/log"])
async def test_what_reads_the_database_can_be_asked_for_again_while_it_is_away(path: str) -> None:
    async with client_of(None) as (server, client):

        async def away(*_: object) -> None:
            raise DatabaseAway("no connection")

        for name in ("matches", "document", "log"):
            setattr(server.service, name, away)
        response = await client.get("/v1/matches" + path.format(MATCH))
        assert (response.status_code, response.json()["code"]) == (503, "try_again")
        assert response.headers["retry-after"] == "1"
        page = await client.get("/matches/" + MATCH if path else "/", headers={"accept": "text/html"})
        assert page.status_code == 503
        assert page.headers["content-type"].startswith("text/html")


async def test_a_matchs_name_is_one_line() -> None:
    async with client_of("operator") as (_, client):
        for name in ("A\nv B", "A v B\n", "A\tv B"):
            response = await client.post("/v1/matches", json=NEW | {"name": name})
            assert (response.status_code, response.json()["field"]) == (400, "name")


@pytest.mark.parametrize("depth", [100, 300, 500, 900, 2_000])
async def test_deep_nesting_is_taken_or_refused(depth: int) -> None:
    async with client_of("operator") as (_, client):
        deep = b'{"a":' * depth + b"1" + b"}" * depth
        given = msgspec.json.encode(command(1, input={})).replace(b'"input":{}', b'"input":' + deep)
        response = await client.post(f"/v1/matches/{MATCH}/commands", content=given)
        assert response.status_code in (200, 400)
        new = msgspec.json.encode(NEW).replace(b'"opening":{}', b'"opening":' + deep)
        assert (await client.post("/v1/matches", content=new)).status_code in (201, 400)
