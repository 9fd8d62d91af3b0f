"""Sport code that tries what it must not: stopped and named, by every layer of the guard on its own."""

import json
import os
from typing import Any

import pytest
import trio

from runtime.errors import GuardTooWeak, RuleForbidden, SpawnFailed, WorkerLost
from runtime.guarding import GuardPolicy
from runtime.pool import open_pools
from runtime.staffing import PoolLimits
from runtime.versions import VersionStore
from runtime.worker.guard.level import LAYERS
from tests.runtime.conftest import ROGUE
from tests.runtime.rogue_calls import PATIENCE_S, Rogue

FORBIDDEN = {
    "connect": "open a connection",
    "read_file": "read a file",
    "list_folder": "read a file",
    "write_file": "write a file",
    "write_inside": "write a file",
    "fill_disk": "write a file",
    "remove_file": "write a file",
    "fork": "start a process",
    "execute": "start a process",
    "system": "start a process",
    "subprocess": "start a process",
    "thread": "start a thread",
    "time": "ask for the time",
    "wait": "ask for the time",
    "local_time": "ask for the time",
    "now": "ask for the time",
    "today": "ask for the time",
    "choice": "ask for a random number",
    "unseeded": "ask for a random number",
    "urandom": "ask for a random number",
    "uuid4": "ask for a random number",
    "secrets": "ask for a random number",
    "ctypes": "reach past Python into memory",
    "frames": "look into the frames of its callers",
    "frames_of_a_traceback": "look into the frames of its callers",
    "objects": "go through the objects of the process",
    "change_code": "change code that runs",
    "environment_of_the_server": "read a file",
    "descriptors_of_the_server": "read a file",
    "program_of_the_server": "do what the kernel refuses",
    "kill_the_server": "send a signal",
}
"""Misdeed → what it is said to have tried."""
BY_SECCOMP = (
    "connect",
    "write_file",
    "write_inside",
    "fill_disk",
    "remove_file",
    "fork",
    "execute",
    "kill_the_server",
)
BY_LANDLOCK = (
    "read_file",
    "list_folder",
    "write_file",
    "write_inside",
    "fill_disk",
    "remove_file",
    "execute",
    "environment_of_the_server",
    "descriptors_of_the_server",
    "program_of_the_server",
)


def test_every_forbidden_misdeed_is_tried():
    from scorebox_rogue.forbidden import FORBIDDEN as misdeeds

    assert misdeeds.keys() == FORBIDDEN.keys()


@pytest.fixture
def full(open_rogue, guard_level):
    """Pools whose workers have the whole guard; skips where the kernel has not."""
    if guard_level != "full":
        pytest.skip(f"the kernel here allows a guard of level {guard_level} only")
    return open_rogue


async def forbidden(rogue: Rogue, state: bytes, misdeed: str, **how: Any) -> RuleForbidden:
    with pytest.raises(RuleForbidden) as caught:
        await rogue.misbehave(state, misdeed, deadline_s=PATIENCE_S, **how)
    return caught.value


async def test_what_is_forbidden_is_stopped_and_named(open_rogue, guard_level):
    """Each with its deed and its line, the worker is replaced, and the next call is answered."""
    async with open_rogue() as rogue:
        state = await rogue.state()
        for misdeed, deed in FORBIDDEN.items():
            if misdeed == "program_of_the_server" and guard_level != "full":
                continue  # no audit hook hears of a link that is read
            before = rogue.statistics().lost.get("forbidden", 0)
            error = await forbidden(rogue, state, misdeed)
            assert error.sentence == f"the rules of rogue 1.0.0 tried to {deed}", misdeed
            assert " at scorebox_rogue/forbidden.py:" in str(error), misdeed
            assert error.stack, misdeed
            assert f"in {misdeed}" in error.stack, misdeed
            assert rogue.statistics().lost["forbidden"] == before + 1, "its worker is replaced"
            reply = await rogue.add(state, 1, deadline_s=PATIENCE_S)
            assert json.loads(reply["state"])["total"] == 1


@pytest.mark.parametrize("misdeed", ["connect", "time", "choice", "fork", "write_file"])
async def test_an_attempt_is_told_though_the_rules_swallow_the_exception(open_rogue, misdeed):
    async with open_rogue() as rogue:
        error = await forbidden(rogue, await rogue.state(), misdeed, hidden=True)
        assert error.sentence.endswith(FORBIDDEN[misdeed])


async def test_an_attempt_in_a_batch_is_its_own_step_and_ends_the_worker(open_rogue):
    async with open_rogue(warm=1, most=1) as rogue:
        state = await rogue.state()
        (before,) = rogue.pids()
        honest = [state, "rogue.add", b'{"amount":3}', []]
        rogue_step = [state, "rogue.misbehave", b'{"misdeed":"connect"}', []]
        reply = await rogue.call("steps", {"items": [honest, rogue_step, honest]}, deadline_s=PATIENCE_S)
        first, second, third = reply["replies"]
        assert json.loads(first["state"])["total"] == json.loads(third["state"])["total"] == 3
        assert second["error"]["kind"] == "rule_forbidden"
        assert second["error"]["who"] == "rogue 1.0.0"
        await rogue.add(state, 1, deadline_s=PATIENCE_S)
        assert before not in rogue.pids()


@pytest.mark.parametrize("misdeed", BY_SECCOMP)
async def test_seccomp_alone_stops_it(full, misdeed):
    """As if the audit hook had been got around, and on a kernel without landlock."""
    async with full(withheld=("audit", "landlock")) as rogue:
        state = await rogue.state()
        error = await forbidden(rogue, state, misdeed)
        assert "do what the kernel refuses" in error.sentence
        assert "forbidden.py:" in str(error) or misdeed == "connect"


@pytest.mark.parametrize("misdeed", BY_LANDLOCK)
async def test_landlock_alone_stops_it(full, misdeed):
    async with full(withheld=("audit", "seccomp")) as rogue:
        error = await forbidden(rogue, await rogue.state(), misdeed)
        assert "do what the kernel refuses" in error.sentence
        assert "forbidden.py:" in str(error)


async def test_nothing_was_written_and_the_server_lives(full, version):
    files = sorted(version.folder.rglob("*.py"))
    async with full(withheld=("audit",)) as rogue:
        state = await rogue.state()
        for misdeed in ("write_file", "write_inside", "fill_disk", "kill_the_server"):
            await forbidden(rogue, state, misdeed, amount=9)
    assert sorted(version.folder.rglob("*.py")) == files
    for path in ("/tmp/scorebox-rogue", "/var/tmp/scorebox-rogue"):
        assert not os.path.exists(path)


@pytest.mark.parametrize("misdeed", ["loop", "loop_in_c", "sleep"])
async def test_the_stack_of_a_stuck_rule_is_had_under_the_whole_guard(full, misdeed):
    async with full() as rogue:
        state = await rogue.state()
        assert {worker.guard for worker in rogue.statistics().workers} == {"full"}
        with pytest.raises(WorkerLost) as caught:
            await rogue.misbehave(state, misdeed, 60_000, deadline_s=0.5)
        assert caught.value.stack is not None
        assert f"in {misdeed}" in caught.value.stack


@pytest.mark.parametrize(
    ("withheld", "level"),
    [((), "full"), (("landlock",), "seccomp"), (("seccomp",), "audit"), (("audit",), "limits")],
)
async def test_the_level_is_what_the_worker_found_and_says_what_it_lacks(full, withheld, level):
    async with full(withheld=withheld) as rogue:
        await rogue.state()
        await rogue.ready(1)
        for worker in rogue.statistics().workers:
            assert worker.guard == level
            assert worker.guard_lacks == "; ".join(f"{layer}: withheld" for layer in withheld)


@pytest.mark.parametrize("layer", LAYERS[1:])
async def test_code_that_needs_more_guard_than_there_is_does_not_run(tmp_path, layer):
    """Not even its import: it would have left a trace in the error."""
    package = tmp_path / "scorebox_loud"
    package.mkdir()
    (package / "__init__.py").write_text("raise LookupError('it ran')\n")
    store = VersionStore(tmp_path / "sports")
    version = store.install_folder(package, "loud", "1.0.0")
    async with open_pools(store, limits=PoolLimits(failures_most=2), withheld=(layer,)) as pools:
        with trio.fail_after(PATIENCE_S), pytest.raises(GuardTooWeak) as caught:
            await pools.call(version.code_sha, "ping", {})
        said = str(caught.value)
        assert "this code needs full" in said
        assert f"{layer}: withheld" in said
        assert "SCOREBOX_MINIMUM_GUARD_LEVEL=" in said
        assert "it ran" not in said
        (statistics,) = pools.statistics()
        assert statistics.minimum_guard == "full"
        assert statistics.trouble is not None


async def test_bundled_code_may_run_with_less_guard(tmp_path):
    application = tmp_path / "application"
    (application / "sports" / "rogue").mkdir(parents=True)
    (application / "sports" / "rogue" / "scorebox_rogue").symlink_to(ROGUE)
    (application / "sports" / "rogue" / "pyproject.toml").write_text('[project]\nversion = "1.0.0"\n')
    store = VersionStore(tmp_path / "sports", guard=GuardPolicy(installed="full", bundled="audit"))
    (version,) = store.install_bundled(application)
    for each in (store, VersionStore(tmp_path / "sports")):
        assert each.minimum_guard(version) == "audit", "also after a restart"
    async with open_pools(store, withheld=("seccomp", "landlock")) as pools:
        await pools.call(version.code_sha, "ping", {}, deadline_s=PATIENCE_S)
    other = VersionStore(tmp_path / "others").install_folder(ROGUE, "rogue", "1.0.0")
    assert VersionStore(tmp_path / "others").minimum_guard(other) == "full"


HONEST_IMPORTS = [
    "abc",
    "array",
    "base64",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "contextlib",
    "contextvars",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "graphlib",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "io",
    "itertools",
    "json",
    "keyword",
    "locale",
    "logging",
    "math",
    "numbers",
    "operator",
    "pathlib",
    "pprint",
    "queue",
    "random",
    "re",
    "reprlib",
    "sched",
    "shlex",
    "shutil",
    "statistics",
    "string",
    "struct",
    "tempfile",
    "textwrap",
    "threading",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "urllib.parse",
    "uuid",
    "warnings",
    "weakref",
    "xml.etree.ElementTree",
    "zlib",
    "zoneinfo",
]


async def test_the_standard_library_is_there_also_inside_functions(open_rogue):
    """Imports by honest code, once the guard stands, are neither stopped nor told."""
    async with open_rogue() as rogue:
        state = await rogue.state()
        value = {"what": "standard_library", "names": HONEST_IMPORTS}
        reply = await rogue.step(state, "rogue.probe", value, deadline_s=PATIENCE_S)
        assert reply["emits"] == HONEST_IMPORTS


async def test_what_is_pure_of_clock_and_chance_works(open_rogue):
    async with open_rogue() as rogue:
        assert await rogue.probe("pure") == [
            "2026-11-30",
            "1970-01-01",
            "[5, 2, 6]",
            "point(x=1, y=2)",
            "2026-11-30",
        ]


async def test_a_package_that_tries_it_at_its_import_is_not_loaded(tmp_path):
    package = tmp_path / "scorebox_early"
    package.mkdir()
    (package / "__init__.py").write_text(
        "try:\n    open('/etc/passwd')\nexcept OSError:\n    pass\nSPORT = None\n"
    )
    store = VersionStore(tmp_path / "sports", guard=GuardPolicy(installed="none"))
    version = store.install_folder(package, "early", "1.0.0")
    async with open_pools(store, limits=PoolLimits(failures_most=2)) as pools:
        with trio.fail_after(PATIENCE_S), pytest.raises(SpawnFailed) as caught:
            await pools.call(version.code_sha, "ping", {})
        assert "the rules must not read a file: /etc/passwd" in str(caught.value)
        assert "scorebox_early/__init__.py:2" in str(caught.value)
