"""The command line `scorebox`: a group whose commands are loaded when they are called."""

import click

from config.lazy import LazyGroup, Table

COMMANDS: Table = {
    "serve": ("config.commands.serve", "serve", "Run a server."),
    "demo": ("config.commands.demo", "demo", "Serve, score a match, and show where to look."),
    "play": ("config.commands.play", "play", "Play match files on a server and check every figure."),
    "match": ("config.commands.match", "match", "List, show and correct matches; read their log."),
    "sport": ("config.commands.sport", "sport", "Build, install, list and retire versions of sports."),
    "verify": ("config.commands.verify", "verify_command", "Check matches against their logs."),
    "token": ("config.commands.token", "token", "Make and end tokens."),
    "status": ("config.commands.status", "status", "Show how a server is doing."),
    "db": ("config.commands.db", "db", "Look after the database."),
}


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="scorebox")
def main() -> None:
    """Score live sport: a server, and tools to work with it."""
