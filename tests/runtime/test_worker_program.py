"""A real worker's surroundings: what it has, what it has not, and how it ends with its server."""

import ast
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import trio

from runtime import pool
from runtime.errors import SpawnFailed
from runtime.pool import open_pools
from runtime.spawner import INTERPRETER_FLAGS
from runtime.staffing import PoolLimits
from runtime.worker import limits
from tests.runtime.rogue_calls import MATCH, PATIENCE_S, Rogue, end_of, watch

PROJECT = Path(__file__).parents[2]


async def surroundings(rogue: Rogue) -> dict[str, str]:
    return dict(fact.split("=", 1) for fact in await rogue.probe("surroundings"))


def hash_under(seed: int) -> str:
    """What a fresh interpreter makes of the seed."""
    return subprocess.run(
        [sys.executable, "-S", "-c", "print(hash('scorebox'))"],
        env={"PYTHONHASHSEED": str(seed)},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout.strip()


async def test_the_hash_seed_took_effect(open_rogue, store, version):
    async with open_rogue() as rogue:
        live = (await surroundings(rogue))["seed"]
    async with open_pools(store, hash_seed=4711) as pools:
        other = (await surroundings(Rogue(pools, version)))["seed"]
    assert live == hash_under(pool.LIVE_HASH_SEED)
    assert other == hash_under(4711) != live


async def test_a_worker_has_an_empty_environment_and_an_empty_folder_and_a_group_of_its_own(open_rogue):
    async with open_rogue() as rogue:
        facts = await surroundings(rogue)
        # The interpreter itself sets LC_CTYPE where no locale is set (PEP 538).
        assert set(ast.literal_eval(facts["environment"])) - {"LC_CTYPE"} == {"PYTHONHASHSEED"}
        assert facts["files"] == "[]"
        assert facts["group"] == "True"


async def test_the_path_is_the_standard_library_and_the_version(open_rogue, version):
    async with open_rogue() as rogue:
        *standard, last = ast.literal_eval((await surroundings(rogue))["path"])
        assert last == str(version.folder)
        # An environment has its library where its base has it.
        assert all(Path(sys.base_prefix) in Path(path).parents for path in standard)
        assert not any("site-packages" in path for path in standard)
        assert await rogue.probe("imports") == ["runtime.errors"], "loaded before the path was narrowed"


async def test_the_limits_hold_and_cannot_be_raised(open_rogue):
    async with open_rogue() as rogue:
        await rogue.state()
        pid = rogue.pids().pop()
        assert psutil.Process(pid).rlimit(resource.RLIMIT_AS) == (limits.ADDRESS_SPACE_BYTES,) * 2
        assert psutil.Process(pid).rlimit(resource.RLIMIT_FSIZE) == (0, 0)
        assert psutil.Process(pid).rlimit(resource.RLIMIT_NOFILE) == (limits.OPEN_FILES,) * 2
        assert psutil.Process(pid).rlimit(resource.RLIMIT_CORE) == (0, 0)
        assert psutil.Process(pid).rlimit(resource.RLIMIT_CPU) == (limits.CPU_LIFE_SECONDS,) * 2


async def test_a_worker_holds_no_descriptor_of_the_servers(open_rogue):
    async with open_rogue() as rogue:
        await rogue.state()
        pid = rogue.pids().pop()
        kinds = sorted(
            os.readlink(f"/proc/{pid}/fd/{name}").partition(":")[0] for name in os.listdir(f"/proc/{pid}/fd")
        )
        assert kinds == ["/dev/null", "pipe", "pipe", "pipe", "socket"]


def test_the_interpreter_is_not_isolated_for_that_would_ignore_the_seed():
    assert "-I" not in INTERPRETER_FLAGS
    assert "-E" not in INTERPRETER_FLAGS


async def test_a_sport_that_cannot_be_loaded_says_why_and_does_not_spin(store, tmp_path):
    broken = tmp_path / "scorebox_broken"
    broken.mkdir()
    (broken / "__init__.py").write_text("import wisdom\n")
    version = store.install_folder(broken, "broken", "1.0.0")
    patience = PoolLimits(backoff_first_s=0.001, failures_most=3)
    async with open_pools(store, limits=patience) as pools:
        with trio.fail_after(PATIENCE_S), pytest.raises(SpawnFailed, match="No module named 'wisdom'"):
            await pools.call(version.code_sha, "ping", {})
        with trio.fail_after(PATIENCE_S):
            await pools.until(version.code_sha, lambda pool: pool.resting)
        (statistics,) = pools.statistics()
        tried = statistics.spawn_failures
        with pytest.raises(SpawnFailed, match="No module named 'wisdom'"):
            await pools.call(version.code_sha, "ping", {})
        assert pools.statistics()[0].spawn_failures == tried, "it rests"


async def test_a_sport_that_fails_to_compile_names_the_line(store, tmp_path):
    broken = tmp_path / "scorebox_unfinished"
    broken.mkdir()
    (broken / "__init__.py").write_text("SPORT = (\n")
    version = store.install_folder(broken, "unfinished", "1.0.0")
    async with open_pools(store, limits=PoolLimits(failures_most=2, waiting_s=PATIENCE_S)) as pools:
        with pytest.raises(SpawnFailed, match="SyntaxError"):
            await pools.call(version.code_sha, "ping", {})


SERVER = """
import sys, trio
from pathlib import Path
from runtime.pool import open_pools
from runtime.versions import VersionStore

async def serve():
    store = VersionStore(Path(sys.argv[1]))
    sha = store.current("rogue").code_sha
    async with open_pools(store) as pools:
        pools.hold(sha, "match-1")
        await pools.until(sha, lambda pool: len(pool.workers) == 2)
        state = sys.argv[2].encode()
        async with trio.open_nursery() as nursery:
            if sys.argv[3] != "idle":
                value = b'{"misdeed": "%s", "amount": 600000}' % sys.argv[3].encode()
                payload = {"state": state, "code": "rogue.misbehave", "input": value, "override": []}
                nursery.start_soon(lambda: pools.call(sha, "check_and_step", payload, deadline_s=600))
                await trio.testing.wait_all_tasks_blocked()
            print(*(worker.pid for worker in pools.statistics()[0].workers), flush=True)
            await trio.sleep_forever()

import trio.testing
trio.run(serve)
"""


@pytest.mark.parametrize("doing", ["idle", "loop", "loop_in_c"])
async def test_workers_die_with_a_server_that_was_killed(store, tmp_path, doing):
    state = json.dumps({"total": 0, "events": 0, "padding": "", "sides": ["reds"]})
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    server = await trio.lowlevel.open_process(
        [sys.executable, str(script), str(store.root), state, doing],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=PROJECT,
    )
    assert server.stdout is not None
    line = b""
    with trio.fail_after(PATIENCE_S):
        while not line.endswith(b"\n"):
            line += await server.stdout.receive_some() or b"\n"
    one, two = map(int, line.split())
    with watch(one) as first, watch(two) as second:
        server.kill()
        await server.wait()
        await end_of(first)
        await end_of(second)
    await server.stdout.aclose()


async def test_a_worker_whose_server_is_gone_already_ends_at_once(version):
    from runtime.spawner import SpawnOrder, start

    order = SpawnOrder(version.folder, version.package, version.code_sha, 1, lambda: None)
    child = start(order, parent=os.getppid())
    with watch(child.popen.pid) as end:
        await end_of(end)
    assert child.popen.wait() == limits.EXIT_ORPHAN
    child.close()


async def test_a_worker_ends_when_its_server_hangs_up(version):
    from runtime.spawner import SpawnOrder, start

    child = start(SpawnOrder(version.folder, version.package, version.code_sha, 1, lambda: None))
    child.socket.shutdown(2)
    with watch(child.popen.pid) as end:
        await end_of(end)
    assert child.popen.wait() == limits.EXIT_EOF
    child.close()


async def test_what_is_no_request_ends_a_worker(version):
    from runtime.spawner import SpawnOrder, start

    child = start(SpawnOrder(version.folder, version.package, version.code_sha, 1, lambda: None))
    child.socket.send(b"\x00\x00\x00\x01\xc0")
    with watch(child.popen.pid) as end:
        await end_of(end)
    assert child.popen.wait() == limits.EXIT_PROTOCOL
    assert child.popen.returncode != -signal.SIGKILL
    child.close()


async def test_start_up_and_memory_are_reported(open_rogue, record_property):
    async with open_rogue() as rogue:
        rogue.pools.hold(rogue.code_sha, MATCH)
        pool = await rogue.ready()
        assert pool.hello_ms is not None
        record_property("hello_ms", round(pool.hello_ms, 1))
        record_property("rss_mb", [round(worker.rss_bytes / 1e6, 1) for worker in pool.workers])
