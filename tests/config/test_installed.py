"""The store of versions is opened under the settings' rules, by whichever command opens it."""

from pathlib import Path

import pytest

from config.installed import SPORTS_FOLDER, installed_versions
from config.settings import Settings
from runtime.errors import CodeMissing
from runtime.versions import SportVersion
from runtime.worker.limits import EXPERIMENTAL_PACKAGE


def version(folder: Path) -> SportVersion:
    return SportVersion("duel", "1.0.0", "scorebox_duel", folder, "0" * 64, "1" * 64)


async def test_the_guard_level_of_the_settings_is_what_code_needs(tmp_path: Path) -> None:
    for level in ("full", "audit"):
        store = await installed_versions(Settings(data=tmp_path, minimum_guard_level=level))
        assert store.root == tmp_path / SPORTS_FOLDER
        assert store.minimum_guard(version(tmp_path)) == level


async def test_experimental_sports_run_where_the_settings_say_so(tmp_path: Path) -> None:
    store = await installed_versions(Settings(data=tmp_path))
    with pytest.raises(CodeMissing):
        store.check_allowed(EXPERIMENTAL_PACKAGE)
    store = await installed_versions(Settings(data=tmp_path, experimental=True))
    store.check_allowed(EXPERIMENTAL_PACKAGE)
