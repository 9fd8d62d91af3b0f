"""Rules that misbehave, and workers that are killed: the scorer hears of it, and play goes on."""

from typing import Any

import pytest
import trio

from tests.acceptance.server import Desk, ServerProcess

OPENING = {
    "sides": [{"key": "reds", "name": "Reds"}, {"key": "blues", "name": "Blues"}],
    "first_day": "2026-11-30",
}
KILLED = [
    "loop",
    "loop_in_c",
    "eat_memory",
    "garbage",
    "exit",
    "kill",
    "hang_up",
    "long_header",
    "huge_reply",
]
"""Misdeeds that cost the worker its life."""


async def rogue_match(desk: Desk) -> str:
    match: str = (await desk.create("rogue", opening=OPENING))["match"]
    return match


async def add(desk: Desk, match: str, saw: int) -> dict[str, Any]:
    """An honest command that must be accepted, over any "try again"."""
    answers = await desk.send_until_answered(match, "rogue.add", {"amount": 1}, saw)
    assert answers[-1]["outcome"] == "accepted", answers
    return answers[-1]


@pytest.mark.parametrize("misdeed", KILLED)
async def test_a_rule_that_kills_its_worker(shared_server: ServerProcess, misdeed: str) -> None:
    """The scorer hears "try again" or a sentence, the next command is accepted, nothing is doubled."""
    async with Desk(shared_server) as desk:
        match = await rogue_match(desk)
        before = await add(desk, match, 1)
        answer = await desk.send(match, "rogue.misbehave", {"misdeed": misdeed, "amount": 1}, before["seq"])
        assert answer["outcome"] == "try_again" or answer["code"] in ("rule_failed", "invalid_input"), answer
        after = await add(desk, match, before["seq"])
        assert after["seq"] == before["seq"] + 1
        assert [row["code"] for row in await desk.log(match)] == ["match.open", "rogue.add", "rogue.add"]


async def test_a_command_that_loops_again_and_again_is_parked_and_play_goes_on(
    shared_server: ServerProcess,
) -> None:
    async with Desk(shared_server) as desk:
        match = await rogue_match(desk)
        given = {"misdeed": "loop", "amount": 0}
        answers = await desk.send_until_answered(match, "rogue.misbehave", given, 1)
        assert [answer["outcome"] for answer in answers[:-1]] == ["try_again"] * 2
        assert (answers[-1]["outcome"], answers[-1]["code"]) == ("refused", "rule_stuck")
        assert (await add(desk, match, 1))["seq"] == 2
        stacks = [
            alert["stack"] for alert in (await desk.status())["alerts"] if alert["kind"] == "worker_lost"
        ]
        assert any(stack and "loop" in stack for stack in stacks)


@pytest.mark.parametrize("misdeed", ["exit", "kill", "hang_up"])
async def test_a_command_whose_rule_ends_its_worker_every_time_is_parked_at_last(
    shared_server: ServerProcess, misdeed: str
) -> None:
    async with Desk(shared_server) as desk:
        match = await rogue_match(desk)
        given = {"misdeed": misdeed, "amount": 3}
        answers = await desk.send_until_answered(match, "rogue.misbehave", given, 1)
        assert answers[-1]["outcome"] == "refused", answers
        assert (await add(desk, match, 1))["seq"] == 2


async def test_a_correction_that_loses_its_worker_is_tried_again_then_parked(
    shared_server: ServerProcess,
) -> None:
    async with Desk(shared_server) as desk:
        match = await rogue_match(desk)
        await add(desk, match, 1)
        missed = {
            "after": 1,
            "code": "rogue.misbehave",
            "input": {"misdeed": "loop", "amount": 0},
            "reason": "a missed event",
        }
        answers = await desk.send_until_answered(match, "match.insert", missed, 2)
        assert [(answer["outcome"], answer["reason"]) for answer in answers[:-1]] == [
            ("try_again", "worker_lost")
        ] * 2
        assert (answers[-1]["outcome"], answers[-1]["code"]) == ("refused", "rule_stuck")
        assert (await add(desk, match, 2))["seq"] == 3


async def test_kill_9_of_a_worker_in_the_middle_of_a_step(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        match = await rogue_match(desk)
        await add(desk, match, 1)
        answers: list[dict[str, Any]] = []

        async def slow() -> None:
            given = {"misdeed": "sleep", "amount": 100}
            answers.extend(await desk.send_until_answered(match, "rogue.misbehave", given, 2))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(slow)
            killed = False
            with trio.fail_after(20):
                while not killed:
                    pools = [pool for pool in (await desk.status())["pools"] if pool["sport"] == "rogue"]
                    busy = [
                        worker for pool in pools for worker in pool["workers"] if worker["state"] == "busy"
                    ]
                    for process in shared_server.workers():
                        if busy and process.pid == busy[0]["pid"]:
                            process.kill()
                            killed = True
                    if answers:
                        break
        assert answers[-1]["outcome"] == "accepted"
        if killed:
            assert answers[0] == answers[0] | {"outcome": "try_again", "reason": "worker_lost"}
        assert [row["code"] for row in await desk.log(match)].count("rogue.misbehave") == 1


async def test_matches_of_another_sport_do_not_notice(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        rogue = await rogue_match(desk)
        cricket = (await desk.create())["match"]
        accepted: list[int] = []

        async def misbehave() -> None:
            for misdeed in ("loop", "eat_memory", "kill"):
                await desk.send(rogue, "rogue.misbehave", {"misdeed": misdeed, "amount": 0}, 1)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(misbehave)
            answer = (await desk.send_until_answered(cricket, "cricket.innings", {"batting": "A"}, 1))[-1]
            for _ in range(20):
                ball = {"striker": "A1", "non_striker": "A2", "bowler": "B11"}
                answer = (await desk.send_until_answered(cricket, "cricket.delivery", ball, answer["seq"]))[
                    -1
                ]
                accepted.append(answer["seq"])
        assert accepted == list(range(3, 23))
