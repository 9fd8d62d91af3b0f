"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

DEFAULT_SERVER = "http://127.0.0.1:8765"

F = TypeVar("F", bound=Callable[..., Any])


def server_option(
    *, default: str | None = DEFAULT_SERVER, help: str = "Address of the server."
) -> Callable[[F], F]:
    """`--server URL`, also from SCOREBOX_SERVER."""
    return click.option(
        "--server",
        metavar="URL",
        envvar="SCOREBOX_SERVER",
        default=default,
        show_default=default is not None,
        show_envvar=True,
        help=help,
    )


token_option = click.option(
    "--token", metavar="TOKEN", envvar="SCOREBOX_TOKEN", show_envvar=True, help="Token for the server."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
host_option = click.option(
    "--host", metavar="ADDRESS", help="Address to listen on (SCOREBOX_HOST, else 127.0.0.1)."
)
port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on, 0 for a free one (SCOREBOX_PORT, else 8765).",
)
