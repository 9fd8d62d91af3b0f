"""`scorebox sport install`: a wheel onto a server, or into the data folder here."""

from pathlib import Path

import click
import msgspec

from config.commands.options import json_option, server_option, token_option
from config.logs import configure_logs
from config.running import Fault, run
from config.settings import read_settings
from config.sports import reach_sports
from gateway.installing import Progress
from runtime.wheels import WHEEL_LIMIT_BYTES


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@server_option(default=None, help="Server to install on; without it the data folder here (SCOREBOX_DATA).")
@token_option
@json_option
def install(*, file: Path, server: str | None, token: str | None, as_json: bool) -> None:
    """Install the wheel FILE. Matches that run go on in the version they began in; new ones use this one.

    The wheel is looked at, run in a worker of its own, and its golden matches are played there. Only then is
    it installed. Exit code 2: it was not; one sentence says why, and nothing was changed.
    """
    configure_logs(level="error")

    async def tell(progress: Progress) -> None:
        if as_json:
            click.echo(msgspec.json.encode(progress).decode())
        else:
            counted = f"{progress.done}/{progress.of} " if progress.of else ""
            click.echo(f"{progress.step:<10}{counted}{progress.sentence}")

    if file.stat().st_size > WHEEL_LIMIT_BYTES:
        raise Fault(f"{file} is larger than {WHEEL_LIMIT_BYTES} bytes: that is no sport's wheel")
    wheel = file.read_bytes()

    async def work() -> None:
        async with reach_sports(server, token, read_settings()) as sports:
            await sports.install(wheel, tell)

    run(work)
