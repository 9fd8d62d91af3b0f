"""The versions of sports in the data folder of the settings."""

from functools import partial

import trio

from config.settings import Settings
from runtime.postgres_home import default_data_folder
from runtime.versions import VersionStore

SPORTS_FOLDER = "sports"
"""In the data folder."""


async def installed_versions(settings: Settings) -> VersionStore:
    """The store of versions, under the settings' own rules of what may run here. Every version is hashed."""
    folder = (settings.data or default_data_folder()) / SPORTS_FOLDER
    return await trio.to_thread.run_sync(
        partial(VersionStore, folder, experimental=settings.experimental, guard=settings.guard_policy)
    )
