"""How much of the guard stands, as one word. Read by the server too."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

Layer = Literal["limits", "audit", "seccomp", "landlock"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
"""From the first to the last that is put up."""

Level = Literal["none", "limits", "audit", "seccomp", "full"]
"""Each has what the ones before it have; seccomp and full are the kernel's doing."""
LEVELS: tuple[Level, ...] = get_args(Level)


class Report(NamedTuple):
    """What a worker found of its own guard once it stood."""

    level: Level
    lacks: tuple[str, ...] = ()
    """Why it is not more: a sentence for each layer that is missing."""


def report(missing: Mapping[Layer, str]) -> Report:
    """The level without the missing layers (layer → why): a layer counts only with all before it."""
    reached = 0
    while reached < len(LAYERS) and LAYERS[reached] not in missing:
        reached += 1
    return Report(LEVELS[reached], tuple(f"{layer}: {why}" for layer, why in missing.items()))


def is_below(level: str, minimum: Level) -> bool:
    """Whether a worker of this level may not run code that needs `minimum`; an unknown level is below any."""
    return level not in LEVELS or LEVELS.index(level) < LEVELS.index(minimum)


def too_weak(found: Report, minimum: Level) -> str:
    """The sentence on a worker that may not run the code it was started for."""
    lacks = "; ".join(found.lacks) or "nothing is known of what it lacks"
    return (
        f"the guard of workers reaches the level {found.level} on this machine, this code needs {minimum} "
        f"({lacks}); run on a kernel that has it, or set SCOREBOX_MINIMUM_GUARD_LEVEL={found.level} "
        "(for sports that come with the application: SCOREBOX_MINIMUM_GUARD_LEVEL_BUNDLED) if you trust it"
    )
