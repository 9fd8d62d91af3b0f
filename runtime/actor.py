"""An actor: a Trio task with a bounded mailbox that handles one message after another.

Nobody but the actor touches its data, so it needs no locks. `ask` waits for the answer, `tell` does
not. A full mailbox says so at once; it never grows. A message that waits in an actor that ends is
answered with `ActorStopped`, never dropped.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import trio

from runtime.errors import ActorStopped, AskDeadline, MailboxFull

MAILBOX_LIMIT_MESSAGES = 256
CLOSE_DEADLINE_S = 5.0
"""How long an actor may take to let go of what it holds."""

M = TypeVar("M")


class _Letter(Generic[M]):
    """A message and, where somebody waits, the place for its answer. Only the first answer counts."""

    __slots__ = ("answered", "done", "error", "expires_at", "message", "value")

    def __init__(self, message: M, done: trio.Event | None, expires_at: float) -> None:
        self.message = message
        self.done = done
        self.expires_at = expires_at
        self.answered = False
        self.value: Any = None
        self.error: Exception | None = None

    def answer(self, value: Any) -> None:
        if not self.answered:
            self.value = value
            self._settle()

    def fail(self, error: Exception) -> None:
        if not self.answered:
            self.error = error
            self._settle()

    def _settle(self) -> None:
        self.answered = True
        if self.done is not None:
            self.done.set()


@dataclass(frozen=True, slots=True)
class ActorStatistics:
    """What an actor did so far. `waiting_peak` is the fullest the mailbox has been."""

    name: str
    handled: int
    failed: int
    waiting: int
    waiting_peak: int
    busy: bool


class Actor(ABC, Generic[M]):
    """Subclass it, override `receive`, and give it to a supervisor.

    `receive` returns the answer. An error of the `expected` types goes to the one who asked and the
    actor goes on; any other ends the actor, for the supervisor to judge.
    """

    expected: tuple[type[Exception], ...] = ()

    def __init__(self, name: str, *, limit: int = MAILBOX_LIMIT_MESSAGES) -> None:
        self.name = name
        self._limit = limit
        self._letters: deque[_Letter[M]] = deque()
        self._wake = trio.Event()
        self._stopped = False
        self._handled = 0
        self._failed = 0
        self._peak = 0
        self._current: _Letter[M] | None = None

    @property
    def stopped(self) -> bool:
        """True once the actor takes no more messages."""
        return self._stopped

    @property
    def idle(self) -> bool:
        """True when nothing waits and nothing is being handled."""
        return not self._letters and self._current is None

    def tell(self, message: M) -> None:
        """Put a message into the mailbox and go on.

        Raises:
            MailboxFull: the mailbox is at its limit.
            ActorStopped: the actor has ended.
        """
        self._post(_Letter(message, None, math.inf))

    async def ask(self, message: M, *, deadline_s: float) -> Any:
        """Put a message into the mailbox and wait for its answer.

        When the caller is cancelled, or the deadline passes while the message is being handled, it is
        handled all the same: whoever needs to know the outcome asks by the command's id.

        Raises:
            MailboxFull: the mailbox is at its limit.
            ActorStopped: the actor has ended, or ended before it came to this message.
            AskDeadline: no answer within `deadline_s` seconds, as `expire` finds.
        """
        letter = _Letter(message, done := trio.Event(), trio.current_time() + deadline_s)
        self._post(letter)
        await done.wait()
        if letter.error is not None:
            raise letter.error
        return letter.value

    def expire(self, now: float) -> None:
        """Answer those whose deadline passed with AskDeadline; what still waits of theirs is not handled.

        Whoever keeps the actor calls it now and then: a timer for every message costs more than the message.
        """
        late = [letter for letter in self._letters if letter.expires_at < now]
        for letter in late:
            self._letters.remove(letter)
        if self._current is not None and self._current.expires_at < now:
            late.append(self._current)
        for letter in late:
            letter.fail(AskDeadline(f"{self.name} gave no answer in time"))

    async def run(self) -> None:
        """Handle messages until stopped or cancelled. The supervisor calls it."""
        try:
            await self.start()
            while True:
                while self._letters:
                    await self._handle(self._letters.popleft())
                if self._stopped:
                    return
                self._wake = trio.Event()
                await self._wake.wait()
        finally:
            self._end()
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_DEADLINE_S):
                await self.close()

    def stop(self) -> None:
        """Take no more messages; end after those that wait."""
        self._stopped = True
        self._wake.set()

    async def start(self) -> None:
        """Make ready before the first message. Override where there is something to load."""

    async def close(self) -> None:
        """Let go of what the actor holds. Runs shielded, with a deadline."""

    @abstractmethod
    async def receive(self, message: M) -> Any:
        """Handle one message and return its answer."""

    def statistics(self) -> ActorStatistics:
        """What the actor did so far, for tests and the status page."""
        return ActorStatistics(
            self.name, self._handled, self._failed, len(self._letters), self._peak, self._current is not None
        )

    def _post(self, letter: _Letter[M]) -> None:
        if self._stopped:
            raise ActorStopped(f"{self.name} has ended")
        if len(self._letters) >= self._limit:
            raise MailboxFull(f"the mailbox of {self.name} holds {self._limit} messages; try again shortly")
        self._letters.append(letter)
        self._peak = max(self._peak, len(self._letters))
        self._wake.set()

    async def _handle(self, letter: _Letter[M]) -> None:
        self._current = letter
        try:
            letter.answer(await self.receive(letter.message))
            self._handled += 1
        except self.expected as error:
            self._failed += 1
            letter.fail(error)
        except Exception as error:
            self._failed += 1
            letter.fail(ActorStopped(f"{self.name} failed on this message: {error!r}"))
            raise
        except BaseException:
            letter.fail(ActorStopped(f"{self.name} was stopped while it handled this message"))
            raise
        finally:
            self._current = None

    def _end(self) -> None:
        self._stopped = True
        while self._letters:
            self._letters.popleft().fail(ActorStopped(f"{self.name} ended before it came to this message"))
