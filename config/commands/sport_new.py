"""`scorebox sport new`: the folder of a new sport."""

from pathlib import Path

import click

from config.errors import BadSportFolder
from config.newsport import write_new
from config.running import as_fault


@click.command()
@click.argument("code")
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--name", help="As people read it (default: made of the code).")
def new(*, code: str, folder: Path | None, name: str | None) -> None:
    """Begin a sport: a FOLDER (default: the code) with a small game that builds, is tested and plays.

    CODE is the sport's code, a word in small letters: table_tennis.
    """
    target = folder or Path(code)
    try:
        written = write_new(target, code, name or code.replace("_", " ").capitalize())
    except BadSportFolder as error:
        raise as_fault(error) from None
    for path in written:
        click.echo(path)
    click.echo(f"test it with: scorebox sport test {target}", err=True)
