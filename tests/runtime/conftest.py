"""The rogue sport, installed, and pools that must leave nothing behind."""

import gc
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from runtime.guarding import GuardPolicy
from runtime.pool import Pools, open_pools
from runtime.spawner import nowhere
from runtime.staffing import PoolLimits
from runtime.versions import SportVersion, VersionStore
from runtime.worker.guard.level import Layer
from tests.guardlevel import achievable
from tests.runtime.rogue_calls import OPENING, Rogue

ROGUE = Path(__file__).parent / "rogue" / "scorebox_rogue"

OpenPools = Callable[..., AbstractAsyncContextManager[Pools]]
OpenRogue = Callable[..., AbstractAsyncContextManager[Rogue]]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> VersionStore:
    """A store with the rogue sport in it. Tests that spoil a version make a store of their own.

    Code runs in it under any guard: a test says what it needs, and leaves layers out.
    """
    store = VersionStore(tmp_path_factory.mktemp("sports"), guard=GuardPolicy(installed="none"))
    store.install_folder(ROGUE, "rogue", "1.0.0")
    return store


@pytest.fixture(scope="session")
def guard_level() -> str:
    """How much of the guard the kernel here allows."""
    return achievable()


@pytest.fixture
def version(store: VersionStore) -> SportVersion:
    found = store.current("rogue")
    assert found is not None
    return found


@pytest.fixture
def opening() -> bytes:
    return json.dumps(OPENING).encode()


@pytest.fixture
def open_rogue(store: VersionStore, version: SportVersion) -> OpenRogue:
    """Opens pools on the rogue sport; after the block no process and no descriptor may be left."""

    @asynccontextmanager
    async def opened(*, withheld: tuple[Layer, ...] = (), **limits: Any) -> AsyncIterator[Rogue]:
        nowhere()
        before = descriptors()
        async with open_pools(store, limits=PoolLimits(**limits), withheld=withheld) as pools:
            yield Rogue(pools, version)
        gc.collect()
        assert children() == []
        assert descriptors() == before

    return opened


def children() -> list[psutil.Process]:
    """Workers that this process itself started and that are still there, zombies too."""
    return [
        child for child in psutil.Process().children() if "runtime/worker/main.py" in " ".join(_line(child))
    ]


def _line(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline()) or ["runtime/worker/main.py"]  # a zombie has no command line
    except psutil.NoSuchProcess:
        return []


def descriptors() -> list[str]:
    """What every open descriptor of this process is, without its number."""
    kinds = []
    for name in os.listdir("/proc/self/fd"):
        try:
            kinds.append(os.readlink(f"/proc/self/fd/{name}").partition(":")[0])
        except FileNotFoundError:
            continue  # the descriptor of the listing itself
    return sorted(kinds)
