"""The log of a running server: every line about a command names it."""

import json
from typing import Any
from uuid import uuid4

import psutil

from tests.acceptance.server import Desk, ServerProcess, server_process
from tests.runtime.rogue_calls import OPENING

NAMES = ("command", "match", "code", "account")


def lines(server: ServerProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]


def about(server: ServerProcess, command: str) -> list[dict[str, Any]]:
    """Every line on a command; each carries all of its names."""
    found = [line for line in lines(server) if line.get("command") == command]
    for line in found:
        assert all(name in line for name in NAMES), line
    return found


async def test_whatever_became_of_a_command_is_in_the_log_under_its_id() -> None:
    with server_process(rogue=True, log_format="json", log_level="debug") as server:
        async with Desk(server) as desk:
            match = (await desk.create("rogue", opening=OPENING))["match"]
            ids = {
                name: str(uuid4())
                for name in ("accepted", "refused", "conflict", "lost", "unknown", "failed")
            }
            await desk.send(match, "rogue.add", {"amount": 1}, 1, id=ids["accepted"])
            await desk.send(match, "rogue.nonsense", {}, 2, id=ids["refused"])
            await desk.send(match, "rogue.add", {"amount": 1}, 1, id=ids["conflict"])
            await desk.send(match, "rogue.misbehave", {"misdeed": "loop", "amount": 1}, 2, id=ids["lost"])
            await desk.send("nowhere%0Afake", "rogue.add", {"amount": 1}, 2, id=ids["unknown"])
            await desk.send(match, "rogue.misbehave", {"misdeed": "raise", "amount": 1}, 2, id=ids["failed"])
        server.stop()
        ends = {
            name: next(line for line in about(server, id) if line["event"] == "command")
            for name, id in ids.items()
        }
        assert {name: (end["outcome"], end["level"]) for name, end in ends.items()} == {
            "accepted": ("accepted", "debug"),
            "refused": ("refused", "info"),
            "conflict": ("conflict", "info"),
            "lost": ("try_again", "warning"),
            "unknown": ("refused", "info"),
            "failed": ("refused", "info"),
        }
        assert ends["accepted"]["seq"] == 2
        assert ends["lost"]["why"] == "worker_lost"
        # Who lost the worker, and what ops are told, is known by the same id.
        assert {"worker_lost", "alert"} <= {line["event"] for line in about(server, ids["lost"])}
        assert "alert" in {line["event"] for line in about(server, ids["failed"])}
        for name in set(ids) - {"unknown"}:
            assert {line["match"] for line in about(server, ids[name])} == {match}, name
            assert {line["account"] for line in about(server, ids[name])} == {"local"} or ends[name][
                "account"
            ]
        # Lines of no command carry no names of one.
        assert not any(
            line.get("command") for line in lines(server) if line["event"] in ("serving", "draining")
        )


async def test_a_command_whose_commit_was_lost_is_named_and_so_is_what_became_of_it() -> None:
    with server_process(rogue=True, log_format="json") as server:
        async with Desk(server) as desk:
            match = (await desk.create("rogue", opening=OPENING))["match"]
            await desk.send(match, "rogue.add", {"amount": 1}, 1)
            [postmaster] = server.postgres()
            hanging = [psutil.Process(postmaster), *psutil.Process(postmaster).children()]
            for each in hanging:
                each.suspend()
            id = str(uuid4())
            try:
                # Longer than a commit is waited for.
                answer = await desk.send(match, "rogue.add", {"amount": 1}, 2, id=id)
            finally:
                for each in hanging:
                    each.resume()
            assert answer["outcome"] == "try_again"
        server.stop()
        [lost] = [line for line in lines(server) if line["event"] == "commit_answer_lost"]
        assert [(each["command"], each["match"], each["code"]) for each in lost["commands"]] == [
            (id, match, "rogue.add")
        ]
        found = about(server, id)
        assert {"commit_in_doubt", "command"} <= {line["event"] for line in found} or any(
            line["event"] == "commit_looked_up" for line in found
        )
        assert any(line.get("slow") for line in found)
