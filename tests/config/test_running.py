"""What goes wrong in a command becomes a sentence; what is a fault of ours stays a traceback."""

import click
import pytest
import trio

from config.errors import Unreachable
from config.running import FAULT_EXIT_CODE, INTERRUPTED_EXIT_CODE, run
from runtime.errors import DataFolderBusy
from sports.readers.errors import NotThisFormat


def test_the_result_comes_back():
    async def work():
        await trio.lowlevel.checkpoint()
        return 7

    assert run(work) == 7


@pytest.mark.parametrize(
    "error",
    [Unreachable("nobody there"), DataFolderBusy("in use"), NotThisFormat("f", "p", "a"), OSError("no port")],
)
@pytest.mark.parametrize("nested", [False, True])
def test_an_error_for_the_user_is_a_sentence(error: Exception, nested: bool):
    async def fail():
        raise error

    async def work():
        if not nested:
            await fail()
        async with trio.open_nursery() as outer, trio.open_nursery() as inner:
            inner.start_soon(fail)
            outer.start_soon(trio.sleep_forever)

    with pytest.raises(click.ClickException) as caught:
        run(work)
    assert caught.value.message == str(error)
    assert caught.value.exit_code == FAULT_EXIT_CODE


def test_a_fault_of_ours_keeps_its_traceback():
    async def work():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise KeyError("a bug")

    with pytest.raises(ExceptionGroup) as caught:
        run(work)
    assert caught.group_contains(KeyError)


def test_an_interrupt_ends_quietly():
    async def work():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise KeyboardInterrupt

    with pytest.raises(click.exceptions.Exit) as caught:
        run(work)
    assert caught.value.exit_code == INTERRUPTED_EXIT_CODE
