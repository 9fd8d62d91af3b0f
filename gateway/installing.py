"""Installing, listing and retiring versions of sports while matches run (design section 9).

A wheel is read, then tried in a worker of its own, then put into its folder, registered, and used by
new matches. Before it is put there nothing of it can be seen; running matches are never touched.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
import structlog
import trio

from gateway.errors import UnknownVersion, VersionInUse
from gateway.registry import Registry
from runtime.errors import GuardTooWeak, ManifestMissing, RuntimeFault, SpawnFailed, TrialFailed, WorkerLost
from runtime.trial import Golden, describe, play_goldens, staged
from runtime.versions import SportVersion, VersionStore
from runtime.wheels import Wheel, read_wheel

TRIAL_LIMIT_S = 600.0
"""A worker's start and all golden matches; cricket's ten take a few seconds."""
PLACE_LIMIT_S = 30.0
"""Writing, registering and using a version that passed; not cut short by who asked for it."""
PROGRESS_WAITING = 16
"""Lines of progress that may wait for a slow reader before the install waits for him."""

log = structlog.get_logger("scorebox.installing")


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of progress. The last one's step is "installed" or "failed"."""

    step: str
    sentence: str
    done: int | None = None
    """Golden matches that came out right, `of` all of them."""
    of: int | None = None
    sport: str | None = None
    version: str | None = None
    code_sha: str | None = None
    current: bool | None = None
    """Whether new matches use it."""


class ListedVersion(msgspec.Struct, frozen=True):
    """A version of a sport, and the unfinished matches pinned to it at this moment."""

    sport: str
    version: str
    code_sha: str
    current: bool
    installed: bool
    """False where matches need it and it is not here."""
    unfinished: int


Tell = Callable[[Progress], Awaitable[None]]
ReadGolden = Callable[[str, bytes], Golden | None]
"""A golden match from a file's name and content; None where the file is none. Raises TrialFailed."""


class Checked(msgspec.Struct, frozen=True):
    """A wheel that was read, and its golden matches."""

    wheel: Wheel
    goldens: list[Golden]


class Installing:
    """Installs one wheel at a time. `run` must be running for `start`. `heard` is told what came in."""

    def __init__(
        self,
        *,
        versions: VersionStore,
        registry: Registry,
        read_golden: ReadGolden,
        heard: Callable[[SportVersion], None] = lambda version: None,
    ) -> None:
        self._versions = versions
        self._heard = heard
        self._registry = registry
        self._read_golden = read_golden
        self._one = trio.Lock()
        self._nursery: trio.Nursery | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the installs that were started; ends when cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    async def read(self, data: bytes) -> Checked:
        """Read a wheel, and see that its version is free.

        Raises:
            WheelUnfit, TrialFailed: it cannot be installed; one sentence says why.
            VersionConflict: the version is installed with other content.
        """
        return await trio.to_thread.run_sync(self._read, data)

    def _read(self, data: bytes) -> Checked:
        wheel = read_wheel(data)
        self._versions.check_free(wheel.files, wheel.sport, wheel.version)
        found = (self._read_golden(name, content) for name, content in sorted(wheel.golden.items()))
        return Checked(wheel, [golden for golden in found if golden is not None])

    def start(self, checked: Checked) -> trio.MemoryReceiveChannel[Progress]:
        """Begin an install, and hand its progress back. Closing it before the version is placed ends it."""
        assert self._nursery is not None, "run() is running"
        send, receive = trio.open_memory_channel[Progress](PROGRESS_WAITING)
        self._nursery.start_soon(self._install_and_tell, checked, send)
        return receive

    async def _install_and_tell(self, checked: Checked, send: trio.MemorySendChannel[Progress]) -> None:
        wheel = checked.wheel
        with suppress(trio.BrokenResourceError):
            async with send:
                try:
                    await self.install(checked, send.send)
                except RuntimeFault as error:
                    log.warning("not_installed", sport=wheel.sport, version=wheel.version, error=str(error))
                    await send.send(Progress("failed", str(error)))
                except trio.BrokenResourceError:
                    raise
                except Exception:
                    log.exception("install_failed", sport=wheel.sport, version=wheel.version)
                    await send.send(Progress("failed", "the install failed; the fault was logged"))

    async def install(self, checked: Checked, tell: Tell) -> SportVersion:
        """Try a wheel that was read, and install it; `tell` hears of every step.

        Raises:
            TrialFailed: its worker does not start, its manifest is another one, a golden match fails.
            VersionConflict: the version came in with other content meanwhile.
            DatabaseAway: it could not be registered; installing it again goes on from there.
        """
        wheel = checked.wheel
        name = f"{wheel.sport} {wheel.version}"
        await tell(Progress("read", f"{name} was read: {len(wheel.files)} files, each as RECORD says"))
        async with self._one:
            try:
                with trio.fail_after(TRIAL_LIMIT_S):
                    await self._try(checked, tell)
            except trio.TooSlowError as error:
                raise TrialFailed(f"{name} was not tried within {TRIAL_LIMIT_S:.0f} s") from error
            with trio.fail_after(PLACE_LIMIT_S) as scope:
                scope.shield = True
                version = await trio.to_thread.run_sync(
                    self._versions.place, wheel.files, wheel.package, wheel.sport, wheel.version
                )
                await self._registry.register(version, wheel.manifest)
                current = await trio.to_thread.run_sync(self._versions.use, version)
        self._heard(version)
        log.info("installed", sport=version.sport, version=version.version, code_sha=version.code_sha)
        use = "new matches use it" if current else "new matches still use a newer version"
        await tell(
            Progress(
                "installed",
                f"{name} is installed; {use}",
                sport=version.sport,
                version=version.version,
                code_sha=version.code_sha,
                current=current,
            )
        )
        return version

    async def _try(self, checked: Checked, tell: Tell) -> None:
        wheel, goldens = checked.wheel, checked.goldens
        done = 0

        async def told(golden: Golden) -> None:
            nonlocal done
            done += 1
            await tell(Progress("golden", f"{golden.name} came out right", done, len(goldens)))

        try:
            async with staged(self._versions, wheel.files, wheel.package, wheel.sport) as (pools, version):
                if await describe(pools, version) != wheel.manifest:
                    raise TrialFailed(
                        "manifest.json in the wheel is not what the sport says of itself; "
                        "build it with `scorebox sport build`"
                    )
                await tell(Progress("started", "a worker runs its code, and describes itself as it should"))
                await play_goldens(pools, version, goldens, told)
        except GuardTooWeak as error:
            raise TrialFailed(f"it was not run: {error}") from error
        except SpawnFailed as error:
            lines = str(error).strip().splitlines()
            raise TrialFailed(f"no worker can be started from it: {lines[-1]}") from error
        except WorkerLost as error:
            raise TrialFailed(f"its code ends its worker ({error.reason}): {error.detail}") from error

    async def list(self) -> list[ListedVersion]:
        """Every version here, and those that matches need and that are not here."""
        pinned = {each.code_sha: each for each in await self._registry.unfinished()}
        await trio.to_thread.run_sync(self._versions.refresh)
        rows = []
        for sport in self._versions.sports():
            current = self._versions.current(sport)
            for each in self._versions.versions(sport):
                found = pinned.pop(each.code_sha, None)
                matches = found.matches if found else 0
                rows.append(ListedVersion(sport, each.version, each.code_sha, each == current, True, matches))
        rows += [
            ListedVersion(each.sport, each.version, each.code_sha, False, False, each.matches)
            for each in pinned.values()
        ]
        return rows

    async def retire(self, sport: str, version: str) -> None:
        """Take a version away that no unfinished match is pinned to.

        Raises:
            UnknownVersion: it is not installed.
            VersionInUse: new or unfinished matches use it.
        """
        async with self._one:
            await trio.to_thread.run_sync(self._versions.refresh)
            found = self._versions.current(sport, version)
            if found is None:
                installed = ", ".join(each.version for each in self._versions.versions(sport)) or "none"
                raise UnknownVersion(f"{sport} {version} is not installed (installed: {installed})")
            if found == self._versions.current(sport):
                raise VersionInUse(f"new matches use {sport} {version}; install another version first")
            try:
                manifest = self._versions.manifest(found)
            except ManifestMissing:
                manifest = {}
            with trio.fail_after(PLACE_LIMIT_S) as scope:
                scope.shield = True
                await self._registry.retire(found, manifest)
                await trio.to_thread.run_sync(self._versions.remove, found)
        log.info("retired", sport=sport, version=version, code_sha=found.code_sha)
