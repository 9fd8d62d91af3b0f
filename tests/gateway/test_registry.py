"""Versions in the database: what is pinned to them, and that a retired one takes no match."""

from pathlib import Path

import pytest
import trio

from gateway.errors import VersionInUse, VersionRetired
from gateway.ledger import Ledger
from gateway.records import Committed
from gateway.registry import Pinned, Registry
from runtime.database import Database
from runtime.versions import SportVersion
from tests.gateway.scoring import CODE_SHA, ball, opened, opening

VERSION = SportVersion("cricket", "1.0.0", "scorebox_cricket", Path("/nowhere"), CODE_SHA, "f" * 64)
MANIFEST = {"name": "Cricket"}


@pytest.fixture
def registry(database: Database) -> Registry:
    return Registry(database)


async def test_unfinished_matches_are_counted_at_that_moment(ledger: Ledger, registry: Registry) -> None:
    assert await registry.unfinished() == []
    first = await opened(ledger, "m1")
    await opened(ledger, "m2")
    await opened(ledger, "m3", version="1.1.0", code_sha="beef" * 16)
    found = {each.version: each for each in await registry.unfinished()}
    assert found == {
        "1.0.0": Pinned("cricket", "1.0.0", CODE_SHA, 2),
        "1.1.0": Pinned("cricket", "1.1.0", "beef" * 16, 1),
    }
    (outcome,) = await ledger.commit([ball(first, 1, status="COMPLETED")])
    assert isinstance(outcome, Committed)
    assert {each.version: each.matches for each in await registry.unfinished()} == {"1.0.0": 1, "1.1.0": 1}


async def test_a_version_with_an_unfinished_match_is_not_retired(ledger: Ledger, registry: Registry) -> None:
    match = await opened(ledger, "m1")
    with pytest.raises(VersionInUse, match="1 unfinished match;"):
        await registry.retire(VERSION, MANIFEST)
    assert await opened(ledger, "m2"), "the refusal changed nothing"
    with pytest.raises(VersionInUse, match="2 unfinished matches;"):
        await registry.retire(VERSION, MANIFEST)
    for stored, status in ((match, "COMPLETED"), (await ledger.load("m2"), "ABANDONED")):
        assert stored is not None
        await ledger.commit([ball(stored, 1, status=status)])
    await registry.retire(VERSION, MANIFEST)


async def test_no_match_is_opened_in_a_retired_version(ledger: Ledger, registry: Registry) -> None:
    await registry.retire(VERSION, MANIFEST)
    with pytest.raises(VersionRetired, match=r"cricket 1\.0\.0 was retired"):
        await ledger.open_match(opening("m1"))
    assert await ledger.load("m1") is None
    await opened(ledger, "m2", version="1.1.0", code_sha="beef" * 16)
    await registry.register(VERSION, MANIFEST)
    assert await opened(ledger, "m1"), "installed again, it takes matches again"


async def test_openings_and_a_retirement_at_the_same_time(ledger: Ledger, registry: Registry) -> None:
    for round in range(10):
        code_sha = f"{round:064x}"
        version = SportVersion("cricket", f"1.0.{round}", "p", Path("/nowhere"), code_sha, "f" * 64)
        retired: list[bool] = []
        made: list[str] = []

        async def open_one(code: str, code_sha: str = code_sha, made: list[str] = made) -> None:
            try:
                await opened(ledger, code, code_sha=code_sha)
                made.append(code)
            except VersionRetired:
                pass

        async def retire(version: SportVersion = version, retired: list[bool] = retired) -> None:
            try:
                await registry.retire(version, MANIFEST)
                retired.append(True)
            except VersionInUse:
                retired.append(False)

        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(open_one, f"m{round}-{number}")
            nursery.start_soon(retire)
        (was_retired,) = retired
        assert was_retired != bool(made), "a match has its version, or the version is retired"
