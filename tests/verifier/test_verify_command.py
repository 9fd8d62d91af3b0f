"""`scorebox verify` on a database that a server may be using at the same time."""

import json
from collections.abc import Awaitable, Callable

import pytest
import trio
from click.testing import CliRunner, Result

from config.cli import main
from config.server import running
from config.settings import Settings
from runtime.database import Database
from tests.verifier.conftest import EVENTS, Scored, create
from tests.verifier.spoiling import spoil

Verify = Callable[..., Awaitable[Result]]


@pytest.fixture
def verify(scored: Scored, scored_url: str) -> Verify:
    """`scorebox verify ARGUMENTS`, in a thread: it has a Trio of its own."""
    environment = {"SCOREBOX_DATABASE_URL": scored_url, "SCOREBOX_DATA": str(scored.data)}

    async def call(*arguments: str) -> Result:
        return await trio.to_thread.run_sync(
            lambda: CliRunner().invoke(main, ["verify", *arguments], env=environment)
        )

    return call


async def test_sound_matches_are_said_to_be_sound_while_a_server_runs(
    scored: Scored, scored_url: str, verify: Verify
):
    async with running(Settings(port=0, data=scored.data, database_url=scored_url)) as server:
        await create(server, "C v D")
        result = await verify("--all")
    assert result.exit_code == 0, result.output
    assert f"2 of 2 matches are as their logs say ({EVENTS} events replayed)" in result.stdout


async def test_a_difference_is_a_row_of_the_table_and_exit_code_1(
    scored: Scored, scored_database: Database, verify: Verify
):
    await spoil(
        scored_database,
        scored,
        "UPDATE scoring_checkpoint SET state_hash = '\\x00' WHERE fixture_id = $MATCH AND position = 50",
    )
    result = await verify(str(scored.match))
    assert result.exit_code == 1
    row = "51 checkpoint the checkpoint after event 51 (50 events) is not the log's state"
    assert row in " ".join(result.stdout.split())
    plain = json.loads((await verify(str(scored.match), "--json")).stdout)
    assert (plain["sound"], plain["differs"], plain["unchecked"]) == (0, 1, 0)
    assert plain["matches"][0]["findings"][0] == {
        "what": "checkpoint",
        "seq": 51,
        "sentence": "the checkpoint after event 51 (50 events) is not the log's state",
    }


async def test_a_match_that_cannot_be_checked_is_exit_code_2(
    scored: Scored, scored_database: Database, verify: Verify
):
    await spoil(
        scored_database, scored, f"UPDATE scoreboard SET code_sha = '{'0' * 64}' WHERE fixture_id = $MATCH"
    )
    for ref, words in (("nowhere", "there is no match 'nowhere'"), (str(scored.match), "install")):
        result = await verify(ref)
        assert result.exit_code == 2
        assert words in result.stdout
        assert "0 of 1 matches are as their logs say" in result.stdout


@pytest.mark.parametrize("arguments", [[], ["--all", "some-match"]])
def test_matches_are_named_or_all_are_asked_for(arguments: list[str]):
    result = CliRunner().invoke(main, ["verify", *arguments])
    assert result.exit_code == 2
    assert "name matches, or give --all" in result.stderr
