"""A new version of a sport is installed while a match runs on the old one."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from tests.acceptance.server import Desk, ServerProcess, server_process
from tests.sportcopies import cricket_copy

BALL = {"striker": "A1", "non_striker": "A2", "bowler": "B11"}
PATIENCE_S = 30.0
LOOK_AGAIN_S = 0.05
OFFICIALS = {"umpires": ["Erasmus", "Dharmasena"]}


async def emitted(desk: Desk, match: str, saw: int) -> tuple[list[str], int]:
    """What naming the officials emits: the two versions differ in it."""
    answer = await desk.send(match, "cricket.officials", OFFICIALS, saw)
    assert answer["outcome"] == "accepted", answer
    return answer["emits"], answer["seq"]


def install(server: ServerProcess, folder: Path) -> list[str]:
    """`scorebox sport build` and `install --server`, as their user types them; the printed steps."""
    wheel = server.run("sport", "build", str(folder)).stdout.strip()
    printed = server.run("sport", "install", wheel, "--server", server.url, "--token", server.token).stdout
    return [line.split()[0] for line in printed.splitlines()]


async def test_a_match_ends_on_the_code_it_began_with_and_a_new_one_starts_on_the_new(tmp_path: Path) -> None:
    with server_process() as server:
        async with Desk(server) as desk:
            old = (await desk.create())["match"]
            emits, saw = await emitted(desk, old, 1)
            assert emits == ["officials"]
            saw = (await desk.send(old, "cricket.innings", {"batting": "A"}, saw))["seq"]
            saw = (await desk.send(old, "cricket.delivery", BALL | {"bat": 4}, saw))["seq"]

            folder = cricket_copy(tmp_path, "1.0.1", officials="umpires", golden=2)
            assert install(server, folder) == ["read", "started", "golden", "golden", "installed"]

            emits, saw = await emitted(desk, old, saw)
            assert emits == ["officials"], "the running match keeps its rules"
            new = (await desk.create())["match"]
            assert (await emitted(desk, new, 1))[0] == ["umpires"]

            headers = {"Authorization": f"Bearer {server.token}"}
            rows = httpx.get(f"{server.url}/v1/sports", headers=headers, trust_env=False).json()["versions"]
            shown = [
                (row["version"], row["current"], row["unfinished"])
                for row in rows
                if row["sport"] == "cricket"
            ]
            assert shown == [
                ("1.0.0", False, 1),
                ("1.0.1", True, 1),
            ]
            answer = await desk.send(old, "cricket.result", {"kind": "abandoned"}, saw)
            assert answer["outcome"] == "accepted", answer
            saw = answer["seq"]
        server.stop()
        server.start()
        async with Desk(server) as desk:
            assert (await emitted(desk, old, saw))[0] == ["officials"], "also after a restart"
            newest = (await desk.create())["match"]
            assert (await emitted(desk, newest, 1))[0] == ["umpires"]


async def test_a_match_whose_code_is_missing_waits_for_it(tmp_path: Path) -> None:
    with server_process() as server:
        folder = cricket_copy(tmp_path, "1.0.1", officials="umpires")
        install(server, folder)
        async with Desk(server) as desk:
            match = (await desk.create())["match"]
            assert (await emitted(desk, match, 1))[0] == ["umpires"]
        server.stop()
        gone = server.data / "sports" / "cricket" / "1.0.1"
        for path in [gone, *gone.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(gone)
        server.start()
        async with Desk(server) as desk:
            other = (await desk.create())["match"]
            assert (await emitted(desk, other, 1))[0] == ["officials"], "other matches go on"
            answer = await desk.send(match, "cricket.officials", OFFICIALS, 2)
            assert (answer["outcome"], answer["reason"]) == ("try_again", "code_missing")
            assert (await desk.document(match))["seq"] == 2, "it is still read"
            alerts = [each for each in (await desk.status())["alerts"] if each["kind"] == "code_missing"]
            assert alerts
            assert "install" in alerts[0]["sentence"]
            listed = server.run("sport", "list", "--server", server.url, "--token", server.token).stdout
            assert any("1.0.1" in line and "MISSING" in line for line in listed.splitlines()), listed
            install(server, folder)
            answers = await desk.send_until_answered(match, "cricket.officials", OFFICIALS, 2)
            assert answers[-1]["emits"] == ["umpires"]
            with trio.fail_after(PATIENCE_S):
                while not over("not_verified", await desk.status()):
                    await trio.sleep(LOOK_AGAIN_S)


def over(kind: str, status: dict[str, Any]) -> bool:
    """Whether all alerts of a kind are over, and there is one."""
    alerts = [alert for alert in status["alerts"] if alert["kind"] == kind]
    assert alerts
    return all(alert["over_at"] for alert in alerts)


def upload_and_kill(server: ServerProcess, wheel: bytes) -> None:
    """Uploads a wheel, and kills the server once it says that the trial has begun."""
    headers = {"Authorization": f"Bearer {server.token}"}
    url = f"{server.url}/v1/sports"
    with httpx.stream("POST", url, content=wheel, headers=headers, trust_env=False) as response:
        for line in response.iter_lines():
            if '"started"' in line:
                server.kill()


def test_kill_9_in_the_middle_of_an_install_leaves_nothing_half_installed(tmp_path: Path) -> None:
    with server_process() as server:
        folder = cricket_copy(tmp_path, "1.0.1", officials="umpires", golden=10)
        wheel = Path(server.run("sport", "build", str(folder)).stdout.strip()).read_bytes()
        sports = server.data / "sports"
        with pytest.raises(httpx.TransportError):
            upload_and_kill(server, wheel)
        assert list(sports.glob(".incoming-*")), "it was in the middle"
        assert not (sports / "cricket" / "1.0.1").exists()
        server.start()
        assert not list(sports.glob(".incoming-*"))
        assert not (sports / "cricket" / "1.0.1").exists()
        assert install(server, folder)[-1] == "installed"
