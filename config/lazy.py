"""A group of commands that are loaded when they are called."""

import importlib
from collections.abc import Mapping
from typing import Any

import click

Table = Mapping[str, tuple[str, str, str]]
"""Name → module, attribute, and the line in the list of commands. `--help` loads none of them."""


class LazyGroup(click.Group):
    """Loads a command's module only when it is called."""

    def __init__(self, *args: Any, table: Table, **options: Any) -> None:
        super().__init__(*args, **options)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded."""
        if cmd_name not in self._table:
            return None
        module, attribute, _ = self._table[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in self._table.items()])
