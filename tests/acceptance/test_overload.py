"""More commands than a server takes on: each is accepted in the end, in order, and none twice."""

import trio

from tests.acceptance.server import Desk, server_process

BALLS = 40
AT_ONCE = 20


async def test_a_feed_that_is_too_fast_is_slowed_and_loses_nothing() -> None:
    with server_process(commands_per_account="10") as server:
        async with Desk(server) as desk:
            match = (await desk.create())["match"]
            await desk.send(match, "cricket.innings", {"batting": "A"}, 1)
            reasons = []
            for seq in range(2, BALLS + 2):
                delivery = {"striker": "A1", "non_striker": "A2", "bowler": "B1"}
                answers = await desk.send_until_answered(match, "cricket.delivery", delivery, seq)
                reasons += [answer["reason"] for answer in answers[:-1]]
                assert (answers[-1]["outcome"], answers[-1]["seq"]) == ("accepted", seq + 1)
            assert set(reasons) == {"too_fast"}
            assert [row["seq"] for row in await desk.log(match)] == list(range(1, BALLS + 3))
            assert (await desk.status())["matches"]["turned_away"] == {"too_fast": len(reasons)}


async def test_more_than_fits_in_flight_is_turned_away_and_comes_through_in_the_end() -> None:
    with server_process(commands_in_flight="8", commands_per_account="0") as server:
        async with Desk(server) as desk, trio.open_nursery() as nursery:
            reasons: list[str] = []

            async def score(match: str) -> None:
                answers = await desk.send_until_answered(match, "cricket.innings", {"batting": "A"}, 1)
                reasons.extend(answer["reason"] for answer in answers[:-1])
                assert answers[-1]["seq"] == 2

            made = [(await desk.create())["match"] for _ in range(AT_ONCE)]
            for match in made:
                nursery.start_soon(score, match)
        assert set(reasons) <= {"overloaded", "too_fast"}
