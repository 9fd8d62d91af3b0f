"""Lines about commands: their names, and how many there may be."""

from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from gateway.journal import LINES_PER_S, AtWork, Journal, name_command
from gateway.protocol import Accepted, CommandFrame, Denied

FRAME = CommandFrame("0190b3f4-0000-7000-8000-000000000001", "final", "cricket.ball", {}, 1)
DENIED = Denied(FRAME.id, "final", "unauthenticated", "send a token first")


pytestmark = pytest.mark.usefixtures("all_levels")


def named() -> dict[str, Any]:
    return dict(name_command(None, "info", {"event": "x"}))


def test_lines_name_the_command_only_while_it_is_worked_on() -> None:
    assert named() == {"event": "x"}
    with AtWork(FRAME, "id", "anna"):
        assert named() == {
            "event": "x",
            "command": FRAME.id,
            "match": "id",
            "code": "cricket.ball",
            "account": "anna",
        }
        own = dict(name_command(None, "info", {"event": "x", "code": "mine"}))
        assert own["code"] == "mine"
    assert named() == {"event": "x"}


async def test_a_task_that_outlives_the_command_it_was_started_for_does_not_go_on_naming_it() -> None:
    over = trio.Event()
    seen: list[dict[str, Any]] = []

    async def task() -> None:
        seen.append(named())
        await over.wait()
        seen.append(named())

    async with trio.open_nursery() as nursery:
        with AtWork(FRAME, "id", "anna"):
            nursery.start_soon(task)
            await trio.testing.wait_all_tasks_blocked()
        over.set()
    assert [line.get("command") for line in seen] == [FRAME.id, None]


async def test_a_flood_of_denied_commands_does_not_flood_the_log(
    autojump_clock: trio.testing.MockClock,
) -> None:
    journal = Journal()
    with capture_logs() as lines:
        for _ in range(10 * LINES_PER_S):
            journal.told(FRAME, None, DENIED, 0.0)
        assert len(lines) == LINES_PER_S
        await trio.sleep(1.5)
        journal.told(FRAME, None, DENIED, 0.0)
    assert lines[-1]["lines_left_out"] == 9 * LINES_PER_S


async def test_what_a_client_sent_stands_on_one_line_and_is_cut() -> None:
    frame = CommandFrame(FRAME.id, "a\nb" * 1000, "cricket.ball", {}, 1)
    with capture_logs() as lines:
        Journal().told(frame, None, Denied(FRAME.id, "", "forbidden", "no"), 0.0)
    assert "\n" not in lines[0]["match"]
    assert len(lines[0]["match"]) < 200


async def test_accepted_is_for_debugging_unless_it_took_long() -> None:
    answer = Accepted(FRAME.id, "final", 2, 1, "00")
    with capture_logs() as lines:
        Journal().told(FRAME, "anna", answer, 0.01)
        Journal().told(FRAME, "anna", answer, 5.0)
    assert [(line["log_level"], line.get("slow")) for line in lines] == [("debug", None), ("warning", True)]
