"""The fan-out: order, coalescing, resuming, the past changed. The sockets only remember what they got."""

from typing import Any

import msgspec
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from gateway.channel import Channel
from gateway.codec import Codec
from gateway.fanout import (
    COALESCE_S,
    SOCKETS_PER_TURN,
    TAIL_UPDATES,
    UNDELIVERED_LIMIT_UPDATES,
    FanOut,
    Snapshot,
    Topic,
    Update,
    merge,
)
from gateway.protocol import LogEvent, Position
from gateway.sink import Sink


class Written(Channel):
    """A socket that takes everything at once, or nothing while `stuck`."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.stuck = False
        self.owing: list[Any] = []
        self.owed = 0

    def push(self, frame: bytes) -> bool:
        if not self.stuck:
            self.frames.append(frame)
        return not self.stuck

    def line_up(self, owing: Any) -> None:
        self.owing.append(owing)

    def owe(self, size: int) -> None:
        self.owed += size

    def catch_up(self) -> None:
        """The socket takes what is owed."""
        self.stuck = False
        for owing in self.owing:
            while (frame := owing.pull()) is not None:
                self.frames.append(frame)
                owing.written()
        self.owing.clear()

    def seen(self) -> list[tuple[str, int, int]]:
        """Op, epoch and seq of every frame."""
        return [(found["op"], found["epoch"], found["seq"]) for found in map(self.decode, self.frames)]

    def decode(self, frame: bytes) -> dict[str, Any]:
        start = {126: 4, 127: 10}.get(frame[1], 2)
        decode = msgspec.msgpack.decode if frame[0] & 0x0F == 2 else msgspec.json.decode
        decoded: dict[str, Any] = decode(frame[start:])
        return decoded


class Match:
    """A match whose every event touches one of two parts."""

    def __init__(self, fan_out: FanOut, *, epoch: int = 1, seq: int = 0) -> None:
        self.epoch = epoch
        self.seq = seq
        self.snapshots = 0
        self.topic = Topic("m", self.snapshot, fan_out)

    def snapshot(self) -> Snapshot:
        self.snapshots += 1
        return Snapshot("m", self.epoch, self.seq, "ff", self.json(self.seq), {"a": self.json(self.seq)})

    def json(self, value: Any) -> bytes:
        return msgspec.json.encode({"n": value})

    def play(self, *, undo: bool = False, part: str = "a") -> None:
        self.seq += 1
        self.epoch += undo
        event = LogEvent(self.seq, "x.y", msgspec.Raw(b'{"bat":1}'), "t")
        parts = {part: self.json(self.seq)}
        self.topic.publish(Update("m", self.epoch, self.seq, "ff", event, self.json(self.seq), parts))

    def watch(
        self, audience: Any = "scorer", after: Position | None = None, codec: Codec = Codec.JSON
    ) -> tuple[Written, Sink]:
        channel = Written()
        sink = Sink(channel, codec)
        self.topic.join(sink, audience, after)
        return channel, sink


async def fan_out_in(nursery: trio.Nursery) -> FanOut:
    fan_out = FanOut()
    await nursery.start(fan_out.run)
    return fan_out


async def test_scorers_get_every_event_in_order(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    channel, sink = match.watch()
    packed, _ = match.watch(codec=Codec.MSGPACK)
    for _ in range(5):
        match.play()
    assert channel.seen() == [("document", 1, 0)], "publish only appends"
    await wait_all_tasks_blocked()
    assert channel.seen() == [("document", 1, 0), *(("event", 1, seq) for seq in range(1, 6))]
    assert sink.taken == Position(1, 5)
    assert [packed.decode(frame) for frame in packed.frames] == [
        channel.decode(frame) for frame in channel.frames
    ]


async def test_viewers_get_the_changed_parts_coalesced(nursery: trio.Nursery, mock_clock: MockClock) -> None:
    match = Match(await fan_out_in(nursery))
    channel, _ = match.watch("viewer")
    match.play()
    await wait_all_tasks_blocked()
    assert channel.seen()[1:] == [("changed", 1, 1)], "the first change goes out at once"
    match.play(part="a")
    await wait_all_tasks_blocked()
    match.play(part="b")
    match.play(part="b")
    await wait_all_tasks_blocked()
    assert len(channel.frames) == 2
    mock_clock.jump(COALESCE_S)
    await wait_all_tasks_blocked()
    assert channel.seen()[2:] == [("changed", 1, 4)]
    merged = channel.decode(channel.frames[-1])
    assert merged["parts"] == {"a": {"n": 2}, "b": {"n": 4}}
    assert merged["head"] == {"n": 4}


async def test_scorers_do_not_wait_for_viewers(nursery: trio.Nursery, mock_clock: MockClock) -> None:
    match = Match(await fan_out_in(nursery))
    match.watch("viewer")
    channel, _ = match.watch("scorer")
    match.play()
    await wait_all_tasks_blocked()
    match.play()
    await wait_all_tasks_blocked()
    assert channel.seen()[1:] == [("event", 1, 1), ("event", 1, 2)]


async def test_resuming_replays_what_was_missed(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    for _ in range(10):
        match.play(part="b" if match.seq % 2 else "a")
    assert match.watch(after=Position(1, 7))[0].seen() == [("event", 1, 8), ("event", 1, 9), ("event", 1, 10)]
    viewer, _ = match.watch("viewer", after=Position(1, 7))
    assert viewer.seen() == [("changed", 1, 10)]
    assert viewer.decode(viewer.frames[0])["parts"] == {"a": {"n": 9}, "b": {"n": 10}}
    assert match.watch(after=Position(1, 10))[0].frames == []
    assert match.snapshots == 0


async def test_resuming_from_what_memory_does_not_hold_gives_the_document(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    for _ in range(TAIL_UPDATES + 5):
        match.play()
    newest = match.seq
    for after in (Position(1, 4), Position(0, newest), Position(1, newest + 1), Position(2, newest)):
        assert match.watch(after=after)[0].seen() == [("document", 1, newest)]
    assert match.watch(after=Position(1, 5))[0].seen()[0] == ("event", 1, 6)
    assert match.snapshots == 1, "made once for everybody"


async def test_resuming_at_the_newest_of_a_match_just_loaded(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery), epoch=3, seq=40)
    assert match.watch(after=Position(3, 40))[0].frames == []
    assert match.watch(after=Position(3, 39))[0].seen() == [("document", 3, 40)]
    channel, _ = match.watch(after=Position(3, 40))
    match.play()
    await wait_all_tasks_blocked()
    assert channel.seen() == [("event", 3, 41)]


async def test_joining_between_publish_and_delivery_repeats_nothing(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    match.watch()
    match.play()
    channel, _ = match.watch()
    match.play()
    await wait_all_tasks_blocked()
    assert channel.seen() == [("document", 1, 1), ("event", 1, 2)]


async def test_when_the_past_changes_everybody_takes_the_document(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    scorer, _ = match.watch()
    viewer, _ = match.watch("viewer")
    match.play()
    match.play(undo=True)
    await wait_all_tasks_blocked()
    assert scorer.seen()[-2:] == [("event", 2, 2), ("document", 2, 2)]
    assert viewer.seen()[-1] == ("document", 2, 2)
    assert match.watch(after=Position(1, 1))[0].seen() == [("document", 2, 2)]
    match.play()
    await wait_all_tasks_blocked()
    assert scorer.seen()[-1] == ("event", 2, 3)


async def test_a_gap_gives_everybody_the_document(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    scorer, _ = match.watch()
    match.play()
    await wait_all_tasks_blocked()
    match.seq += 3
    match.play()
    await wait_all_tasks_blocked()
    assert ("document", 1, 5) in scorer.seen()
    assert match.watch(after=Position(1, 1))[0].seen() == [("document", 1, 5)]


async def test_renewing(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    scorer, _ = match.watch()
    match.play()
    match.seq += 1
    match.topic.renew()
    await wait_all_tasks_blocked()
    assert scorer.seen() == [("document", 1, 0), ("document", 1, 2)]


async def test_more_than_can_be_delivered_becomes_one_document() -> None:
    match = Match(FanOut())
    scorer, _ = match.watch()
    for _ in range(UNDELIVERED_LIMIT_UPDATES + 1):
        match.play()
    async with trio.open_nursery() as nursery:
        await nursery.start(match.topic._fan_out.run)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert scorer.seen() == [("document", 1, 0), ("document", 1, UNDELIVERED_LIMIT_UPDATES + 1)]


async def test_a_socket_that_is_behind_gets_all_of_a_little_and_the_document_for_much(
    nursery: trio.Nursery,
) -> None:
    match = Match(await fan_out_in(nursery))
    channel, sink = match.watch()
    channel.stuck = True
    for _ in range(3):
        match.play()
    await wait_all_tasks_blocked()
    assert sink.behind
    assert sink.taken == Position(1, 0)
    channel.catch_up()
    assert channel.seen()[1:] == [("event", 1, 1), ("event", 1, 2), ("event", 1, 3)]
    assert sink.taken == Position(1, 3)
    channel.stuck = True
    for _ in range(900):
        match.play()
        await wait_all_tasks_blocked()
    channel.catch_up()
    assert channel.seen()[4:] == [("document", 1, match.seq)]
    assert channel.owed > 64 * 1024
    match.play()
    await wait_all_tasks_blocked()
    assert channel.seen()[-1] == ("event", 1, match.seq)


async def test_who_left_gets_nothing_more(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    channel, sink = match.watch()
    channel.stuck = True
    match.play()
    await wait_all_tasks_blocked()
    match.topic.leave(sink)
    match.topic.leave(sink)
    channel.catch_up()
    match.play()
    match.topic.renew()
    await wait_all_tasks_blocked()
    assert channel.seen() == [("document", 1, 0)]
    assert match.topic.watchers == 0


async def test_others_get_a_turn_between_many_sockets(nursery: trio.Nursery) -> None:
    match = Match(await fan_out_in(nursery))
    channels = [match.watch()[0] for _ in range(2 * SOCKETS_PER_TURN + 1)]
    match.play()
    turns: set[int] = set()
    while len(channels[-1].frames) < 2:
        turns.add(sum(len(channel.frames) == 2 for channel in channels))
        await trio.lowlevel.checkpoint()
    between = turns - {0}
    assert between
    assert between <= {SOCKETS_PER_TURN, 2 * SOCKETS_PER_TURN}


async def test_a_fault_of_one_match_stays_its_own(nursery: trio.Nursery) -> None:
    fan_out = await fan_out_in(nursery)
    bad, good = Match(fan_out), Match(fan_out)
    broken, _ = bad.watch()
    other, _ = good.watch()

    def fault(frame: bytes) -> bool:
        raise RuntimeError("a fault of ours")

    broken.push = fault  # type: ignore[method-assign]
    bad.play()
    good.play()
    await wait_all_tasks_blocked()
    assert other.seen()[-1] == ("event", 1, 1)
    del broken.push
    bad.play()
    await wait_all_tasks_blocked()
    assert broken.seen()[-1] == ("document", 1, 2)


def test_merging_keeps_the_newest_of_every_part() -> None:
    event = LogEvent(1, "x.y", {}, "t")
    first = Update("m", 1, 1, "a", event, b"1", {"a": b"1", "b": b"1"})
    second = Update("m", 1, 2, "b", event, b"2", {"b": b"2"})
    merged = merge((first, second))
    assert (merged.seq, merged.head, merged.parts) == (2, b"2", {"a": b"1", "b": b"2"})
