"""A sport that tries what it must not, on a whole server: the scorer and the people who watch are told."""

import pytest

from tests.acceptance.server import Desk, ServerProcess
from tests.acceptance.test_workers import add, rogue_match
from tests.guardlevel import achievable


@pytest.mark.parametrize(
    ("misdeed", "deed"),
    [
        ("connect", "open a connection"),
        ("fork", "start a process"),
        ("write_file", "write a file"),
        ("time", "ask for the time"),
        ("environment_of_the_server", "read a file"),
    ],
)
async def test_an_attempt_is_answered_and_told_and_the_match_goes_on(
    shared_server: ServerProcess, misdeed: str, deed: str
) -> None:
    async with Desk(shared_server) as desk:
        match = await rogue_match(desk)
        before = await add(desk, match, 1)
        answers = await desk.send_until_answered(
            match, "rogue.misbehave", {"misdeed": misdeed}, before["seq"]
        )
        answer = answers[-1]
        assert (answer["outcome"], answer["code"]) == ("refused", "rule_forbidden"), answers
        assert answer["sentence"] == (
            f"the rules of rogue 1.0.0 tried to {deed}; nothing was saved and an alert was raised"
        )
        assert "Traceback" not in str(answer)
        assert ".py" not in str(answer)
        alerts = [each for each in (await desk.status())["alerts"] if each["kind"] == "rule_forbidden"]
        assert any(
            f"tried to {deed}" in each["sentence"]
            and "scorebox_rogue/forbidden.py:" in each["sentence"]
            and f"in {misdeed}" in each["stack"]
            for each in alerts
        ), alerts
        assert (await add(desk, match, before["seq"]))["seq"] == before["seq"] + 1


async def test_the_level_of_every_worker_is_shown(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        await add(desk, await rogue_match(desk), 1)
        workers = [worker for pool in (await desk.status())["pools"] for worker in pool["workers"]]
        assert workers
        assert {worker["guard"] for worker in workers} == {achievable()}
        assert all((worker["guard"] == "full") == (worker["guard_lacks"] == "") for worker in workers)
        shown = shared_server.run("status", "--server", shared_server.url, "--token", shared_server.token)
        assert f" {achievable()} " in shown.stdout
