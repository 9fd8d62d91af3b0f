"""The sports that are simulated: what is played in them, and as what their workers answer."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from random import Random
from typing import Any

import scorebox_duel

import scorebox_table_tennis
from runtime.versions import SportVersion, VersionStore
from runtime.worker.guard.attempts import Attempts
from runtime.worker.guard.level import Report
from runtime.worker.ops import Operations

SIDES = ("A", "B")
PLAYERS = ("ann", "bob", "eve")
"""Who may join: few, so that one who was taken back with his event joins again."""

Command = tuple[str, dict[str, Any]]
"""Code and input."""


@dataclass(frozen=True, slots=True)
class Game:
    """One sport as it is played here."""

    version: SportVersion
    name: str
    opening: dict[str, Any]
    play: Callable[[Random], Command]
    """An event of the sport; most fit."""
    wrong: tuple[Command, ...]
    """What the sport refuses, or fails on."""


def _duel(random: Random) -> Command:
    side = random.choice(SIDES)
    if random.random() < 0.2:
        return "duel.steal", {"side": side, "points": random.randint(1, 5)}
    given: dict[str, Any] = {"side": side, "points": random.randint(0, 5)}
    if random.random() < 0.15:
        given["note"] = random.choice(PLAYERS)
    return "duel.score", given


def _table_tennis(random: Random) -> Command:
    side, draw = random.choice(SIDES), random.random()
    if draw < 0.8:
        return "table_tennis.point", {"winner": side}
    if draw < 0.9:
        return "table_tennis.let", {}
    if draw < 0.95:
        return "table_tennis.time_out", {"side": side}
    return "table_tennis.card", {"side": side, "kind": "yellow"}


@cache
def games() -> tuple[VersionStore, Game, Game]:
    """The sports, installed once for the process: the small one, and a real one."""
    folder = tempfile.TemporaryDirectory(prefix="scorebox-simulation-", ignore_cleanup_errors=True)
    # At the end of a process, also of one that multiprocessing started, which knows no atexit.
    Finalize(None, folder.cleanup, exitpriority=0)
    store = VersionStore(Path(folder.name))
    sides = [
        {"key": key, "name": f"Side {key}", "players": [{"key": f"{key}1", "name": f"Player {key}"}]}
        for key in SIDES
    ]
    opening = {"sides": sides, "first_day": "2026-01-01"}
    duel = Game(
        _installed(store, scorebox_duel),
        "Duel",
        opening,
        _duel,
        (("duel.blunder", {}), ("duel.score", {"side": "A", "points": 10}), ("duel.nothing", {})),
    )
    table_tennis = Game(
        _installed(store, scorebox_table_tennis),
        "Table tennis",
        {**opening, "format": {"name": "Cup", "games": 3}},
        _table_tennis,
        (("table_tennis.point", {"winner": "C"}), ("table_tennis.nothing", {})),
    )
    return store, duel, table_tennis


def _installed(store: VersionStore, package: Any) -> SportVersion:
    folder = Path(package.__file__).parent
    return store.install_folder(folder, package.SPORT.code, package.SPORT.version)


@cache
def operations() -> dict[str, Operations]:
    """What workers do, by the code_sha they are started with."""
    _, duel, table_tennis = games()
    return {
        game.version.code_sha: Operations(
            package.SPORT,
            code_sha=game.version.code_sha,
            report=Report("full"),
            attempts=Attempts("/nowhere"),
        )
        for game, package in ((duel, scorebox_duel), (table_tennis, scorebox_table_tennis))
    }
