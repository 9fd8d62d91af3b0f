"""HTTP over real sockets."""

import httpx

from tests.gateway.standin import MATCH, ball, serving


async def test_a_document_has_its_position_as_etag() -> None:
    async with serving() as server, httpx.AsyncClient(base_url=server.url) as client:
        response = await client.get(f"/v1/matches/{MATCH}/document")
        assert response.status_code == 200
        assert response.json()["document"]["head"]["code"] == "CRI-1"
        again = await client.get(
            f"/v1/matches/{MATCH}/document", headers={"if-none-match": response.headers["etag"]}
        )
        assert again.status_code == 304


async def test_a_command_is_accepted() -> None:
    async with serving() as server, httpx.AsyncClient(base_url=server.url) as client:
        body = {key: value for key, value in ball(1).items() if key not in ("op", "match")}
        headers = {"authorization": f"Bearer {server.tokens['scorer']}"}
        response = await client.post(f"/v1/matches/{MATCH}/commands", json=body, headers=headers)
        assert response.status_code == 200
        assert response.json()["outcome"] == "accepted"
