"""The same protocol under TLS, where frames take the ordinary path."""

import ssl
import subprocess
from pathlib import Path

import httpx
import msgspec
import pytest
import trio
from trio_websocket import ConnectionClosed, wrap_client_stream

from gateway.edge import EdgeSettings
from gateway.listening import listen, stop_listening, tls_context
from gateway.waiting_room import WaitingRoom
from tests.gateway.standin import DEADLINE_S, MATCH, ball, serving


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, made for this run."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run(
            [*command, "-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
            timeout=60,
        )
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        pytest.skip(f"openssl cannot make a certificate here: {error}")
    return certificate, key


async def test_sockets_and_http_under_tls(certificate: tuple[Path, Path]) -> None:
    settings = EdgeSettings(port=0, certificate=certificate[0], key=certificate[1])
    context = ssl.create_default_context(cafile=str(certificate[0]))
    async with serving(settings) as server:
        async with httpx.AsyncClient(base_url=f"https://127.0.0.1:{server.port}", verify=context) as client:
            for _ in range(2):
                assert (await client.get("/health/ready")).status_code == 200
        headers = [(b"authorization", f"Bearer {server.tokens['scorer']}".encode())]
        stream = trio.SSLStream(
            await server.dial(), context, server_hostname="127.0.0.1", https_compatible=True
        )
        with trio.fail_after(DEADLINE_S):
            socket = await wrap_client_stream(
                server.nursery, stream, "127.0.0.1", "/v1/socket", extra_headers=headers
            )
            watch = {"op": "watch", "match": MATCH, "audience": "scorer"}
            await socket.send_message(msgspec.json.encode(watch).decode())
            assert msgspec.json.decode(await socket.get_message())["op"] == "document"
            for number in range(1, 20):
                await socket.send_message(msgspec.json.encode(ball(number)).decode())
                ops = {msgspec.json.decode(await socket.get_message())["op"] for _ in range(2)}
                assert ops == {"answer", "event"}
            await socket.send_message(msgspec.json.encode({"op": "auth", "token": "nobody"}).decode())
            with pytest.raises(ConnectionClosed) as caught:
                await socket.get_message()
            assert caught.value.reason is not None
            assert caught.value.reason.code == 4401


async def test_what_is_no_tls_is_closed(certificate: tuple[Path, Path]) -> None:
    settings = EdgeSettings(port=0, certificate=certificate[0], key=certificate[1])
    async with serving(settings) as server:
        stream = await server.dial()
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.fail_after(DEADLINE_S):
            while await stream.receive_some():
                pass
            while server.edge.statistics()["connections"]:
                await trio.sleep(0.001)


async def test_a_starting_server_answers_under_tls(certificate: tuple[Path, Path]) -> None:
    listeners = await listen("127.0.0.1", 0)
    room = WaitingRoom(listeners, tls_context(*certificate))
    context = ssl.create_default_context(cafile=str(certificate[0]))
    url = f"https://127.0.0.1:{listeners[0].getsockname()[1]}"
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(room.run)
            async with httpx.AsyncClient(base_url=url, verify=context) as client:
                with trio.fail_after(DEADLINE_S):
                    assert (await client.get("/health/live")).status_code == 200
                    assert (await client.get("/health/ready")).status_code == 503
            plain = await trio.open_tcp_stream("127.0.0.1", listeners[0].getsockname()[1])
            await plain.send_all(b"GET / HTTP/1.1\r\n\r\n")
            assert await room.hand_over() is listeners
            await plain.aclose()
    finally:
        stop_listening(listeners)
