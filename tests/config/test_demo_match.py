"""The demo's match."""

from config.client import open_client
from config.demo_match import EXPECTED, count_expected, demo_differences, demo_match
from config.playing import play_demo
from gateway.protocol import Created
from scorebox_cricket import SPORT
from tests.sports.readers.scoring import score


def test_it_is_scored_as_the_scorecards_of_the_day_have_it():
    scored = score(SPORT, demo_match())
    assert list(demo_differences(scored.document)) == []
    assert scored.sentences == []
    assert set(scored.document["parts"]) == set(EXPECTED)


def test_whatever_differs_is_found():
    document = score(SPORT, demo_match()).document
    document["head"]["result"] = None
    document["parts"]["innings-2"]["lines"].clear()
    assert len(list(demo_differences(document))) == 2


async def test_it_is_played_on_a_server_ball_by_ball(cli_server):
    made: list[Created] = []
    heard: list[int] = []
    async with open_client(cli_server.url, cli_server.token) as client:
        played = await play_demo(client, created=made.append, advance=heard.append)
    assert played.differences == []
    assert played.overrides == {}
    assert (sum(heard), played.figures) == (played.deliveries, count_expected())
    assert made[0].match == played.match
