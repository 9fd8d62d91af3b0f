"""The command line `scorebox`: a group whose commands are loaded when they are called."""

import importlib

import click

COMMANDS = {
    "serve": ("config.commands.serve", "serve", "Run a server."),
    "demo": ("config.commands.demo", "demo", "Serve, score a match, and show where to look."),
    "play": ("config.commands.play", "play", "Play match files on a server and check every figure."),
    "match": ("config.commands.match", "match", "List, show and read the log of matches."),
    "token": ("config.commands.token", "token", "Make and end tokens."),
    "status": ("config.commands.status", "status", "Show how a server is doing."),
    "db": ("config.commands.db", "db", "Look after the database."),
}
"""Name → module, attribute, and the line in the list of commands. `--help` loads none of them."""


class Commands(click.Group):
    """The group: loads a command's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="scorebox")
def main() -> None:
    """Score live sport: a server, and tools to work with it."""
