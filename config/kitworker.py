"""The program of the kit's worker under the guard that workers have: `python -m config.kitworker`.

The sport's folder comes first in the path. Whatever of the guard this machine has not is left out: who
runs the kit runs code of his own. The limits are left out too: the kit holds more than a worker.
"""

import os
import sys

import msgspec

import runtime
import scorebox_contract
from runtime.worker.guard.attempts import Attempts
from runtime.worker.guard.kernel import Kernel
from runtime.worker.guard.putting_up import put_up
from sports import kit
from sports.kit.worker import Tried, main


def guard() -> Tried:
    """Puts the guard up, and narrows the path to the sport and the standard library."""
    folder = sys.path[0]
    library = os.path.dirname(os.__file__)
    standard = [path for path in sys.path if path == library or os.path.dirname(path) == library]
    host = [each for package in (runtime, scorebox_contract, kit) for each in package.__path__]
    host += [os.path.dirname(each) for each in msgspec.__path__]
    sys.path[:] = [folder, *(path for path in standard if "-packages" not in path)]
    attempts = Attempts(folder)
    put_up(Kernel(), attempts, standard=standard, host=host, folder=folder)

    def tried() -> str | None:
        attempt = attempts.take()
        if attempt is None:
            return None
        return f"the rules tried to {attempt.deed} ({attempt.what}) at {attempt.where or 'no line of theirs'}"

    return tried


if __name__ == "__main__":
    main(guard)
