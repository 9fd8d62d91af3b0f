"""Stored matches on candidates: what parts, and at which event."""

import json
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from config.cli import main
from config.server import APPLICATION
from gateway.ledger import Ledger
from runtime.database import Database
from runtime.pool import Pools, open_pools
from runtime.staffing import PoolLimits
from runtime.versions import SportVersion, VersionStore
from runtime.wheels import write_wheel
from tests.verifier.conftest import EVENTS, Scored
from verifier.errors import NotReplayed
from verifier.rehearse import Rehearsal, rehearse

CRICKET = APPLICATION / "sports" / "cricket" / "scorebox_cricket"
Change = tuple[str, str, str]
"""File, text in it, and what it is replaced with."""


def at_a_six(what: str) -> Change:
    """A statement that is carried out first at every six."""
    text = '    before = record["runs"]\n'
    return "delivery.py", text, f"{text}    if ball.bat == 6:\n        {what}\n"


CHANGES: dict[str, tuple[Change, str, str]] = {
    "state": (at_a_six('record["sixes"] += 1'), "state", "the state after it is another one"),
    "warnings": (
        at_a_six('draft.warn("far", "That went far.")'),
        "warnings",
        "the warnings were none, the candidate's are far",
    ),
    "emits": (at_a_six('draft.emits.append("far")'), "emits", "the candidate's are far, six"),
    "failing": (
        at_a_six('raise ValueError("no six was foreseen")'),
        "refusal",
        "the candidate's rules failed: the sport's code failed: ValueError: no six was foreseen",
    ),
}


@pytest.fixture
def store(tmp_path: Path) -> VersionStore:
    """The bundled sports in a store of this test."""
    store = VersionStore(tmp_path / "sports")
    store.install_bundled(APPLICATION, dev=True)
    return store


def changed_cricket(folder: Path, *changes: Change) -> Path:
    """Cricket's package with something in it changed."""
    package = folder / CRICKET.name
    shutil.copytree(CRICKET, package, ignore=shutil.ignore_patterns("__pycache__"))
    for file, text, other in changes:
        source = (package / file).read_text()
        assert source.count(text) == 1, (file, text)
        (package / file).write_text(source.replace(text, other))
    return package


def candidate(store: VersionStore, folder: Path, *changes: Change) -> SportVersion:
    return store.install_folder(changed_cricket(folder, *changes), "cricket", "9.0.0")


@pytest.fixture
async def workers(store: VersionStore) -> AsyncIterator[Pools]:
    async with open_pools(store, limits=PoolLimits(warm=1, most=2)) as pools:
        yield pools


async def first_six(database: Database, scored: Scored) -> int:
    for row in await Ledger(database).log(scored.match, 1, EVENTS) or []:
        if json.loads(row.input).get("bat") == 6:
            return row.seq
    raise AssertionError("the match has no six")


async def test_the_same_code_does_not_part(
    scored: Scored, scored_database: Database, store: VersionStore, workers: Pools
):
    version = store.current("cricket")
    assert version is not None
    rehearsal = await rehearse(scored_database, workers, workers, version, scored.match)
    assert (rehearsal.parting, rehearsal.events) == (None, EVENTS)


@pytest.mark.parametrize(("change", "what", "words"), CHANGES.values(), ids=CHANGES.keys())
async def test_the_first_event_that_parts_is_named(
    scored: Scored,
    scored_database: Database,
    store: VersionStore,
    workers: Pools,
    tmp_path: Path,
    change: Change,
    what: str,
    words: str,
):
    version = candidate(store, tmp_path, change)
    rehearsal = await rehearse(scored_database, workers, workers, version, scored.match)
    assert rehearsal.parting is not None
    seq = await first_six(scored_database, scored)
    assert (rehearsal.parting.what, rehearsal.parting.seq) == (what, seq)
    assert rehearsal.parting.sentence.startswith(f"event {seq} (cricket.delivery): ")
    assert words in rehearsal.parting.sentence


async def test_lines_alone_and_refusals_part_too(
    scored: Scored, scored_database: Database, store: VersionStore, workers: Pools, tmp_path: Path
):
    lines = (
        "lines.py",
        '        "sixes": record["sixes"],\n        "strike',
        '        "sixes": 9,\n        "strike',
    )
    source = (CRICKET / "lines.py").read_text()
    first = source.index('"fours": record["fours"],')
    text = source[source.rindex("\n", 0, first) - 40 : first + 25]
    text = '"sixes": record["sixes"],\n        "dots": '
    lines = ("lines.py", text, text.replace("],", "] + 1,"))
    refusing = (
        "sport.py",
        "        for refusal in _refusals(state, event):\n",
        '        if getattr(event.input, "bat", 0) == 6:\n'
        '            return Refusal("no_sixes", "Nobody hits sixes here.")\n'
        "        for refusal in _refusals(state, event):\n",
    )
    found: list[Rehearsal] = []
    for number, change in enumerate((lines, refusing), 1):
        package = changed_cricket(tmp_path / str(number), change)
        version = store.install_folder(package, "cricket", f"9.0.{number}")
        found.append(await rehearse(scored_database, workers, workers, version, scored.match))
    assert found[0].parting is not None
    assert found[0].parting.what == "lines"
    assert found[1].parting is not None
    assert found[1].parting.seq == await first_six(scored_database, scored)
    assert "the candidate refuses it (no_sixes): Nobody hits sixes here." in found[1].parting.sentence


async def test_a_match_of_another_sport_and_missing_code_are_no_partings(
    scored: Scored, scored_database: Database, store: VersionStore, workers: Pools, tmp_path: Path
):
    tennis = store.current("table_tennis")
    assert tennis is not None
    with pytest.raises(NotReplayed, match="is a match of cricket, not of table_tennis"):
        await rehearse(scored_database, workers, workers, tennis, scored.match)
    async with open_pools(VersionStore(tmp_path / "empty")) as none:
        cricket = store.current("cricket")
        assert cricket is not None
        with pytest.raises(NotReplayed, match="install"):
            await rehearse(scored_database, none, workers, cricket, scored.match)


RehearseCommand = Callable[..., Awaitable[Result]]


@pytest.fixture
def command(scored_url: str, store: VersionStore) -> RehearseCommand:
    """`scorebox sport rehearse cricket ARGUMENTS`, in a thread: it has a Trio of its own."""
    environment = {"SCOREBOX_DATABASE_URL": scored_url, "SCOREBOX_DATA": str(store.root.parent)}

    async def call(*arguments: str) -> Result:
        return await trio.to_thread.run_sync(
            lambda: CliRunner().invoke(main, ["sport", "rehearse", "cricket", *arguments], env=environment)
        )

    return call


async def test_a_wheel_is_rehearsed_without_installing_it(
    scored: Scored, scored_database: Database, store: VersionStore, tmp_path: Path, command: RehearseCommand
):
    package = changed_cricket(tmp_path, CHANGES["emits"][0])
    files = {
        f"scorebox_cricket/{file.relative_to(package).as_posix()}": file.read_bytes()
        for file in package.rglob("*")
        if file.is_file()
    }
    version = json.loads(files["scorebox_cricket/manifest.json"])["version"]
    wheel = tmp_path / f"scorebox_cricket-{version}-py3-none-any.whl"
    wheel.write_bytes(write_wheel("scorebox-cricket", version, "", files, {}))
    before = store.versions("cricket")
    result = await command(str(wheel), "--all")
    assert result.exit_code == 1, result.output
    seq = await first_six(scored_database, scored)
    assert f"parts in emits: event {seq} (cricket.delivery): the emits were six" in result.stdout
    assert "0 of 1 matches come out alike (600 events replayed); 1 part" in result.stdout
    store.refresh()
    assert store.versions("cricket") == before


async def test_an_installed_version_is_rehearsed_and_shown_for_machines(
    scored: Scored, store: VersionStore, command: RehearseCommand
):
    current = store.current("cricket")
    assert current is not None
    result = await command(current.version, str(scored.match), "--json")
    assert result.exit_code == 0, result.output
    plain = json.loads(result.stdout)
    assert (plain["alike"], plain["parts"], plain["unrehearsed"]) == (1, 0, 0)
    assert plain["matches"][0]["parting"] is None


async def test_what_cannot_be_rehearsed_is_said(store: VersionStore, command: RehearseCommand):
    current = store.current("cricket")
    assert current is not None
    result = await command("0.0.7", "--all")
    assert result.exit_code == 2
    assert f"cricket 0.0.7 is not installed (installed: {current.version})" in result.stderr
    result = await command(current.version, "nowhere")
    assert result.exit_code == 2
    assert "there is no match 'nowhere'" in result.stdout
