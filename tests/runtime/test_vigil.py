"""While one piece of work is under way, and nothing else, the loop does not sleep."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
import trio.testing

from runtime.processors import Processors
from runtime.vigil import Vigil

MOST_S = 3.0


class Looks(trio.abc.Instrument):
    """Wakes its task once the loop has looked for events so many times without being ready to wait."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.slept = False
        self.done = trio.Event()

    def before_io_wait(self, timeout: float) -> None:
        self.slept |= timeout > 0
        self.left -= 1
        if self.slept or self.left <= 0:
            self.done.set()


async def sleeps() -> bool:
    """Whether the loop is ready to wait when nobody has anything to do for now."""
    looks = Looks(20)
    trio.lowlevel.add_instrument(looks)
    # What wakes it otherwise, for the loop may have gone to sleep for good.
    with trio.move_on_after(0.01):
        await looks.done.wait()
    trio.lowlevel.remove_instrument(looks)
    return looks.slept


class Room(Processors):
    """Processors as they are said to be."""

    full = False

    @property
    def crowded(self) -> bool:
        return self.full


@asynccontextmanager
async def keeping(most_s: float = MOST_S, processors: Processors | None = None) -> AsyncIterator[Vigil]:
    vigil = Vigil(most_s, processors or Room())
    async with trio.open_nursery() as nursery:
        await nursery.start(vigil.run)
        yield vigil
        nursery.cancel_scope.cancel()


async def test_the_loop_sleeps_where_nothing_is_under_way():
    async with keeping() as vigil:
        assert not vigil.kept
        assert await sleeps()


async def test_the_loop_stays_awake_over_one_piece_of_work():
    async with keeping() as vigil:
        for _ in range(2):
            with vigil:
                assert vigil.kept
                assert not await sleeps()
            assert await sleeps()


async def test_with_two_there_is_no_vigil_until_another_is_alone():
    async with keeping() as vigil:
        with vigil, vigil:
            assert await sleeps()
        with vigil:
            assert not await sleeps()
            with vigil:
                assert await sleeps()
        with vigil:
            assert not await sleeps()


async def test_a_vigil_ends_where_the_work_takes_too_long():
    async with keeping(most_s=0.001) as vigil:
        with vigil:
            while vigil.kept:
                await trio.lowlevel.checkpoint()
            assert await sleeps()


async def test_a_vigil_of_no_time_is_none():
    async with keeping(most_s=0.0) as vigil:
        with vigil:
            assert not vigil.kept
            assert await sleeps()


async def test_work_that_fails_ends_its_vigil():
    async with keeping() as vigil:
        try:
            with vigil:
                raise LookupError
        except LookupError:
            pass
        assert await sleeps()


async def test_nobody_is_kept_from_a_processor():
    room = Room()
    async with keeping(processors=room) as vigil:
        with vigil:
            assert not await sleeps()
            room.full = True
            assert await sleeps()
        with vigil:
            assert await sleeps()
        room.full = False
        with vigil:
            assert not await sleeps()
