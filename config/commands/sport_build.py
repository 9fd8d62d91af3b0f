"""`scorebox sport build`: the wheel of a sport's folder."""

import os
import tempfile
from pathlib import Path

import click

from config.logs import configure_logs
from config.running import run
from config.sportfolder import BuiltWheel, read_folder
from config.sportfolder import build as build_wheel


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where to put the wheel (FOLDER/dist).",
)
@click.option(
    "--dev", is_flag=True, help="Unreleased code: the version becomes X.Y.Z+dev.<8 signs of its hash>."
)
def build(*, folder: Path, out: Path | None, dev: bool) -> None:
    """Build the wheel of a sport's FOLDER: pure Python, no dependencies, no scripts.

    FOLDER holds pyproject.toml, one package scorebox_…, and golden matches in golden/. The manifest is made
    anew by running the sport. Equal sources give equal bytes.
    """
    configure_logs(level="error")

    async def work() -> BuiltWheel:
        return await build_wheel(read_folder(folder), dev=dev)

    wheel = run(work)
    target = out or folder / "dist"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target, prefix=".wheel-", delete=False) as file:
        file.write(wheel.data)
    os.chmod(file.name, 0o644)
    os.replace(file.name, target / wheel.name)
    click.echo(target / wheel.name)
    click.echo(f"{wheel.sport} {wheel.version}, {len(wheel.data):,} bytes", err=True)
