"""Nurseries that are nobody's business but ours."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def sole_error() -> Iterator[None]:
    """Let the one error that ended a block through as itself, without the groups of nurseries around it.

    For context managers whose nursery is an inner matter: who raises KeyError in the block catches KeyError.
    Several errors at once stay a group.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        raise error from error.__cause__
