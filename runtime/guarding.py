"""How strong a guard the code of a sport needs, by where the code came from."""

from dataclasses import dataclass

from runtime.worker.guard.level import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardPolicy:
    """The least level of guard a worker must have to be given code. Settings of the server."""

    installed: Level = "full"
    """For what was installed by hand, and what is tried before it is."""
    bundled: Level = "audit"
    """For sports that come with the application: whoever trusts the one trusts the other."""

    def minimum(self, *, bundled: bool) -> Level:
        """The level for code that came with the application, or did not."""
        return self.bundled if bundled else self.installed
