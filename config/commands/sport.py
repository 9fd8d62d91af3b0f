"""`scorebox sport`: begin sports, build them; install, list and retire versions, move matches to them."""

import click

from config.lazy import LazyGroup, Table

SPORT_COMMANDS: Table = {
    "new": ("config.commands.sport_new", "new", "Begin a sport: a folder that builds and plays."),
    "build": ("config.commands.sport_build", "build", "Build the wheel of a sport's folder."),
    "install": (
        "config.commands.sport_install",
        "install",
        "Install a wheel; running matches go on as they are.",
    ),
    "test": ("config.commands.sport_test", "test", "Check a sport with the sport kit."),
    "list": ("config.commands.sport_versions", "list_versions", "List versions and what is pinned to them."),
    "rehearse": (
        "config.commands.sport_rehearse",
        "rehearse_command",
        "Replay stored matches on a version, and say where it parts.",
    ),
    "move": ("config.commands.sport_move", "move", "Have a match go on in another version."),
    "retire": ("config.commands.sport_versions", "retire", "Take away a version that no match needs."),
}


@click.group(cls=LazyGroup, table=SPORT_COMMANDS)
def sport() -> None:
    """Begin sports, build them; install, list and retire their versions."""
