"""Playing on in matches that are there already, in part or otherwise."""

import json
import secrets
from collections.abc import AsyncIterator

import pytest

from config.client import Client, open_client
from config.errors import PlayStopped, TokenRefused, Unexpected
from config.playing import play
from gateway.protocol import (
    Accepted,
    Conflict,
    Created,
    CreateMatch,
    DocumentFrame,
    OutsideId,
    Position,
    Refused,
)
from sports.readers.cricsheet import SOURCE, CricsheetMatch, parse_cricsheet
from sports.readers.steps import Heard
from tests.acceptance.server import ServerProcess
from tests.sports.readers.small_match import small


@pytest.fixture
async def client(cli_server: ServerProcess) -> AsyncIterator[Client]:
    async with open_client(cli_server.url, cli_server.token, device="test") as client:
        yield client


@pytest.fixture
def match() -> CricsheetMatch:
    """A match the server has not seen."""
    return parse_cricsheet(json.dumps(small()).encode(), "small.json", id=f"small-{secrets.token_hex(4)}")


async def create(client: Client, match: CricsheetMatch) -> Created:
    return await client.create_match(
        CreateMatch("cricket", match.name, match.opening, external=OutsideId(SOURCE, match.id))
    )


async def score(client: Client, match: CricsheetMatch, count: int) -> str:
    """Scores the first steps of a match; its id on the server."""
    created = await create(client, match)
    saw = created.seq
    heard = Heard()
    for step in match.steps[:count]:
        if not heard.due(step):
            continue
        answer = await client.command(created.match, step.code, step.input, saw)
        assert isinstance(answer, Accepted)
        saw = answer.seq
        heard.answered(step, answer.emits)
    return created.match


@pytest.mark.parametrize("count", [0, 1, 5, 10])
async def test_a_match_scored_in_part_is_played_on(client, match, count):
    id = await score(client, match, count)
    heard: list[int] = []
    played = await play(client, match, advance=heard.append)
    assert played.match == id
    assert played.existed
    assert played.differences == []
    whole = await play(client, match)
    assert whole.commands == 0
    assert sum(heard) == match.deliveries
    log = [row async for row in client.log(id)]
    assert log[-1].seq == len(log)
    assert 0 < played.commands < len(log)


async def test_a_match_scored_otherwise_is_left_alone(client, match):
    id = await score(client, match, 2)
    ball = {"striker": "A3", "non_striker": "A4", "bowler": "B2", "bat": 6}
    assert isinstance(await client.command(id, "cricket.delivery", ball, 3), Accepted)
    with pytest.raises(PlayStopped, match="from seq 4 on it was scored otherwise"):
        await play(client, match)
    assert len([row async for row in client.log(id)]) == 4


async def test_two_tablets_the_later_hears_what_it_missed(client, match, cli_server):
    id = await score(client, match, 2)
    ball = {"striker": "A1", "non_striker": "A2", "bowler": "B1", "bat": 1}
    async with open_client(cli_server.url, cli_server.token) as other:
        first = await client.command(id, "cricket.delivery", ball, 3)
        second = await other.command(id, "cricket.delivery", ball, 3)
    assert isinstance(first, Accepted)
    assert isinstance(second, Conflict)
    assert [event.seq for event in second.missed] == [4]


async def test_a_refusal_is_an_answer_with_a_sentence(client, match):
    id = await score(client, match, 2)
    ball = {"striker": "A1", "non_striker": "A2", "bowler": "Z9"}
    answer = await client.command(id, "cricket.delivery", ball, 3)
    assert isinstance(answer, Refused)
    assert answer.field == "bowler"
    assert answer.sentence


async def test_a_watcher_gets_the_document_and_then_what_changes(client, match, cli_server):
    id = await score(client, match, 2)
    ball = {"striker": "A1", "non_striker": "A2", "bowler": "B1", "bat": 4}
    async with open_client(cli_server.url, cli_server.token) as watcher:
        frames = watcher.watch(id, audience="scorer")
        first = await anext(frames)
        assert isinstance(first, DocumentFrame)
        assert first.seq == 3
        await client.command(id, "cricket.delivery", ball, 3)
        assert (await anext(frames)).seq == 4
        await frames.aclose()
        later = watcher.watch(id, audience="scorer", after=Position(first.epoch, first.seq))
        resumed = await anext(later)
        assert resumed.seq == 4
        assert not isinstance(resumed, DocumentFrame)
        await later.aclose()


async def test_an_unknown_token_ends_a_command_and_a_watch(cli_server, match):
    async with open_client(cli_server.url, "unknown") as stranger:
        with pytest.raises(TokenRefused, match="token create"):
            await stranger.command("some-match", "cricket.over", {}, 1)
        with pytest.raises(TokenRefused):
            await create(stranger, match)


async def test_watching_nothing_is_told(client):
    frames = client.watch("no-such-match")
    with pytest.raises(Unexpected, match="no match"):
        await anext(frames)
    await frames.aclose()
