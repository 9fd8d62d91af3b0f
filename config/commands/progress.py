"""A bar on standard error for what takes a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress_of(doing: str, total: int, what: str) -> Iterator[Callable[[int], None]]:
    """A bar of `total` things while standard error is a terminal. Yields what is told of those done."""
    console = Console(stderr=True)
    with Progress(
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(what),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda done: progress.advance(task, done)
