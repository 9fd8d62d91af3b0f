"""Frames as bytes: JSON and msgpack mean the same, and nothing a client sends raises."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec import Codec, Misread, choose, encode, parse
from gateway.protocol import (
    Accepted,
    ChangedFrame,
    CommandFrame,
    LogEvent,
    Problem,
    Refused,
    ServerFrame,
    Warned,
)
from tests.gateway.standin import ball

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
INPUTS = st.dictionaries(TEXTS, VALUES, max_size=5)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=10,
)


@given(INPUTS, st.integers(0, 2**53 - 1))
def test_a_command_means_the_same_in_both(input: dict[str, Any], saw: int) -> None:
    sent = ball(1, input=input, saw=saw)
    as_json = parse(msgspec.json.encode(sent), binary=False)
    as_msgpack = parse(msgspec.msgpack.encode(sent), binary=True)
    assert isinstance(as_json, CommandFrame)
    assert as_json == as_msgpack
    assert as_json.input == input


@given(VALUES, INPUTS, TEXTS)
def test_a_servers_frame_means_the_same_in_both(value: Any, input: dict[str, Any], text: str) -> None:
    event = LogEvent(3, "cricket.delivery", input, "2026-06-01T12:00:00Z", source={"account": text})
    frames: list[ServerFrame] = [
        ChangedFrame("m", 1, 3, "ff", value, {text: value}),
        Accepted("i", "m", 3, 1, "ff", ["a"], [Warned("w", text, text)]),
        Problem("code", text),
    ]
    for frame in frames:
        assert msgspec.json.decode(encode(frame, Codec.JSON)) == msgspec.msgpack.decode(
            encode(frame, Codec.MSGPACK)
        )
    assert msgspec.json.decode(msgspec.json.encode(event)) == msgspec.msgpack.decode(
        msgspec.msgpack.encode(event)
    )


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, binary: bool) -> None:
    parse(data, binary=binary)


@given(
    st.dictionaries(
        st.sampled_from(
            ["op", "id", "match", "code", "input", "saw", "override", "sent_at", "device", "after", "n"]
        )
        | st.text(max_size=4),
        ANYTHING | st.sampled_from(["command", "watch", "unwatch", "ping", "auth", ball(1)["id"]]),
        max_size=9,
    ),
)
def test_no_frame_raises(frame: dict[str, Any]) -> None:
    found = parse(msgspec.msgpack.encode(frame), binary=True)
    if isinstance(found, Misread):
        encode(found.answer, Codec.JSON)
    try:
        text = msgspec.json.encode(frame)
    except UnicodeEncodeError:
        return
    parse(text, binary=False)


@pytest.mark.parametrize("depth", [10, 1_000, 30_000])
@pytest.mark.parametrize("binary", [False, True])
def test_deep_nesting_does_not_raise(depth: int, binary: bool) -> None:
    whole = (
        msgspec.msgpack.encode(ball(1, input={"a": 0}))
        if binary
        else msgspec.json.encode(ball(1, input={"a": 0}))
    )
    deep = b"\x91" * depth + b"\x00" if binary else b"[" * depth + b"0" + b"]" * depth
    place = whole.replace(b"\xa1a\x00" if binary else b'"a":0', (b"\xa1a" if binary else b'"a":') + deep)
    found = parse(place, binary=binary)
    assert isinstance(found, CommandFrame | Misread)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"saw": "1"}, "saw"),
        ({"saw": -1}, "saw"),
        ({"saw": 1.5}, "saw"),
        ({"input": []}, "input"),
        ({"input": {"a": {"b": 1.5}}}, "input.a.b"),
        ({"input": {"a": "x\0"}}, "input.a"),
        ({"input": {"a": 2**60}}, "input.a"),
        ({"override": ["a", 2]}, "override[1]"),
        ({"override": ["\0"]}, "override"),
        ({"device": "\0"}, "device"),
        ({"sent_at": "yesterday"}, "sent_at"),
        ({"sent_at": "2026-06-01T12:00:00"}, "sent_at"),
        ({"sent_at": "0001-01-01T00:00:00+23:00"}, "sent_at"),
        ({"sent_at": "0001-01-01T00:00:00Z"}, "sent_at"),
        ({"sent_at": "9999-12-31T23:59:59Z"}, "sent_at"),
        ({"sent_at": "2026-06-01T12:00:00+24:00"}, "sent_at"),
        ({"sent_at": "2026-W23-1T12:00:00Z"}, "sent_at"),
        ({"sent_at": "2026-06-01"}, "sent_at"),
        ({"code": "cricket.delivery\n"}, "code"),
        ({"code": "Undo"}, "code"),
        ({"match": ""}, "match"),
        ({"match": "a\0"}, "match"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_wrong_command_is_refused_by_its_id_and_names_the_field(fields: dict[str, Any], field: str) -> None:
    sent = ball(1, **fields)
    for found in (
        parse(msgspec.json.encode(sent), binary=False),
        parse(msgspec.msgpack.encode(sent), binary=True),
    ):
        assert isinstance(found, Misread)
        assert isinstance(found.answer, Refused)
        assert found.answer.id == sent["id"]
        assert found.answer.field == field
        assert found.answer.sentence


@pytest.mark.parametrize("id", [ball(1)["id"] + "\n", f"{{{ball(1)['id']}}}", ball(1)["id"].replace("-", "")])
def test_an_id_is_a_uuid_and_nothing_more(id: str) -> None:
    found = parse(msgspec.json.encode(ball(1, id=id)), binary=False)
    assert isinstance(found, Misread)
    assert isinstance(found.answer, Problem)
    assert found.answer.where == "id"


@pytest.mark.parametrize(
    ("data", "code", "where"),
    [
        (b"", "malformed", None),
        (b"{", "malformed", None),
        (b"null", "invalid", None),
        (b"[]", "invalid", None),
        (b"{}", "unknown_op", "op"),
        (b'{"op":"score"}', "unknown_op", "op"),
        (b'{"op":1}', "unknown_op", "op"),
        (b'{"op":"ping","n":-1}', "invalid", "n"),
        (b'{"op":"ping","m":1}', "invalid", "m"),
        (b'{"op":"watch"}', "invalid", "match"),
        (b'{"op":"watch","match":"a","after":{"epoch":1}}', "invalid", "after.seq"),
        (b'{"op":"watch","match":"a","audience":"all"}', "invalid", "audience"),
        (b'{"op":"watch","match":"\\ud800"}', "malformed", None),
        (b'{"op":"watch","match":"a\\u0000"}', "invalid", "match"),
        (b'{"op":"command","id":"1","match":"a"}', "invalid", "id"),
    ],
)
def test_a_wrong_frame_is_a_problem_that_names_the_place(data: bytes, code: str, where: str | None) -> None:
    found = parse(data, binary=False)
    assert isinstance(found, Misread)
    assert isinstance(found.answer, Problem)
    assert found.answer.code == code
    assert (found.answer.where or None) == where


def test_sub_protocols() -> None:
    assert choose(()) is Codec.JSON
    assert choose(("scorebox.msgpack", "scorebox.json")) is Codec.MSGPACK
    assert choose(("soap", "scorebox.json")) is Codec.JSON
    assert choose(("soap",)) is None
