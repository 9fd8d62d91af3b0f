"""What `--watch` shows: the newest of something, over the last one."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live


@contextmanager
def screen(console: Console) -> Iterator[Callable[[RenderableType], None]]:
    """Shows what it is given in the place of the last one; below it where the output is no terminal."""
    if not console.is_terminal:
        yield functools.partial(console.print, soft_wrap=True)
        return
    with Live(console=console, auto_refresh=False, screen=True) as live:
        yield functools.partial(live.update, refresh=True)
