"""What happens when: a schedule of faults from a seed. Pure."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.chaos.kinds import KINDS, Kind, Lane

DATABASE_ENDS_GAP_S = 13.0
"""Between two faults that end postgres: its keeper starts it five times a minute, then lets it rest."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two faults of a lane, on average."""

    light_s: float
    heavy_s: float


LONG = Pace(light_s=0.85, heavy_s=7.0)
"""More than 500 faults in ten minutes."""
SHORT = Pace(light_s=0.42, heavy_s=3.5)
"""Every light kind within twenty seconds."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a schedule: not before `at_s` seconds; `seed` decides everything else about it."""

    at_s: float
    kind: Kind
    seed: int


def plan(seed: int, seconds: float, pace: Pace = LONG, kinds: Sequence[Kind] = KINDS) -> list[Fault]:
    """All faults of a run in the order of their time. The same arguments give the same schedule."""
    faults = [
        *_lane("light", seed, seconds, pace.light_s, kinds),
        *_lane("heavy", seed, seconds, pace.heavy_s, kinds),
    ]
    return sorted(faults, key=lambda fault: fault.at_s)


def _lane(lane: Lane, seed: int, seconds: float, gap_s: float, kinds: Sequence[Kind]) -> Iterator[Fault]:
    chance = random.Random(f"{seed} {lane}")
    deck = _decks(chance, [kind for kind in kinds if kind.lane == lane])
    now, database_ended_at = 0.0, -DATABASE_ENDS_GAP_S
    for kind in deck:
        now += chance.uniform(0.5, 1.5) * gap_s
        if kind.ends_database:
            now = max(now, database_ended_at + DATABASE_ENDS_GAP_S)
            database_ended_at = now
        if now >= seconds:
            return
        yield Fault(now, kind, chance.getrandbits(32))


def _decks(chance: random.Random, kinds: Sequence[Kind]) -> Iterator[Kind]:
    """Kinds for ever, shuffled as cards: each comes once before any comes twice."""
    while kinds:
        yield from chance.sample(kinds, len(kinds))
