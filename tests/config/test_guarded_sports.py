"""The sports that ship, played whole under the guard; and a sport that needs more guard than there is."""

from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from config.server import APPLICATION
from config.trials import read_golden
from gateway.installing import Installing, Progress
from runtime import trial
from runtime.errors import TrialFailed
from runtime.guarding import GuardPolicy
from runtime.pool import open_pools
from runtime.trial import Golden, play_goldens
from runtime.versions import VersionStore
from tests.guardlevel import achievable
from tests.sportcopies import cricket_wheel

SPORTS = ("cricket", "table_tennis")


@pytest.mark.parametrize("sport", SPORTS)
async def test_an_honest_sport_does_not_notice_the_guard(tmp_path: Path, sport: str) -> None:
    """All its golden matches come out right, in workers with all the guard there is, and none is lost."""
    store = VersionStore(tmp_path)
    (version,) = [each for each in store.install_bundled(APPLICATION, dev=True) if each.sport == sport]
    files = sorted((APPLICATION / "sports" / sport / "golden").iterdir())
    found = [read_golden(file.name, file.read_bytes()) for file in files]
    goldens = [golden for golden in found if golden is not None]
    played: list[str] = []

    async def told(golden: Golden) -> None:
        played.append(golden.name)

    async with open_pools(store) as pools:
        await play_goldens(pools, version, goldens, told)
        (statistics,) = pools.statistics()
        assert {worker.guard for worker in statistics.workers} == {achievable()}
        assert statistics.lost == {}
        assert statistics.rules_failed == 0
    assert len(played) == len(goldens) > 0


class StopInstall(Exception):
    """Far enough."""


async def install(store: VersionStore, data: bytes) -> list[str]:
    """The steps of an install, which is let go until a worker runs its code."""
    installing = Installing(versions=store, registry=cast(Any, None), read_golden=read_golden)
    steps: list[str] = []

    async def tell(progress: Progress) -> None:
        steps.append(progress.step)
        if progress.step == "started":
            raise StopInstall

    with pytest.raises(StopInstall):
        await installing.install(await installing.read(data), tell)
    return steps


@pytest.fixture
def kernel_without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trials run as they would on such a kernel."""
    monkeypatch.setattr(trial, "open_pools", partial(open_pools, withheld=("landlock",)))


async def test_an_install_on_a_kernel_without_landlock_says_so(
    tmp_path: Path, kernel_without_landlock: None
) -> None:
    store = VersionStore(tmp_path / "sports")
    wheel = await cricket_wheel(tmp_path, "1.0.1")
    with pytest.raises(TrialFailed) as caught:
        await install(store, wheel.data)
    said = str(caught.value)
    assert "it was not run" in said
    assert "this code needs full (landlock: withheld)" in said
    assert "SCOREBOX_MINIMUM_GUARD_LEVEL=" in said
    assert store.sports() == []


async def test_it_goes_on_where_the_setting_allows_it(tmp_path: Path, kernel_without_landlock: None) -> None:
    wheel = await cricket_wheel(tmp_path, "1.0.1")
    store = VersionStore(tmp_path / "sports", guard=GuardPolicy(installed="audit"))
    assert await install(store, wheel.data) == ["read", "started"]
