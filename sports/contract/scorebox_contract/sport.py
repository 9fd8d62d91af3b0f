"""The protocol a sport implements, and the manifest generated from it."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from scorebox_contract.events import Command, Event, Opening
from scorebox_contract.steps import Refusal, State, Step, Summary
from scorebox_contract.version import CONTRACT_VERSION


class EventSport(Protocol):
    """Four pure functions and what describes them. A sport package exposes one as `SPORT`."""

    code: str
    """The sport's code, the first part of its commands' codes: "cricket"."""
    name: str
    version: str
    """X.Y.Z of the package."""
    opening: type[Opening]
    commands: Mapping[str, Command]
    """Every command by its code."""
    roles: Mapping[str, str]
    """Role of a line → label. A key ending in "-" names a numbered family ("partnership-")."""
    keys: Mapping[str, Mapping[str, str]]
    """Role → the keys of a line's values → label: the catalogue of line keys."""

    def initial_state(self, opening: Any) -> State:
        """The state before the first event. `opening` is an instance of the sport's opening type."""
        ...

    def check_opening(self, opening: Any) -> Refusal | None:
        """Why an opening cannot be played, or None."""
        ...

    def check(self, state: State, event: Event) -> Refusal | None:
        """The first refusal that the event does not override, or None. Reads only its arguments."""
        ...

    def step(self, state: State, event: Event) -> Step:
        """What an event that passed `check` does. Never changes `state` in place."""
        ...

    def summary(self, state: State) -> Summary:
        """The score that others compare."""
        ...


def manifest(sport: EventSport) -> dict[str, Any]:
    """The sport described as data: what the server and a tablet know without importing it."""
    return {
        "contract": CONTRACT_VERSION,
        "sport": sport.code,
        "name": sport.name,
        "version": sport.version,
        "opening": msgspec.json.schema(sport.opening),
        "commands": {
            command.code: {
                "label": command.label,
                "input": msgspec.json.schema(command.input),
                "pad": command.pad,
            }
            for command in sport.commands.values()
        },
        "roles": dict(sport.roles),
        "keys": {role: dict(keys) for role, keys in sport.keys.items()},
    }
