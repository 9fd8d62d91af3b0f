"""Readiness: while the database is not up, when it is, while it is away, and during a drain."""

import time
from typing import Any

import httpx
import psutil

from tests.acceptance.server import START_LIMIT_S, ServerProcess, server_process
from tests.acceptance.test_stops import launched


def ask(server: ServerProcess, path: str) -> tuple[int, Any]:
    """Status and body; 0 while nobody listens."""
    try:
        answer = httpx.get(f"{server.url}{path}", timeout=5, trust_env=False)
    except httpx.TransportError:
        return 0, None
    return answer.status_code, answer.json()


def wait_for(server: ServerProcess, status: int) -> list[str]:
    """What is missing once readiness has this status."""
    until = time.monotonic() + START_LIMIT_S
    while True:
        found, body = ask(server, "/health/ready")
        if found == status:
            missing: list[str] = body["missing"]
            return missing
        assert time.monotonic() < until, (found, body)
        time.sleep(0.02)


def test_a_server_whose_database_is_not_up_yet_is_alive_and_says_why_it_is_not_ready() -> None:
    with launched() as server:
        # The very first start makes the cluster: long enough to be asked meanwhile.
        assert wait_for(server, 503) == ["starting: the database is waited for"]
        assert ask(server, "/health/live")[0] == 200
        assert ask(server, "/v1/matches")[1]["code"] == "starting"
        assert wait_for(server, 200) == []
        assert ask(server, "/health/live")[0] == 200


def test_a_server_whose_database_went_away_is_alive_and_not_ready() -> None:
    with server_process() as server:
        [pid] = server.postgres()
        postmaster = psutil.Process(pid)
        hanging = [postmaster, *postmaster.children()]
        for each in hanging:
            each.suspend()
        try:
            assert "the database is away" in wait_for(server, 503)
            assert ask(server, "/health/live")[0] == 200
        finally:
            for each in hanging:
                each.resume()
        assert wait_for(server, 200) == []
