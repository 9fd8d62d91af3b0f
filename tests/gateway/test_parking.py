"""When a command that has workers killed is set aside."""

from gateway.parking import BURNING_US, PARKED_LIMIT, KillKey, Parking
from runtime.errors import WorkerLost

KEY: KillKey = (b"state", "duel.point", b"{}")
BURNT = WorkerLost("deadline", cpu_us=BURNING_US)
STOOD_STILL = WorkerLost("deadline", cpu_us=BURNING_US - 1)
DIED = WorkerLost("died", cpu_us=BURNING_US)


def losses_until_stuck(lost: WorkerLost) -> int:
    parking = Parking()
    for number in range(1, 100):
        parking.count(KEY, lost)
        if parking.is_stuck(KEY):
            return number
    raise AssertionError("it is never set aside")


def test_two_workers_that_computed_set_a_command_aside() -> None:
    assert losses_until_stuck(BURNT) == 2


def test_what_may_be_no_fault_of_the_command_takes_ten() -> None:
    assert losses_until_stuck(STOOD_STILL) == 10
    assert losses_until_stuck(DIED) == 10


def test_only_the_same_command_on_the_same_state_is_set_aside() -> None:
    parking = Parking()
    parking.count(KEY, BURNT)
    parking.count(KEY, BURNT)
    assert not parking.is_stuck((b"other", *KEY[1:]))
    assert not parking.is_stuck((*KEY[:2], b"[]"))
    parking.clear()
    assert not parking.is_stuck(KEY)


def test_no_more_than_the_newest_commands_are_counted() -> None:
    parking = Parking()
    for number in range(PARKED_LIMIT + 1):
        for _ in range(2):
            parking.count((b"%d" % number, *KEY[1:]), BURNT)
    stuck = [parking.is_stuck((b"%d" % number, *KEY[1:])) for number in range(PARKED_LIMIT + 1)]
    assert stuck == [False] + [True] * PARKED_LIMIT
