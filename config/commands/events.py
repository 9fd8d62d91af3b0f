"""Events and their inputs as they are typed on a command line."""

from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec


class EventName(NamedTuple):
    """The seq of the row that brought an event, and its place in that row."""

    seq: int
    place: int = 0

    def __str__(self) -> str:
        return f"{self.seq}/{self.place}" if self.place else str(self.seq)


class _Event(click.ParamType[EventName]):
    name = "EVENT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> EventName:
        """ "140" or "140/1"."""
        if isinstance(value, EventName):
            return value
        seq, slash, place = str(value).partition("/")
        if not (seq.isascii() and seq.isdigit() and (not slash or (place.isascii() and place.isdigit()))):
            self.fail(f'{value!r} names no event; write "140", or "140/1"', param, ctx)
        return EventName(int(seq), int(place or 0))


class _Input(click.ParamType[dict[str, Any]]):
    name = "JSON|@FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """A JSON object, or a file of one."""
        try:
            text = Path(value[1:]).read_bytes() if value.startswith("@") else value.encode()
            found = msgspec.json.decode(text)
        except OSError as error:
            self.fail(f"{value[1:]} cannot be read: {error.strerror}", param, ctx)
        except (msgspec.DecodeError, UnicodeError) as error:
            self.fail(f"{value} is no JSON ({error})", param, ctx)
        if not isinstance(found, dict):
            self.fail("an input is a JSON object: {…}", param, ctx)
        return found


EVENT = _Event()
INPUT = _Input()
