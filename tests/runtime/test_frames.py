"""Frames: any chunking gives the same messages, and nothing is believed before it is looked at."""

from itertools import pairwise
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import FrameError, FrameMalformed, FrameTooLong
from runtime.frames import FRAME_LIMIT_BYTES, HEADER_BYTES, FrameDecoder, encode

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


@given(st.lists(plain, max_size=5), st.lists(st.integers(min_value=0), max_size=12))
def test_any_chunking_gives_the_messages(messages: list[Any], cuts: list[int]) -> None:
    stream = b"".join(encode(message) for message in messages)
    decoder = FrameDecoder()
    received = [message for chunk in chunks(stream, cuts) for message in decoder.receive(chunk)]
    assert received == messages
    assert decoder.pending_bytes == 0


@given(st.binary(max_size=200), st.lists(st.integers(min_value=0), max_size=12))
def test_garbage_ends_in_an_error_of_ours_or_in_messages_alike_however_it_is_cut(
    data: bytes, cuts: list[int]
) -> None:
    def outcome(pieces: list[bytes]) -> tuple[list[Any], str]:
        decoder, received = FrameDecoder(limit=64), []
        try:
            for piece in pieces:
                received += decoder.receive(piece)
        except FrameError as error:
            # Messages of the same read before the error are lost with the stream.
            return [], type(error).__name__
        return received, ""

    whole, cut = outcome([data]), outcome(chunks(data, cuts))
    assert repr(whole) == repr(cut)


def test_a_header_over_the_limit_is_refused_without_waiting_for_the_body() -> None:
    decoder = FrameDecoder()
    with pytest.raises(FrameTooLong, match="announces 4294967295 bytes"):
        decoder.receive(b"\xff\xff\xff\xff")
    assert decoder.pending_bytes == 0


def test_the_limit_itself_fits() -> None:
    overhead = len(encode(b"x" * 70_000)) - 70_000 - HEADER_BYTES
    body = b"x" * (FRAME_LIMIT_BYTES - overhead)
    assert FrameDecoder().receive(encode(body)) == [body]
    with pytest.raises(FrameTooLong):
        encode(body + b"x")


def test_a_broken_decoder_stays_broken() -> None:
    decoder = FrameDecoder()
    with pytest.raises(FrameMalformed):
        decoder.receive(b"\x00\x00\x00\x01\xc1")
    with pytest.raises(FrameMalformed):
        decoder.receive(encode("fine in itself"))


@pytest.mark.parametrize(
    "body",
    [
        msgpack.packb(msgpack.ExtType(5, b"x")),
        msgpack.packb({1: "a key that is no text"}),
        b"\xa2\xff\xfe",
        b"\x81\xc0\xc0",
        b"\x91" * 2000,
        b"",
        b"\xc0\xc0",
    ],
    ids=["extension", "number as key", "no utf-8", "nil as key", "nested without end", "empty", "two values"],
)
def test_bodies_that_are_not_plain_data(body: bytes) -> None:
    with pytest.raises(FrameMalformed):
        FrameDecoder().receive(len(body).to_bytes(4, "big") + body)


@pytest.mark.parametrize("message", [object(), 2**64, {"a": {1, 2}}])
def test_only_plain_data_is_sent(message: Any) -> None:
    with pytest.raises(FrameMalformed):
        encode(message)
    assert FrameDecoder().receive(encode("the packer still works")) == ["the packer still works"]
