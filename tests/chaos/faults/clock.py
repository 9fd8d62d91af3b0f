"""The time of the day jumps under the server."""

import random

from tests.chaos.stage import Stage

JUMPS_S = (-86_400.0, -3_600.0, -30.0, -1.0, 0.0, 1.0, 30.0, 3_600.0, 86_400.0, 400 * 86_400.0)
"""What the clock is off by after a jump."""


async def jumped(stage: Stage, chance: random.Random) -> bool:
    """Off by something else than before."""
    before = stage.server.clock.read_text() if stage.server.clock.exists() else "0"
    others = [jump for jump in JUMPS_S if str(jump) != before]
    stage.server.clock.write_text(str(chance.choice(others)))
    return True


FAULTS = {"clock jumped": jumped}
