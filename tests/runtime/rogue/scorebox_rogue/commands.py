"""What the rogue sport can be told."""

from typing import Annotated, Literal

from scorebox_contract import Command, Input, Meta, Opening


class RogueOpening(Opening, frozen=True, kw_only=True):
    """An opening; `padding` makes the state as big as a test needs it."""

    padding: Annotated[int, Meta(ge=0, le=20_000)] = 0


class Part(Input, frozen=True, kw_only=True):
    """Something nested, for paths in refusals."""

    kind: Literal["small", "large"]


class Add(Input, frozen=True, kw_only=True):
    """Adds to the total; the honest command."""

    amount: Annotated[int, Meta(ge=0, le=100)]
    parts: Annotated[tuple[Part, ...], Meta(max_length=2)] = ()
    note: Annotated[str, Meta(max_length=10)] = ""


class Probe(Input, frozen=True, kw_only=True):
    """Reports what the worker's surroundings look like."""

    what: Literal["surroundings", "imports", "standard_library", "pure"]
    names: tuple[str, ...] = ()


class Misbehave(Input, frozen=True, kw_only=True):
    """Does the misdeed (a name in `misdeeds` or `sport`) in `step`, or in `check`.

    `hidden` swallows whatever comes of it.
    """

    misdeed: Annotated[str, Meta(max_length=40)]
    amount: int = 0
    in_check: bool = False
    hidden: bool = False


COMMANDS = {
    command.code: command
    for command in (
        Command("rogue.add", Add, "Add", {}),
        Command("rogue.probe", Probe, "Probe", {}),
        Command("rogue.misbehave", Misbehave, "Misbehave", {}),
    )
}
