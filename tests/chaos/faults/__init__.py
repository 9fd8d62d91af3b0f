"""How each kind of fault is done: a function of the stage and its own chance.

It returns True where the fault happened, False where there was nothing it could happen to.
"""

import random
from collections.abc import Awaitable, Callable, Mapping

from tests.chaos.faults import clients, clock, corrections, database, rules, servers, versions, workers
from tests.chaos.stage import Stage

Do = Callable[[Stage, random.Random], Awaitable[bool]]

FAULTS: Mapping[str, Do] = {
    **workers.FAULTS,
    **rules.FAULTS,
    **database.FAULTS,
    **clients.FAULTS,
    **corrections.FAULTS,
    **versions.FAULTS,
    **clock.FAULTS,
    **servers.FAULTS,
}
"""By the name of the kind."""
