"""`scorebox demo`: a server, a real match scored on it ball by ball, and where to look."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
import trio
from rich.console import Console

from config.client import Client, open_client
from config.commands.address import is_taken, taken
from config.commands.options import host_option, port_option
from config.commands.play import DIFFERENCE_EXIT_CODE, Speed
from config.demoreport import DemoReport, Tell, match_page
from config.golden import demo_match, play_golden
from config.logs import configure_logs
from config.playing import Played
from config.running import INTERRUPTED_EXIT_CODE, run
from config.settings import Settings, read_settings
from config.stopping import until_told_to_stop
from config.temporary import temporary_data_folder
from gateway.auth import Role
from gateway.protocol import Created, DocumentFrame
from runtime.groups import sole_error

if TYPE_CHECKING:
    from config.server import Server

ACCOUNT = "demo"
ANY_PORT = 0
PORT_VARIABLE = "SCOREBOX_PORT"
LOG_LEVEL = "warning"
"""A newcomer reads what the demo says; the log only where something is wrong."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the demo is to do. `port_given` when somebody wants that port and no other."""

    settings: Settings
    port_given: bool
    per_second: float | None
    leave: bool


@click.command()
@click.option(
    "--speed",
    type=Speed(),
    default="max",
    show_default=True,
    help="Deliveries a second; with 1 or 2 it looks live on the match's page.",
)
@click.option("--exit", "leave", is_flag=True, help="End after the match; exit code 1 if a figure differs.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the data in this folder (SCOREBOX_DATA, else a temporary one).",
)
@host_option
@port_option
def demo(*, speed: float | None, leave: bool, data: Path | None, host: str | None, port: int | None) -> None:
    """Serve, score a real match ball by ball, and print the addresses to open. Ctrl-C ends it."""

    async def work() -> int:
        given = {"host": host, "port": port, "data": data}
        chosen = {name: value for name, value in given.items() if value is not None}
        settings = msgspec.structs.replace(read_settings(), **chosen)
        configure_logs(settings.log_format, LOG_LEVEL)
        port_given = port is not None or bool(os.environ.get(PORT_VARIABLE))
        return await _play_and_stay(Asked(settings, port_given, speed, leave))

    raise click.exceptions.Exit(run(work))


async def _play_and_stay(asked: Asked) -> int:
    """The demo until it is through, or told to stop; the exit code."""
    report = DemoReport(Console(highlight=False, soft_wrap=True))
    demo = Demo(asked, report)
    with sole_error():
        await until_told_to_stop(demo.run, asked.settings.drain_seconds, report.stopping)
    return demo.exit_code


class Demo:
    """One demo from start to stop. Its exit code is that of an interruption until the match is through."""

    def __init__(self, asked: Asked, report: DemoReport) -> None:
        self._asked = asked
        self._report = report
        self._match = demo_match()
        self.exit_code = INTERRUPTED_EXIT_CODE

    async def run(self) -> None:
        """Everything; stays until it is cancelled unless told to leave."""
        with _data_folder(self._asked.settings) as settings:
            async with self._server(settings) as server:
                played, seq = await self._play(server)
                self.exit_code = DIFFERENCE_EXIT_CODE if played.differences else 0
                self._report.played(played)
                token = await server.make_token(Role.SCORER, ACCOUNT)
                self._report.addresses(server.url, played, seq, token)
                if self._asked.leave:
                    self._report.leaving()
                else:
                    self._report.staying(self._asked.settings.data)
                    await trio.sleep_forever()

    @asynccontextmanager
    async def _server(self, settings: Settings) -> AsyncIterator["Server"]:
        from config.server import running  # the whole server: loaded only where it is started

        if is_taken(settings.host, settings.port):
            if self._asked.port_given:
                raise taken(settings.host, settings.port)
            self._report.say(f"Port {settings.port} is taken, so the demo takes a free one.")
            settings = msgspec.structs.replace(settings, port=ANY_PORT)
        async with AsyncExitStack() as stack:
            with self._report.waiting("Starting a server and its database …"):
                server = await stack.enter_async_context(running(settings))
            yield server

    async def _play(self, server: "Server") -> tuple[Played, int]:
        """The match as it was played, and the newest seq of its log."""
        token = await server.make_token(Role.OPERATOR, ACCOUNT)
        self._report.serving(server.url)
        match, per_second = self._match, self._asked.per_second
        async with open_client(server.url, token, device=ACCOUNT) as client, trio.open_nursery() as nursery:
            with self._report.scoring(match.deliveries) as (advance, tell):

                def begun(created: Created) -> None:
                    page = match_page(server.url, created.code)
                    self._report.begins(match.name, match.deliveries, page, per_second)
                    if self._report.live:
                        nursery.start_soon(_follow, client, created.match, tell)

                played = await play_golden(
                    client, match, created=begun, per_second=per_second, advance=advance
                )
            seq = (await client.document(played.match))["seq"]
            nursery.cancel_scope.cancel()
        return played, seq


async def _follow(client: Client, match: str, tell: Tell) -> None:
    """Tells every head of a match as it changes."""
    async with aclosing(client.watch(match)) as frames:
        async for frame in frames:
            tell(frame.document["head"] if isinstance(frame, DocumentFrame) else frame.head)


@contextmanager
def _data_folder(settings: Settings) -> Iterator[Settings]:
    """The settings with a data folder: the one they name, else a temporary one that is gone afterwards."""
    if settings.data is not None:
        yield settings
        return
    with temporary_data_folder() as data:
        yield msgspec.structs.replace(settings, data=data)
