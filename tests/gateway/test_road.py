"""The road's decisions, without any I/O."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from gateway import road
from gateway.protocol import Accepted, CommandFrame, Refused
from gateway.records import LogRow, Source

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def row(
    seq: int,
    *,
    id: UUID | None = None,
    code: str = "cricket.delivery",
    input: str = '{"bat":1}',
    epoch: int = 1,
):
    return LogRow(
        seq,
        epoch,
        id or uuid4(),
        code,
        input,
        (),
        Source("ann", "tablet"),
        None,
        NOON,
        bytes(32),
        ("four",),
        "[]",
    )


def frame(
    saw: int, *, id: UUID | None = None, code: str = "cricket.delivery", input: dict[str, Any] | None = None
) -> CommandFrame:
    return CommandFrame(str(id or uuid4()), "m", code, input or {"bat": 1}, saw)


def test_the_same_id_with_the_same_content_gets_its_answer_again():
    id = uuid4()
    answer = road.recall(frame(3, id=id), "m", row(7, id=id))
    assert isinstance(answer, Accepted)
    assert answer.duplicate
    assert (answer.seq, answer.epoch, answer.emits) == (7, 1, ["four"])


def test_the_order_of_keys_and_the_space_between_them_is_not_content():
    id = uuid4()
    known = row(7, id=id, input='{"bat":1,"striker":"A1"}')
    assert isinstance(road.recall(frame(3, id=id, input={"striker": "A1", "bat": 1}), "m", known), Accepted)


def test_the_same_id_with_other_content_is_refused():
    id = uuid4()
    for other in (frame(3, id=id, input={"bat": 2}), frame(3, id=id, code="cricket.over")):
        answer = road.recall(other, "m", row(7, id=id))
        assert isinstance(answer, Refused)
        assert (answer.code, answer.field) == ("id_reused", "id")
        assert "seq 7" in answer.sentence


def test_conflict_carries_exactly_the_missed_events():
    answer = road.conflict(frame(5), "m", tail=[row(n) for n in range(3, 9)], last_seq=8, epoch=1)
    assert [event.seq for event in answer.missed] == [6, 7, 8]
    assert not answer.resync


def test_conflict_says_resync_where_the_tail_does_not_reach():
    answer = road.conflict(frame(1), "m", tail=[row(n) for n in range(3, 9)], last_seq=8, epoch=1)
    assert answer.resync
    assert answer.missed == []


def test_conflict_says_resync_when_the_past_was_changed():
    tail = [row(1), row(2), row(3, epoch=2)]
    assert road.conflict(frame(1), "m", tail=tail, last_seq=3, epoch=2).resync


def test_conflict_says_resync_when_too_much_was_missed():
    tail = [row(n) for n in range(1, road.MISSED_LIMIT_EVENTS + 2)]
    assert road.conflict(frame(0), "m", tail=tail, last_seq=len(tail), epoch=1).resync
    assert not road.conflict(frame(1), "m", tail=tail, last_seq=len(tail), epoch=1).resync


@given(saw=st.integers(0, 40), first=st.integers(1, 20), count=st.integers(0, 20))
def test_a_conflict_never_leaves_a_gap(saw, first, count):
    tail = [row(first + n) for n in range(count)]
    last = first + count - 1 if count else first
    answer = road.conflict(frame(saw), "m", tail=tail, last_seq=last, epoch=1)
    if not answer.resync:
        assert [event.seq for event in answer.missed] == list(range(saw + 1, last + 1))


@given(saw=st.integers(0, 50), events=st.integers(0, 50), behind=st.integers(0, 5))
def test_saw_is_stale_only_when_the_events_state_moved_or_it_was_never_given_out(saw, events, behind):
    last = events + behind
    assert road.is_stale(saw, events_seq=events, last_seq=last) is not (events <= saw <= last)


def test_log_events_carry_who_sent_them():
    event = road.log_event(row(4))
    assert event.source == {"account": "ann", "device": "tablet"}
    assert event.received_at == "2026-06-01T12:00:00.000Z"
