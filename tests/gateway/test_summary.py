"""A summary is believed once it has the contract's shape; what screens show passes through as it came."""

import msgspec
import pytest

from gateway.document import compose_head
from gateway.errors import SportMisbehaved
from gateway.marks import UNMARKED
from gateway.summary import read_summary, summary_of_head

PLAY = b'{"phase":"play","result":null,"segment":"innings-1","show":{"b":[1,{"a":null}]},"sides":[%s,%s]}' % (
    b'{"rank":null,"score":"12/1","side":"A"}',
    b'{"rank":null,"score":"","side":"B"}',
)
OVER = (
    b'{"phase":"over","result":{"kind":"%s","winner":"A"},"segment":null,"show":{},"sides":[%s,%s]}',
    b'{"rank":1,"score":"9","side":"A"}',
    b'{"rank":null,"score":"8","side":"B"}',
)


def over(kind: bytes) -> bytes:
    return OVER[0] % (kind, *OVER[1:])


def test_a_match_in_play():
    summary = read_summary(PLAY)
    assert (summary.phase, summary.segment, summary.is_over) == ("play", "innings-1", False)
    assert [(score.side, score.score, score.rank) for score in summary.sides] == [
        ("A", "12/1", None),
        ("B", "", None),
    ]
    assert bytes(summary.show) == b'{"b":[1,{"a":null}]}'
    assert (summary.result_text, summary.ranks) == (None, {})
    assert (summary.status(events=0), summary.status(events=1)) == ("SCHEDULED", "LIVE")


@pytest.mark.parametrize(("kind", "status"), [(b"won", "COMPLETED"), (b"abandoned", "ABANDONED")])
def test_a_match_that_is_over(kind: bytes, status: str):
    summary = read_summary(over(kind))
    assert summary.result_text == f'{{"kind":"{kind.decode()}","winner":"A"}}'
    assert (summary.is_over, summary.ranks, summary.status(events=0)) == (True, {"A": 1}, status)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"null",
        b'{"phase":"lunch","sides":[]}',
        PLAY.replace(b'"12/1"', b"12"),
        PLAY[:-1],
        b'{"phase":"play","sides":[],"show":{}',
        b'\xff{"phase":"play","sides":[]}',
        b'{"phase":"play","sides":[],"show":{"a":"\xff"}}',
        b'{"phase":"play","sides":[],"show":{"a":"\\udc00"}}',
        b'{"phase":"play","sides":[],"show":{"a":1e999}}',
        b'{"phase":"play","sides":[],"show":%s1%s}' % (b"[" * 100_000, b"]" * 100_000),
        b'{"phase":"over","sides":[],"result":"won"}',
        b'{"phase":"over","sides":[],"result":{"winner":"A"}}',
    ],
)
def test_what_is_no_summary_is_the_sports_fault(data: bytes):
    with pytest.raises(SportMisbehaved, match="summary"):
        read_summary(data)


def head_of(data: bytes, **changes: object) -> bytes:
    head = compose_head(
        match="m",
        code="c",
        name="n",
        sport="s",
        status="LIVE",
        sides=[{"key": "A", "name": "Ann"}, {"key": "B", "name": "Bea"}],
        names=msgspec.Raw(b"{}"),
        summary=read_summary(data),
        marks=UNMARKED,
    )
    return msgspec.json.encode(msgspec.json.decode(head) | changes)


@pytest.mark.parametrize("data", [PLAY, over(b"won"), over(b"abandoned")])
def test_the_head_of_a_document_holds_its_summary(data: bytes):
    assert summary_of_head(head_of(data).decode()) == data


@pytest.mark.parametrize(
    "head",
    [
        None,
        "{}",
        "[1]",
        head_of(PLAY, phase="lunch").decode(),
        head_of(PLAY, result="won").decode(),
        head_of(PLAY, show="huge").decode().replace('"huge"', "1e999"),
    ],
)
def test_of_a_head_that_is_lost_nothing_is_known(head: str | None):
    assert summary_of_head(head) is None
