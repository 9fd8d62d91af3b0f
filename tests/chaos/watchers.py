"""Watchers: they follow a match over every lost connection, and end with the document everybody has."""

import json

import trio

from config.connection import Connection, Lost, connect
from config.errors import ConfigFault
from tests.chaos.stage import Match, Stage
from tests.chaos.tablets import RETRY_S
from tests.chaos.views import Audience, View

WATCH_FRAMES = ("document", "event", "changed")


class Watcher:
    """Follows one match."""

    def __init__(self, stage: Stage, match: Match, audience: Audience) -> None:
        self._stage = stage
        self.match = match
        self.view = View(audience)
        self.came = trio.Event()
        """Set, and replaced, whenever a frame was taken in."""

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            connection: Connection | None = None
            try:
                headers = {"Authorization": f"Bearer {self._stage.server.token}"}
                connection = await connect(self._stage.nursery, self._stage.server.url, headers)
                await self._watch(connection)
                while True:
                    await self._take(connection, json.loads(await connection.receive()))
            except Lost:
                await trio.sleep(self._stage.chance.uniform(*RETRY_S))
            except ConfigFault as error:
                self._stage.history.violate(f"a watcher of {self.match.ref} was turned away: {error}")
                return
            finally:
                if connection is not None:
                    await connection.close()

    async def _watch(self, connection: Connection) -> None:
        frame = {"op": "watch", "match": self.match.ref, "audience": self.view.audience}
        if self.view.seq and not self.view.gap:
            frame["after"] = self.view.position  # type: ignore[assignment]
        await connection.send(json.dumps(frame))

    async def _take(self, connection: Connection, frame: dict[str, object]) -> None:
        history = self._stage.history
        if frame["op"] not in WATCH_FRAMES:
            # The match cannot be read just now: the frame says so, and the watch is asked for again.
            history.tallies[f"watch {frame.get('code')}"] += 1
            raise Lost(str(frame))
        if self.view.gap and frame["op"] != "document":
            return
        if (wrong := self.view.take(frame)) is not None:
            history.violate(f"a {self.view.audience} of {self.match.ref}: {wrong}")
            raise Lost(wrong)
        if self.view.gap:
            history.tallies["gaps"] += 1
            await self._watch(connection)
            return
        history.tallies["frames"] += 1
        history.hear(self.match.ref, self.view.epoch, self.view.seq, self.view.state_hash)
        self.came.set()
        self.came = trio.Event()
