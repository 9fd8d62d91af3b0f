"""Runs a command's async part. What goes wrong becomes one sentence and an exit code, not a traceback."""

from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import click
import trio

from config.errors import ConfigFault
from runtime.errors import RuntimeFault
from sports.readers.errors import ReaderError

FAULT_EXIT_CODE = 2
"""Nothing could be said: a server away, a wrong token, a file that is no match."""
INTERRUPTED_EXIT_CODE = 130

T = TypeVar("T")
SPOKEN = (ConfigFault, RuntimeFault, ReaderError, OSError, click.ClickException)
"""Errors whose text is meant for the user; what the system says of ports, files and folders is."""


class Fault(click.ClickException):
    """An error that is one sentence."""

    exit_code = FAULT_EXIT_CODE


def run(work: Callable[[], Awaitable[T]]) -> T:
    """Runs `work` under Trio until it is done.

    Raises:
        click.ClickException: it failed with an error meant for the user.
        click.exceptions.Exit: it was interrupted.
    """
    try:
        return trio.run(work)
    except BaseException as error:
        leaves = list(_leaves(error))
        spoken = [leaf for leaf in leaves if isinstance(leaf, SPOKEN)]
        if any(isinstance(leaf, KeyboardInterrupt) for leaf in leaves):
            raise click.exceptions.Exit(INTERRUPTED_EXIT_CODE) from None
        if spoken and len(spoken) == len(leaves):
            raise as_fault(spoken[0]) from None
        raise


def as_fault(error: BaseException) -> click.ClickException:
    """An error meant for the user as click prints it."""
    return error if isinstance(error, click.ClickException) else Fault(str(error))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
