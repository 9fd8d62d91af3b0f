"""Commands that are set aside: each had workers killed, and would have more."""

from collections import OrderedDict

from runtime.errors import WorkerLost

PARKED_LIMIT = 64
"""Commands that had workers killed and are counted."""
PARKING_AT = 10
"""A command whose step got workers killed with this weight is refused until the state has changed."""
DIED_WEIGHT = 1
BURNT_WEIGHT = 5
BURNING_US = 10_000
"""CPU of a killed call from which its rule does not come to an end; below it the machine stood still."""

KillKey = tuple[bytes, str, bytes]
"""State hash, code and canonical input of a command that had a worker killed."""


def weight_of(lost: WorkerLost) -> int:
    """What one lost worker counts against a command: two that computed park it, or ten of the others.

    One that stood still may have been given no processor; one that died, anybody may have killed.
    """
    still = lost.cpu_us is not None and lost.cpu_us < BURNING_US
    return DIED_WEIGHT if lost.reason == "died" or still else BURNT_WEIGHT


class Parking:
    """What the commands of one match weigh."""

    def __init__(self) -> None:
        self._weights: OrderedDict[KillKey, int] = OrderedDict()

    def count(self, key: KillKey, lost: WorkerLost) -> None:
        """A worker was lost on this command."""
        self._weights[key] = self._weights.get(key, 0) + weight_of(lost)
        while len(self._weights) > PARKED_LIMIT:
            self._weights.popitem(last=False)

    def is_stuck(self, key: KillKey) -> bool:
        """Whether this command is set aside."""
        return self._weights.get(key, 0) >= PARKING_AT

    def clear(self) -> None:
        """The state has changed: on it every command begins anew."""
        self._weights.clear()
