"""The frame splitter: pure, so every boundary can be tried."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.framing import (
    CLOSE_REASON_LIMIT_BYTES,
    Control,
    FrameSplitter,
    Message,
    Violation,
    close_frame,
    data_frame,
)
from tests.gateway.rawsocket import BINARY, CLOSE, PING, TEXT, frame

LIMIT = 1000


def split(data: bytes, sizes: list[int]) -> list[Message | Control | Violation]:
    """Everything the splitter makes of bytes that come in pieces of these sizes."""
    splitter = FrameSplitter(LIMIT)
    items: list[Message | Control | Violation] = []
    while data:
        size = sizes.pop() if sizes else len(data)
        splitter.feed(data[:size])
        data = data[size:]
        while (item := splitter.take()) is not None:
            items.append(item)
            if isinstance(item, Violation):
                return items
    return items


@given(
    messages=st.lists(st.tuples(st.booleans(), st.text(max_size=80)), max_size=6),
    cuts=st.lists(st.integers(1, 40), max_size=60),
    pieces=st.integers(1, 4),
)
def test_messages_are_the_same_however_they_are_cut(
    messages: list[tuple[bool, str]], cuts: list[int], pieces: int
) -> None:
    data = b""
    expected: list[Message | Control] = []
    for binary, text in messages:
        payload = text.encode()
        opcode = BINARY if binary else TEXT
        step = max(1, -(-len(payload) // pieces))
        parts = [payload[start : start + step] for start in range(0, len(payload), step)] or [b""]
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            data += frame(opcode if place == 0 else 0, part, first=0x80 if last else 0)
            if not last:
                ping = frame(PING, b"between")
                data += ping
                expected.append(Control(ping))
        expected.append(Message(binary, payload))
    assert split(data, cuts) == expected


@given(data=st.binary(max_size=400), cuts=st.lists(st.integers(1, 40), max_size=60))
def test_no_bytes_raise(data: bytes, cuts: list[int]) -> None:
    for item in split(data, cuts):
        assert isinstance(item, Message | Control | Violation)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame(TEXT, b"x", masked=False), 1002),
        (frame(TEXT, b"x", first=0xC0), 1002),
        (frame(3, b"x"), 1002),
        (frame(11, b"x"), 1002),
        (frame(PING, b"x", first=0), 1002),
        (frame(PING, b"x" * 126), 1002),
        (frame(0, b"x"), 1002),
        (frame(TEXT, b"x", first=0) + frame(TEXT, b"y"), 1002),
        (frame(TEXT, b"\xff"), 1007),
        (frame(TEXT, b"x" * (LIMIT + 1)), 1009),
        (frame(TEXT, b"x" * LIMIT, first=0) + frame(0, b"y"), 1009),
        (frame(BINARY, b"")[:1] + bytes((0xFF,)) + b"\xff" * 8, 1009),
    ],
)
def test_broken_rules_have_their_code(data: bytes, code: int) -> None:
    items = split(data, [])
    assert isinstance(items[-1], Violation)
    assert items[-1].code == code


def test_too_large_a_frame_is_refused_before_it_is_there() -> None:
    splitter = FrameSplitter(LIMIT)
    splitter.feed(frame(TEXT, b"x" * 5000)[:8])
    item = splitter.take()
    assert isinstance(item, Violation)
    assert item.code == 1009


def test_a_message_of_the_limit_passes() -> None:
    assert split(frame(TEXT, b"x" * LIMIT), []) == [Message(False, b"x" * LIMIT)]


@given(st.binary(max_size=70_000))
def test_what_is_built_is_read_back(payload: bytes) -> None:
    built = data_frame(payload, binary=True)
    size = built[1]
    start = {126: 4, 127: 10}.get(size, 2)
    assert built[start:] == payload
    assert not size & 0x80


@given(st.text(max_size=300))
def test_a_close_reason_is_cut_at_a_character(reason: str) -> None:
    built = close_frame(4001, reason)
    assert built[0] == 0x80 | CLOSE
    text = built[4:].decode()
    assert reason.startswith(text)
    assert len(built) - 4 <= CLOSE_REASON_LIMIT_BYTES
