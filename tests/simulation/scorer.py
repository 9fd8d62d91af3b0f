"""Scorers: what they send, how they go on from an answer, and what they do that a good client would not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

import trio

from gateway.protocol import Accepted, Answer, CommandFrame, Conflict, Refused, TryAgain
from tests.simulation.faults import Weather
from tests.simulation.games import Game
from tests.simulation.node import Node, NodeDown
from tests.simulation.tables import Match, Row

ATTEMPTS = 5
"""How often a scorer sends a command again before he leaves it for the end."""
PAUSE_S = 0.05
LEAVES_S = (0.0, 0.001, 0.01, 0.3)


@dataclass(slots=True)
class Heard:
    """What was heard of one delivery: an answer, or nothing."""

    answer: Answer | None
    known: bool
    """The id was in the log before it was delivered."""


@dataclass(slots=True)
class Sent:
    """One command, and all that was heard of it."""

    frame: CommandFrame
    scorer: str
    order: int
    """Of the scorer's commands, those he sent one after another; -1 for those sent side by side."""
    heard: list[Heard] = field(default_factory=list)
    in_time: bool = False
    """Its scorer knew what became of it before he sent the next."""

    @property
    def answers(self) -> list[Answer]:
        """All but "try again"."""
        answers = [heard.answer for heard in self.heard if heard.answer is not None]
        return [answer for answer in answers if not isinstance(answer, TryAgain)]


class Scorer:
    """One client that scores one match."""

    def __init__(
        self,
        name: str,
        match: Match,
        game: Game,
        weather: Weather,
        nodes: Callable[[], list[Node]],
        sent: list[Sent],
        trace: Callable[..., None],
    ) -> None:
        self.name = name
        self._match = match
        self._game = game
        self._weather = weather
        self._random = Random(weather.random.getrandbits(64))
        self._nodes = nodes
        self._sent = sent
        self._trace = trace
        self._orders: Iterator[int] = iter(range(1 << 30))
        self._saw = 1

    async def run(self, commands: int) -> None:
        """Send so many commands."""
        for _ in range(commands):
            weather, random = self._weather, self._random
            if random.random() < 0.3:
                await trio.sleep(random.choice((0.001, 0.02, 0.1, 0.5)))
            first = self._new()
            if weather.strikes("reordered"):
                second = self._new()
                first.order = second.order = -1
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._see_through, second)
                    nursery.start_soon(self._see_through, first)
            elif weather.strikes("sent twice at once"):
                # One may be answered with a conflict and the other accepted after what that led to.
                first.order = -1
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._see_through, first)
                    nursery.start_soon(self._see_through, first)
            else:
                await self._see_through(first)
            accepted = isinstance(_last(first), Accepted)
            if weather.strikes("sent twice") or (accepted and weather.strikes("resent after accepted")):
                # What was refused may be accepted now, after what was sent since.
                first.order = first.order if accepted else -1
                await self.deliver(first)
            if weather.strikes("id used again for another"):
                other = self._new()
                other.frame = _again(first.frame, code=other.frame.code, input=other.frame.input)
                other.order = -1
                if (other.frame.code, other.frame.input) != (first.frame.code, first.frame.input):
                    await self.deliver(other)

    async def _see_through(self, sent: Sent) -> None:
        """Send, and send again, until it is known what became of it; then go on from the answer."""
        for _ in range(ATTEMPTS):
            answer = await self.deliver(sent)
            if answer is None or isinstance(answer, TryAgain):
                await trio.sleep(PAUSE_S if answer is None else min(answer.after_ms / 1000, 0.5))
                continue
            sent.in_time = True
            if isinstance(answer, Accepted):
                self._saw = max(self._saw, answer.seq)
            elif isinstance(answer, Conflict):
                self._saw = answer.last_seq
                if self._random.random() < 0.7:
                    anew = self._made(sent.frame.code, sent.frame.input, saw=answer.last_seq)
                    anew.order = sent.order if sent.order < 0 else anew.order
                    await self._follow_up(anew)
            elif isinstance(answer, Refused) and answer.overridable:
                anew = self._made(sent.frame.code, sent.frame.input, override=[answer.code])
                anew.order = sent.order if sent.order < 0 else anew.order
                await self._follow_up(anew)
            return

    async def _follow_up(self, sent: Sent) -> None:
        """Send what another answer led to, once."""
        answer = await self.deliver(sent)
        sent.in_time = answer is not None and not isinstance(answer, TryAgain)

    async def deliver(self, sent: Sent, *, patient: bool = False) -> Answer | None:
        """Send once. None where nothing was heard."""
        nodes = self._nodes()
        node = self._random.choice(nodes)
        leaves = None
        if not patient and self._weather.strikes("answer not waited for"):
            leaves = self._random.choice(LEAVES_S)
        known = UUID(sent.frame.id) in self._match.ids
        try:
            answer = await node.command(sent.frame, self.name, leaves=leaves)
        except NodeDown:
            answer = None
        self._trace(self.name, node.name, sent.frame.id[:8], sent.frame.code, sent.frame.saw, _told(answer))
        sent.heard.append(Heard(answer, known))
        return answer

    def _new(self) -> Sent:
        code, given = self._command()
        return self._made(code, given)

    def _made(
        self, code: str, given: dict[str, Any], *, saw: int | None = None, override: list[str] | None = None
    ) -> Sent:
        random, weather = self._random, self._weather
        if saw is None:
            newest = self._match.last_seq
            saw = newest if random.random() < 0.8 else self._saw
            if weather.strikes("stale saw"):
                saw = max(1, newest - random.randint(1, 4))
            if weather.strikes("saw from the future"):
                saw = newest + random.randint(1, 4)
        frame = CommandFrame(
            id=str(UUID(int=random.getrandbits(128))),
            match=str(self._match.id) if random.random() < 0.7 else self._match.code,
            code=code,
            input=given,
            saw=saw,
            override=override or [],
            device=self.name,
        )
        sent = Sent(frame, self.name, next(self._orders))
        self._sent.append(sent)
        return sent

    def _command(self) -> tuple[str, dict[str, Any]]:
        random = self._random
        draw = random.random()
        if draw < 0.66:
            return self._play()
        if draw < 0.70:
            return "match.flag", {
                "flag": random.choice(("uncertain", "under_review")),
                "on": random.random() < 0.6,
                "reason": "drawn",
            }
        if draw < 0.72:
            return random.choice(
                (
                    *self._game.wrong,
                    ("match.nothing", {}),
                    ("match.void", {"event": 10_000, "reason": "drawn"}),
                )
            )
        return self._correction()

    def _play(self) -> tuple[str, dict[str, Any]]:
        return self._game.play(self._random)

    def _correction(self) -> tuple[str, dict[str, Any]]:
        random = self._random
        rows = self._match.log
        named = _named(rows)
        events = [seq for seq, place in named if not place]
        event, place = random.choice(named) if named else (2, 0)
        at = {"event": event, "event_place": place} if place else {"event": event}
        edits = [row["seq"] for row in rows[1:] if row["event_type"].startswith("match.")]
        code, played = self._play()
        extra: dict[str, Any] = {"reason": "drawn"}
        if random.random() < 0.25:
            extra["force"] = True
        if random.random() < 0.1:
            extra["preview"] = True
        draw = random.random()
        if draw < 0.27:
            if random.random() < 0.3 and events:
                extra["event"] = events[-1]
            return "match.undo", extra
        if draw < 0.40:
            return "match.correct", {**at, "code": code, "input": played, **extra}
        if draw < 0.48:
            return "match.void", {**at, **extra}
        if draw < 0.62:
            after = {"after": 1} if random.random() < 0.25 else {"after": event, "after_place": place}
            return "match.insert", {**after, "code": code, "input": played, **extra}
        if draw < 0.72:
            other, given = self._play()
            edits_given: list[dict[str, Any]] = [
                {"edit": "insert", "after": event, "after_place": place, "code": code, "input": played},
                {"edit": "insert", "after": 1, "code": other, "input": given},
            ]
            if len(events) > 1:
                edits_given.append({"edit": "void", "event": random.choice(events)})
            random.shuffle(edits_given)
            return "match.amend", {"edits": edits_given, **extra}
        if draw < 0.97 and edits:
            return "match.revert", {"seq": random.choice(edits[-2:]), **extra}
        return "match.rebuild", {"reason": "drawn"}


def _named(rows: list[Row]) -> list[tuple[int, int]]:
    """The events of a log by their names: those played, and those that corrections brought in."""
    names = []
    for row in rows[1:]:
        code, seq = row["event_type"], row["seq"]
        if not code.startswith("match.") or code == "match.insert":
            names.append((seq, 0))
        elif code == "match.amend":
            names += [(seq, 0), (seq, 1)]
    return names


def _last(sent: Sent) -> Answer | None:
    return sent.answers[-1] if sent.answers else None


def _again(frame: CommandFrame, *, code: str, input: dict[str, Any]) -> CommandFrame:
    return CommandFrame(
        id=frame.id, match=frame.match, code=code, input=input, saw=frame.saw, device=frame.device
    )


def _told(answer: Answer | None) -> str:
    """An answer in a word or two, for the trace."""
    match answer:
        case None:
            return "nothing heard"
        case Accepted():
            return f"accepted {answer.epoch}:{answer.seq}{' again' if answer.duplicate else ''}"
        case Conflict():
            return f"conflict {answer.epoch}:{answer.last_seq}{' resync' if answer.resync else ''}"
        case Refused():
            return f"refused {answer.code}"
        case TryAgain():
            return f"try again {answer.reason}"
        case _:
            return type(answer).__name__.lower()
