"""Two tablets, ids sent again, old `saw`: the road as a client meets it."""

from itertools import islice
from uuid import uuid4

from bench.play import taps
from tests.acceptance.server import Desk, ServerProcess, server_process


async def play(desk: Desk, match: str, saw: int, count: int) -> int:
    for code, given in islice(taps(1), count):
        answer = await desk.send(match, code, given, saw)
        assert answer["outcome"] == "accepted", answer
        saw = answer["seq"]
    return saw


BALL = {"striker": "A1", "non_striker": "A2", "bowler": "B11"}


async def test_two_tablets_with_the_same_saw(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        match = (await desk.create())["match"]
        saw = await play(desk, match, 1, 1)
        first = await desk.send(match, "cricket.delivery", BALL | {"bat": 1}, saw, device="left")
        second = await desk.send(match, "cricket.delivery", BALL | {"bat": 4}, saw, device="right")
        assert first["outcome"] == "accepted"
        assert second["outcome"] == "conflict"
        assert not second["resync"]
        assert [
            (event["seq"], event["input"]["bat"], event["source"]["device"]) for event in second["missed"]
        ] == [(saw + 1, 1, "left")]
        assert len(await desk.log(match)) == saw + 1


async def test_the_same_id_ten_times_is_one_row_and_ten_equal_answers() -> None:
    with server_process() as server:
        async with Desk(server) as desk:
            match = (await desk.create())["match"]
            saw = await play(desk, match, 1, 1)
            id = str(uuid4())
            answers = [
                await desk.send(match, "cricket.delivery", BALL | {"bat": 4}, saw, id=id) for _ in range(5)
            ]
            # Play goes on, so `saw` of the command sent again has grown old.
            after = await desk.send(match, "cricket.delivery", BALL | {"bat": 1}, answers[0]["seq"])
            assert after["outcome"] == "accepted"
        server.kill()
        server.start()
        async with Desk(server) as desk:
            answers += [
                await desk.send(match, "cricket.delivery", BALL | {"bat": 4}, saw, id=id) for _ in range(5)
            ]
            assert [answer.pop("duplicate") for answer in answers] == [False] + [True] * 9
            assert all(answer == answers[0] for answer in answers)
            assert answers[0]["emits"] == ["four"]
            assert [row.get("id") for row in await desk.log(match)].count(id) == 1
            other = await desk.send(match, "cricket.delivery", BALL | {"bat": 6}, saw, id=id)
            assert (other["outcome"], other["code"]) == ("refused", "id_reused")


async def test_a_refused_command_with_a_known_id_after_a_restart_gets_its_first_answer() -> None:
    """After a restart a command sent again must hear neither "conflict" nor a refusal of today's state."""
    with server_process() as server:
        async with Desk(server) as desk:
            match = (await desk.create())["match"]
            id = str(uuid4())
            first = await desk.send(match, "cricket.innings", {"batting": "A"}, 1, id=id)
            assert first["outcome"] == "accepted"
        server.stop()
        server.start()
        async with Desk(server) as desk:
            # A second innings on top would be refused by the rules; this one is known.
            again = await desk.send(match, "cricket.innings", {"batting": "A"}, first["seq"], id=id)
            assert again == first | {"duplicate": True}


async def test_a_refusal_names_the_field_and_changes_nothing(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        match = (await desk.create())["match"]
        saw = await play(desk, match, 1, 1)
        for given, field in (
            (BALL | {"bat": -1}, "bat"),
            (BALL | {"bat": "four"}, "bat"),
            (BALL | {"sixes": 1}, "sixes"),
            ({"striker": "A1"}, "bowler"),
            (BALL | {"wickets": [{"kind": "eaten", "out": "A1"}]}, "wickets[0].kind"),
            (BALL | {"striker": "Z9"}, "striker"),
        ):
            answer = await desk.send(match, "cricket.delivery", given, saw)
            assert answer["outcome"] == "refused", given
            assert field in (answer["field"] or "") + answer["sentence"], answer
            assert len(answer["sentence"].split()) >= 3
        assert len(await desk.log(match)) == saw


async def test_unknown_matches_commands_and_roles_are_answered(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        match = (await desk.create())["match"]
        unknown = await desk.send("no-such-match", "cricket.over", {}, 1)
        assert (unknown["outcome"], unknown["code"]) == ("refused", "unknown_match")
        other = await desk.send(match, "football.goal", {}, 1)
        assert (other["outcome"], other["code"]) == ("refused", "unknown_command")
    token = shared_server.token
    shared_server.token = shared_server.run("token", "create", "--role", "viewer").stdout.strip()
    try:
        async with Desk(shared_server) as viewer:
            denied = await viewer.send(match, "cricket.innings", {"batting": "A"}, 1)
            assert (denied["outcome"], denied["reason"]) == ("denied", "forbidden")
    finally:
        shared_server.token = token


async def test_creating_a_match_is_idempotent_by_its_outside_id(shared_server: ServerProcess) -> None:
    async with Desk(shared_server) as desk:
        outside = {"source": "league", "id": str(uuid4())}
        first = await desk.create(external=outside)
        again = await desk.create(external=outside)
        assert (first["created"], again["created"]) == (True, False)
        assert first["match"] == again["match"]
