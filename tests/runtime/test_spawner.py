"""The spawner's thread: every process it starts has one owner, or is discarded once."""

import os
import tempfile
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import trio
import trio.testing

from runtime import spawner
from runtime.spawner import Child, Spawner, SpawnOrder

ORDER = SpawnOrder(Path("."), "sport", "sha", 0, lambda: None)
TRIES = 20
"""Trio wakes in random order what is due at once: so often, both orders occur."""


async def test_a_process_whose_order_is_cancelled_as_it_comes_is_discarded_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trio_token = trio.lowlevel.current_trio_token()
    discarded: list[Child] = []
    ordered: list[SpawnOrder] = []
    may_start, on_its_way = Event(), Event()

    class Ticket(spawner._Ticket):
        def __init__(self, order: SpawnOrder, token: Any) -> None:
            super().__init__(order, token)
            self.token: Any = self
            ordered.append(order)

        def run_sync_soon(self, *call: Any) -> None:
            trio_token.run_sync_soon(*call)
            on_its_way.set()

    def attempt(order: SpawnOrder) -> Child:
        may_start.wait(10)
        may_start.clear()
        nothing: Any = None
        return Child(nothing, -1, nothing, -1, -1)

    monkeypatch.setattr(spawner, "compile_host", lambda: None)
    monkeypatch.setattr(spawner, "_attempt", attempt)
    monkeypatch.setattr(spawner, "_Ticket", Ticket)
    monkeypatch.setattr(spawner, "discard", discarded.append)

    ours = Spawner()
    for tries in range(1, TRIES + 1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ours.spawn, ORDER)
            while len(ordered) < tries:
                await trio.lowlevel.checkpoint()
            may_start.set()
            assert on_its_way.wait(10)  # blocks Trio: what comes, and the cancellation, are due at once
            on_its_way.clear()
            nursery.cancel_scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
    ours.close()
    assert len(discarded) == TRIES


def test_starting_workers_leaves_no_folder_to_a_server_that_is_killed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spawner.nowhere.cache_clear()
    seen: list[list[Path]] = []

    def fork(*command: Any, **options: Any) -> Any:
        seen.append(list(tmp_path.iterdir()))
        with pytest.raises(FileNotFoundError):
            os.open(f"{options['cwd']}/file", os.O_CREAT | os.O_WRONLY)
        raise OSError("no more processes")

    monkeypatch.setattr("subprocess.Popen", fork)
    for _ in range(2):
        with pytest.raises(OSError, match="no more processes"):
            spawner.start(ORDER)
    assert seen == [[], []]
    os.close(spawner.nowhere())
    spawner.nowhere.cache_clear()
