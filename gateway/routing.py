"""A route: where a request goes."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from quart import Response

View = Callable[..., Awaitable[Response | str]]


class Route(NamedTuple):
    """One route of the application."""

    rule: str
    """The path, with its variable parts as werkzeug writes them."""
    method: str
    view: View
