"""A scorer's tablet: sends a command, and again with the same id until there is an answer."""

import json
from typing import Any

import trio

from config.connection import Connection, Lost, connect
from config.errors import ConfigFault
from tests.chaos.records import TRY_AGAIN, Sent
from tests.chaos.stage import Stage

ANSWER_LIMIT_S = 20.0
"""A socket that brings no answer for so long is given up, and the command sent on another."""
PATIENCE_S = 180.0
"""A command that has no answer by then has none."""
RETRY_S = (0.05, 0.4)
"""The wait after a lost connection, from and to."""


class Tablet:
    """Sends one command at a time."""

    def __init__(self, stage: Stage, name: str) -> None:
        self.name = name
        self._stage = stage
        self._connection: Connection | None = None
        self.cut_next = False
        """Break the connection right after the next command went out."""
        stage.tablets.append(self)

    async def deliver(self, sent: Sent) -> dict[str, Any] | None:
        """Sends until there is an answer that is not "try again"; None when there is none in time."""
        text = json.dumps(sent.frame)
        tallies = self._stage.history.tallies
        with trio.move_on_after(PATIENCE_S):
            while True:
                try:
                    answer = await self._ask(sent.id, text)
                except Lost:
                    tallies["lost"] += 1
                    await trio.sleep(self._stage.chance.uniform(*RETRY_S))
                    continue
                except ConfigFault as error:
                    self._stage.history.violate(f"{self.name} was turned away for good: {error}")
                    return None
                sent.answers.append(answer)
                tallies[answer["outcome"]] += 1
                if answer["outcome"] != TRY_AGAIN:
                    return answer
                tallies[f"try_again {answer['reason']}"] += 1
                await trio.sleep(answer["after_ms"] / 1000)
        return None

    async def _ask(self, id: str, text: str) -> dict[str, Any]:
        answered = False
        try:
            with trio.fail_after(ANSWER_LIMIT_S):
                if self._connection is None:
                    headers = {"Authorization": f"Bearer {self._stage.server.token}"}
                    self._connection = await connect(self._stage.nursery, self._stage.server.url, headers)
                await self._connection.send(text)
                if self.cut_next:
                    self.cut_next = False
                    raise Lost("cut on purpose")
                while True:
                    frame: dict[str, Any] = json.loads(await self._connection.receive())
                    if frame["op"] == "error":
                        self._stage.history.violate(f"{self.name} sent {text} and was answered {frame}")
                    if frame["op"] == "answer" and frame["id"] == id:
                        answered = True
                        return frame
        except trio.TooSlowError as error:
            raise Lost(f"no answer within {ANSWER_LIMIT_S:.0f} s") from error
        finally:
            if not answered:
                await self.hang_up()

    async def hang_up(self) -> None:
        """Lets go of the socket."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def close(self) -> None:
        """The tablet is put away."""
        await self.hang_up()
        self._stage.tablets.remove(self)


async def deliver_once(stage: Stage, sent: Sent) -> dict[str, Any] | None:
    """Delivers one command from a tablet of its own."""
    tablet = Tablet(stage, sent.by)
    try:
        return await tablet.deliver(sent)
    finally:
        with trio.CancelScope(shield=True):
            await tablet.close()
