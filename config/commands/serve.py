"""`scorebox serve`: run a server until SIGTERM or Ctrl-C."""

import gc

import click
import msgspec
import trio

from config.commands.address import is_taken, taken
from config.commands.options import host_option, port_option
from config.logs import configure_logs
from config.running import run
from config.server import running
from config.settings import read_settings
from config.stopping import until_told_to_stop


@click.command()
@host_option
@port_option
def serve(host: str | None, port: int | None) -> None:
    """Run a server. Settings are SCOREBOX_… variables; the options below go before them."""

    async def work() -> None:
        settings = read_settings()
        given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
        settings = msgspec.structs.replace(settings, **given)
        configure_logs(settings.log_format, settings.log_level)
        if is_taken(settings.host, settings.port):
            raise taken(settings.host, settings.port)

        async def serving() -> None:
            async with running(settings) as server:
                click.echo(f"Scorebox listens on {server.url}")
                # What stands now stands to the end. A full collection that goes over all of it holds the loop
                # for some 50 ms, and reading a long match to verify it brings one on.
                gc.collect()
                gc.freeze()
                await trio.sleep_forever()

        await until_told_to_stop(serving, settings.drain_seconds)

    run(work)
