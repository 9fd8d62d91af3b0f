"""More than is taken: each is told so, costs little, and nobody else notices. Over real sockets."""

import socket

import httpx
import trio
import trio.testing

from gateway.addresses import AddressLimits
from gateway.auth import Identity
from gateway.edge import EdgeSettings
from gateway.protocol import Accepted, Answer, CommandFrame, TryAgain
from tests.gateway.standin import DEADLINE_S, MATCH, OTHER, ball, serving

WAIT_MS = 200


def dial_from(address: str, port: int) -> socket.socket:
    """A connection from one of the addresses of this machine."""
    made = socket.socket()
    made.settimeout(DEADLINE_S)
    made.bind((address, 0))
    made.connect(("127.0.0.1", port))
    return made


async def test_an_address_with_too_many_connections_is_told_so_and_others_are_served() -> None:
    limits = AddressLimits(connections=2, proxies=())
    async with serving(EdgeSettings(port=0, addresses=limits)) as server:

        def crowd() -> tuple[bytes, bytes]:
            held = [dial_from("127.0.0.2", server.port) for _ in range(2)]
            with dial_from("127.0.0.2", server.port) as third, dial_from("127.0.0.3", server.port) as other:
                refused = third.recv(1_024)
                other.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
                served = other.recv(1_024)
            for each in held:
                each.close()
            return refused, served

        refused, served = await trio.to_thread.run_sync(crowd)
        assert refused.startswith(b"HTTP/1.1 429 ")
        assert b'"code": "too_many_from_address"' in refused
        assert served.startswith(b"HTTP/1.1 200 ")
        with trio.fail_after(DEADLINE_S):
            while server.edge.statistics()["addresses"]:
                await trio.testing.wait_all_tasks_blocked(0.001)
        refused_again, served_again = await trio.to_thread.run_sync(crowd)
        assert refused_again == refused
        assert served_again.startswith(b"HTTP/1.1 200 "), "room is found again"


async def test_requests_past_the_limit_are_refused_and_health_is_still_told() -> None:
    async with serving(EdgeSettings(port=0, requests_limit=1)) as server:
        begun, over = trio.Event(), trio.Event()

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            begun.set()
            await over.wait()
            return Accepted(command.id, command.match, 1, 1, "")

        server.service.handler = handler
        headers = {"authorization": f"Bearer {server.tokens['scorer']}"}
        body = {key: value for key, value in ball(1).items() if key not in ("op", "match")}
        async with (
            httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as client,
            trio.open_nursery() as nursery,
        ):
            answers: list[httpx.Response] = []

            async def score() -> None:
                answers.append(await client.post(f"/v1/matches/{MATCH}/commands", json=body))

            nursery.start_soon(score)
            await begun.wait()
            refused = await client.get("/v1/matches")
            assert (refused.status_code, refused.json()["code"]) == (503, "busy")
            assert refused.headers["retry-after"] == "1"
            assert (await client.get("/health/live")).status_code == 200
            over.set()
        assert answers[0].status_code == 200
        async with httpx.AsyncClient(base_url=server.url, headers=headers, trust_env=False) as client:
            assert (await client.get("/v1/matches")).status_code == 200


async def test_who_was_turned_away_is_not_read_before_the_time_he_was_told() -> None:
    """A client that asks again at once, or never stops, costs nothing until then."""
    async with serving() as server:
        heard: list[float] = []

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            heard.append(trio.current_time())
            if len(heard) == 1:
                return TryAgain(command.id, command.match, "overloaded", WAIT_MS)
            return Accepted(command.id, command.match, 1, 1, "")

        server.service.handler = handler
        client = await server.connect()
        assert (await client.ask(ball(1)))["after_ms"] == WAIT_MS
        for number in (1, 2, 3):
            await client.send(ball(number, OTHER if number == 3 else MATCH))
        for _ in range(3):
            assert (await client.receive())["outcome"] == "accepted"
        assert min(heard[1:]) - heard[0] >= WAIT_MS / 1_000
        assert await client.ask({"op": "ping", "n": 1}) == {"op": "pong", "n": 1}


async def test_who_leaves_while_he_is_not_read_is_gone() -> None:
    async with serving() as server:

        async def handler(command: CommandFrame, who: Identity) -> Answer:
            return TryAgain(command.id, command.match, "too_fast", WAIT_MS)

        server.service.handler = handler
        client = await server.connect()
        await client.ask(ball(1))
        await client.connection.aclose()
        with trio.fail_after(DEADLINE_S):
            while server.edge.statistics()["connections"]:
                await trio.sleep(0.005)
