"""The rogue sport itself."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from types import MappingProxyType
from typing import Any

from scorebox_contract import (
    Caution,
    Command,
    Event,
    Joined,
    Line,
    Opening,
    Refusal,
    Result,
    SideScore,
    State,
    Step,
    Summary,
)
from scorebox_rogue.commands import COMMANDS, Add, Misbehave, Probe, RogueOpening
from scorebox_rogue.misdeeds import PLAIN

TOTAL_MOST = 1000


class Rogue:
    code = "rogue"
    name = "Rogue"
    version = "1.0.0"
    opening: type[Opening] = RogueOpening
    commands: Mapping[str, Command] = COMMANDS
    roles: Mapping[str, str] = MappingProxyType({"player": "Player"})
    keys: Mapping[str, Mapping[str, str]] = MappingProxyType({"player": {"points": "Points"}})

    def check_opening(self, opening: RogueOpening) -> Refusal | None:
        if len(opening.sides) != 2:
            return Refusal("two_sides", "A match has two sides.", field="sides")
        return None

    def initial_state(self, opening: RogueOpening) -> State:
        return {
            "total": 0,
            "events": 0,
            "padding": "x" * opening.padding,
            "sides": [side.key for side in opening.sides],
        }

    def check(self, state: State, event: Event) -> Refusal | None:
        value = event.input
        if isinstance(value, Misbehave) and value.in_check:
            PLAIN[value.misdeed](value.amount)
        if (
            isinstance(value, Add)
            and state["total"] + value.amount > TOTAL_MOST
            and "too_much" not in event.override
        ):
            return Refusal(
                "too_much", f"The total cannot pass {TOTAL_MOST}.", field="amount", overridable=True
            )
        return None

    def step(self, state: State, event: Event) -> Step:
        value = event.input
        if isinstance(value, Misbehave) and not value.in_check:
            return self._misbehave(state, value)
        if isinstance(value, Probe):
            return Step(state, emits=tuple(probe(value.what, value.names)))
        amount = value.amount if isinstance(value, Add) else 0
        new = {**state, "total": state["total"] + amount, "events": state["events"] + 1}
        side = state["sides"][0]
        return Step(
            new,
            lines=(Line(side, "player", "all", {"points": new["total"], "events": new["events"]}),),
            emits=("added",),
            warnings=(Caution("nothing", "Nothing was added.", "amount"),) if not amount else (),
            joined=(Joined(side, value.note, value.note.title()),)
            if isinstance(value, Add) and value.note
            else (),
        )

    def summary(self, state: State) -> Summary:
        over = state["total"] >= TOTAL_MOST
        return Summary(
            "over" if over else "play",
            tuple(SideScore(side, str(state["total"])) for side in state["sides"]),
            Result("won", "It is done.", state["sides"][0]) if over else None,
        )

    def _misbehave(self, state: State, value: Misbehave) -> Step:
        if value.misdeed in PLAIN:
            with suppress(Exception) if value.hidden else nullcontext():
                PLAIN[value.misdeed](value.amount)
            return Step(state, emits=("survived",))
        match value.misdeed:
            case "huge_reply":
                return Step(state, lines=(Line("a", "player", "all", {"text": "x" * value.amount}),))
            case "huge_state":
                return Step({**state, "padding": "x" * 20_000})
            case "state_is_a_list":
                return Step([1])  # type: ignore[arg-type]
            case "emit_a_number":
                return Step(state, emits=(1,))  # type: ignore[arg-type]
            case "mutate":
                state["total"] += 1
                return Step(state)
            case other:
                raise LookupError(f"no misdeed {other}")


def probe(what: str, names: tuple[str, ...] = ()) -> list[str]:
    """Facts about the process, as texts."""
    if what == "standard_library":
        return [name for name in names if _can_import(name)]
    if what == "pure":
        return list(pure())
    if what == "imports":
        return [
            name
            for name in ("runtime.pool", "runtime.errors", "trio", "gateway", "psutil")
            if _can_import(name)
        ]
    facts: dict[str, Any] = {
        "seed": hash("scorebox"),
        "environment": sorted(os.environ),
        "path": sys.path,
        "group": os.getpgid(0) == os.getpid(),
        "files": _files(),
    }
    return [f"{name}={value}" for name, value in facts.items()]


def pure() -> Iterator[str]:
    """What looks like clock and chance, and follows from its arguments alone."""
    import time
    from collections import namedtuple
    from datetime import date, datetime
    from random import Random

    yield str(datetime.strptime("30.11.2026", "%d.%m.%Y").date())
    yield time.strftime("%Y-%m-%d", time.gmtime(0))
    chance = Random(7)
    yield str([chance.randrange(10) for _ in range(3)])
    point = namedtuple("point", "x y")
    yield str(point(1, 2))
    yield str(date.fromisoformat("2026-11-30"))


def _can_import(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def _files() -> list[str]:
    """What lies in the working folder, which is gone: nothing can be made in it."""
    return [] if os.stat(".").st_nlink == 0 else ["the folder is still there"]


SPORT = Rogue()
