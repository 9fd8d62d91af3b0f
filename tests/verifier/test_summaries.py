"""A match whose sport gives no summary, as an earlier server may have taken it, is alone in its trouble."""

import shutil
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest

import gateway.card
from config.server import Server, running
from config.settings import Settings
from gateway.errors import TransferUnfit
from gateway.exporting import Exporter
from gateway.importing import Importer
from gateway.protocol import Accepted, CommandFrame, Created, CreateMatch, Problem, Refused
from gateway.summary import NOTHING_KNOWN
from runtime.versions import VersionStore
from runtime.worker.guard.level import Level
from tests.guardlevel import achievable
from tests.runtime.conftest import ROGUE
from tests.runtime.rogue_calls import OPENING
from tests.verifier.conftest import SCORER, until

LEVEL = msgspec.convert(achievable(), Level)
NONSENSE_AT = 7
HONEST = 'tuple(SideScore(side, str(state["total"])) for side in state["sides"])'


def add_odd_sport(data: Path) -> None:
    """The rogue sport, which gives a number for a score at one total."""
    folder = data / "odd" / "scorebox_rogue"
    shutil.copytree(ROGUE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    sport = folder / "sport.py"
    text = sport.read_text()
    assert HONEST in text
    odd = HONEST.replace(
        'str(state["total"])', f'7 if state["total"] == {NONSENSE_AT} else str(state["total"])'
    )
    sport.write_text(text.replace(HONEST, odd))
    VersionStore(data / "sports").install_folder(folder, "rogue", "1.0.0")


async def odd_match(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A match that stands at that total: the server that took it did not look."""
    created = await server.matches.create_match(CreateMatch("rogue", "odd", OPENING), SCORER)
    assert isinstance(created, Created)
    with monkeypatch.context() as lax:
        lax.setattr(gateway.card, "read_summary", lambda data: NOTHING_KNOWN)
        frame = CommandFrame(str(uuid4()), created.match, "rogue.add", {"amount": NONSENSE_AT}, 1)
        assert isinstance(await server.matches.command(frame, SCORER), Accepted)
    return created.match


async def test_a_summary_that_is_none_ends_neither_the_verifier_nor_a_request(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
):
    add_odd_sport(tmp_path)
    settings = Settings(port=0, data=tmp_path, database_url=database_url, minimum_guard_level=LEVEL)
    async with running(settings) as server:
        match = await odd_match(server, monkeypatch)
    async with running(settings) as server:
        await until(lambda: server.matches.status(detail=True)["verifier"]["rounds"] == 1)
        [alert] = [each for each in server.alerts.newest() if each.kind == "verification_failed"]
        assert "gives no score: a summary that is none" in alert.sentence
        assert alert.event == 2
        assert server.alerts.counts["actor_failed"] == server.alerts.counts["actor_resting"] == 0
        past = await server.matches.document_at(match, 2)
        assert isinstance(past, Problem)
        assert past.code == "other_code"
        frame = CommandFrame(str(uuid4()), match, "match.rebuild", {"reason": "odd"}, 2)
        answer = await server.matches.command(frame, SCORER)
        assert isinstance(answer, Refused)
        assert answer.code == "rule_failed"
        frame = CommandFrame(str(uuid4()), match, "rogue.add", {"amount": 1}, 2)
        assert isinstance(await server.matches.command(frame, SCORER), Accepted)


@pytest.mark.usefixtures("no_verifier")
async def test_a_match_without_a_summary_cannot_be_imported(
    tmp_path: Path, database_url: str, scored_url: str, monkeypatch: pytest.MonkeyPatch
):
    add_odd_sport(tmp_path)
    settings = Settings(port=0, data=tmp_path, database_url=database_url, minimum_guard_level=LEVEL)
    async with running(settings) as server:
        match = await odd_match(server, monkeypatch)
        exported = await Exporter(server.database, server.ledger).export(UUID(match), None)
        assert isinstance(exported, bytes)
    async with running(msgspec.structs.replace(settings, database_url=scored_url)) as server:
        importer = Importer(server.database, server.pools, server.versions)
        with pytest.raises(TransferUnfit, match="a summary that is none"):
            await importer.import_match(exported, "ann")
