"""The line for a worker: first come, first served."""

import pytest
import trio
import trio.testing

from runtime.errors import PoolClosed
from runtime.waiting import Priority, WaitingLine


async def in_line(
    line: WaitingLine[str], names: list[tuple[Priority, str]], nursery: trio.Nursery
) -> dict[str, str]:
    served: dict[str, str] = {}

    async def wait(priority: Priority, name: str) -> None:
        served[name] = await line.wait(priority)

    for priority, name in names:
        nursery.start_soon(wait, priority, name)
        await trio.testing.wait_all_tasks_blocked()
    return served


async def test_first_come_first_served(nursery):
    line: WaitingLine[str] = WaitingLine()
    served = await in_line(line, [("live", "ann"), ("background", "ben"), ("live", "cid")], nursery)
    assert (line.count("live"), line.count("background"), line.total) == (2, 1, 3)
    for place in ("first", "second"):
        line.hand_over("live", place)
    line.hand_over("background", "third")
    await trio.testing.wait_all_tasks_blocked()
    assert served == {"ann": "first", "cid": "second", "ben": "third"}
    assert line.total == 0


async def test_a_cancelled_one_leaves_the_line(nursery):
    line: WaitingLine[str] = WaitingLine()
    with trio.move_on_after(0):
        await line.wait("live")
    assert line.total == 0
    served = await in_line(line, [("live", "ann")], nursery)
    line.hand_over("live", "first")
    await trio.testing.wait_all_tasks_blocked()
    assert served == {"ann": "first"}


async def test_what_was_handed_over_arrives_though_cancelled_meanwhile(nursery):
    line: WaitingLine[str] = WaitingLine()
    got: list[str] = []
    scope = trio.CancelScope()

    async def wait() -> None:
        with scope:
            got.append(await line.wait("live"))

    nursery.start_soon(wait)
    await trio.testing.wait_all_tasks_blocked()
    line.hand_over("live", "worker")
    scope.cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert got == ["worker"]


async def test_everybody_is_sent_away_with_an_error_of_their_own(nursery):
    line: WaitingLine[str] = WaitingLine()
    errors: list[Exception] = []

    async def wait(priority: Priority) -> None:
        with pytest.raises(PoolClosed) as caught:
            await line.wait(priority)
        errors.append(caught.value)

    for priority in ("live", "background", "live"):
        nursery.start_soon(wait, priority)
    await trio.testing.wait_all_tasks_blocked()
    line.send_away(PoolClosed, "stopping")
    await trio.testing.wait_all_tasks_blocked()
    assert len({id(error) for error in errors}) == 3


async def test_the_longest_wait(autojump_clock, nursery):
    # The seconds below pass on a mock clock, at once.
    line: WaitingLine[str] = WaitingLine()
    assert line.longest_wait_s("live", trio.current_time()) == 0.0
    await in_line(line, [("live", "ann")], nursery)
    await trio.sleep(2)
    await in_line(line, [("live", "ben")], nursery)
    await trio.sleep(3)
    assert line.longest_wait_s("live", trio.current_time()) == pytest.approx(5.0)
    nursery.cancel_scope.cancel()
