"""Actors: one message after another, bounded mailboxes, answers to everybody who waits."""

import pytest
import trio
import trio.testing

from runtime.actor import Actor
from runtime.errors import ActorStopped, AskDeadline, MailboxFull


class Expected(Exception):
    pass


class Counter(Actor[str]):
    expected = (Expected,)

    def __init__(self, limit: int = 8) -> None:
        super().__init__("counter", limit=limit)
        self.seen: list[str] = []
        self.gate = trio.Event()
        self.gate.set()
        self.entered = trio.Event()
        self.closed = False

    async def receive(self, message: str) -> int:
        self.entered.set()
        await self.gate.wait()
        if message == "expected":
            raise Expected("no")
        if message == "bug":
            raise ZeroDivisionError
        self.seen.append(message)
        return len(self.seen)

    async def close(self) -> None:
        await trio.lowlevel.checkpoint()
        self.closed = True


async def test_answers_in_order(nursery):
    actor = Counter()
    nursery.start_soon(actor.run)
    assert [await actor.ask(text, deadline_s=5) for text in "abc"] == [1, 2, 3]
    assert actor.seen == ["a", "b", "c"]
    assert actor.statistics().handled == 3
    actor.stop()


async def test_full_mailbox_says_so_and_keeps_what_it_has(nursery):
    actor = Counter(limit=2)
    actor.gate = trio.Event()
    nursery.start_soon(actor.run)
    actor.tell("first")
    await actor.entered.wait()
    actor.tell("second")
    actor.tell("third")
    with pytest.raises(MailboxFull):
        actor.tell("fourth")
    actor.gate.set()
    await trio.testing.wait_all_tasks_blocked()
    assert await actor.ask("last", deadline_s=5) == 4
    assert actor.seen == ["first", "second", "third", "last"]
    assert actor.statistics().waiting_peak == 2
    actor.stop()


async def test_expected_error_reaches_the_asker_and_the_actor_goes_on(nursery):
    actor = Counter()
    nursery.start_soon(actor.run)
    with pytest.raises(Expected):
        await actor.ask("expected", deadline_s=5)
    assert await actor.ask("a", deadline_s=5) == 1
    actor.stop()


async def test_messages_that_wait_in_a_dying_actor_are_answered():
    actor = Counter()
    actor.gate = trio.Event()
    answers: list[str] = []

    async def ask(text: str) -> None:
        with pytest.raises(ActorStopped):
            await actor.ask(text, deadline_s=5)
        answers.append(text)

    async def run() -> None:
        with pytest.raises(ZeroDivisionError):
            await actor.run()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        nursery.start_soon(ask, "bug")
        await actor.entered.wait()
        nursery.start_soon(ask, "behind it")
        await trio.testing.wait_all_tasks_blocked()
        actor.gate.set()
    assert sorted(answers) == ["behind it", "bug"]
    assert actor.closed
    with pytest.raises(ActorStopped):
        actor.tell("late")


async def test_cancelled_actor_answers_and_closes():
    actor = Counter()
    actor.gate = trio.Event()
    failed = trio.Event()

    async def ask() -> None:
        with pytest.raises(ActorStopped):
            await actor.ask("held", deadline_s=5)
        failed.set()

    async with trio.open_nursery() as outer:
        outer.start_soon(ask)
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(actor.run)
                await actor.entered.wait()
                scope.cancel()
        await failed.wait()
    assert actor.closed


async def test_who_waits_too_long_is_told_and_what_is_being_handled_goes_on(nursery, autojump_clock):
    actor = Counter()
    actor.gate = trio.Event()
    late: list[str] = []

    async def ask(text: str) -> None:
        with pytest.raises(AskDeadline):
            await actor.ask(text, deadline_s=1)
        late.append(text)

    nursery.start_soon(actor.run)
    nursery.start_soon(ask, "in hand")
    await actor.entered.wait()
    nursery.start_soon(ask, "waiting")
    await trio.testing.wait_all_tasks_blocked()
    actor.expire(trio.current_time())
    assert late == []
    actor.expire(trio.current_time() + 2)
    await trio.testing.wait_all_tasks_blocked()
    assert sorted(late) == ["in hand", "waiting"]
    actor.gate.set()
    assert await actor.ask("next", deadline_s=1) == 2
    assert actor.seen == ["in hand", "next"]
    actor.stop()


async def test_stop_ends_after_what_waits(nursery):
    actor = Counter()
    actor.tell("a")
    actor.tell("b")
    actor.stop()
    await actor.run()
    assert actor.seen == ["a", "b"]
    assert actor.closed
