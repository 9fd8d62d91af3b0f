"""What a file of a match may hold: every one that was sealed but is none hears a sentence."""

import hashlib
import json
from typing import Any

import pytest

from gateway.errors import TransferUnfit
from gateway.transfer import decode

HASH = "0" * 64
DEEP = 100_000
"""Nested lists: far past what a decoder follows."""


def header(**changes: Any) -> dict[str, Any]:
    fields = {
        "format": "scorebox-match",
        "version": 1,
        "match": "01a22ee6-a758-77a6-8d07-d1205096c873",
        "code": "final",
        "name": "A final",
        "sport": "singles",
        "sport_name": "Singles",
        "sport_version": "1.0.0",
        "code_sha": HASH,
        "first_day": "2026-06-01",
        "at": 2,
        "newest": 2,
        "epoch": 1,
        "state_hash": HASH,
        "exported_at": "2026-06-01T12:00:00Z",
        "competitors": [],
    }
    return fields | changes


def row(seq: int, code: str, **changes: Any) -> dict[str, Any]:
    fields = {
        "seq": seq,
        "epoch": 1,
        "code": code,
        "input": {},
        "account": "desk",
        "received_at": "2026-06-01T12:00:00Z",
        "state_hash": HASH,
    }
    return fields | changes


def sealed(*lines: bytes) -> bytes:
    """A file whose last line is right."""
    body = b"".join(line + b"\n" for line in lines)
    end = {"rows": len(lines) - 1, "sha256": hashlib.sha256(body).hexdigest()}
    return body + json.dumps(end).encode() + b"\n"


def file(first: dict[str, Any], *rows: dict[str, Any]) -> bytes:
    return sealed(*(json.dumps(line).encode() for line in (first, *rows)))


OPENED = row(1, "match.open")


def test_a_whole_file_is_read() -> None:
    first, rows = decode(file(header(), OPENED, row(2, "singles.point")))
    assert first.at == len(rows) == 2


@pytest.mark.parametrize("at", [1, 3, 10**12, 2**53, 2**64, 0, -1])
def test_a_header_that_counts_rows_that_are_not_there_costs_no_memory(at: int) -> None:
    with pytest.raises(TransferUnfit):
        decode(file(header(at=at), OPENED, row(2, "singles.point")))


def test_json_nested_too_deep_is_a_file_that_cannot_be_read() -> None:
    first, opened = json.dumps(header()).encode(), json.dumps(OPENED).encode()
    deep = b"[" * DEEP + b"]" * DEEP
    point = (
        json.dumps(row(2, "singles.point")).encode().replace(b'"input": {}', b'"input": {"a": ' + deep + b"}")
    )
    for data in (
        sealed(first, opened, point),
        sealed(deep, opened),
        first + b"\n" + opened + b"\n" + deep + b"\n",
    ):
        with pytest.raises(TransferUnfit):
            decode(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"input": True},
        {"input": []},
        {"warnings": 1},
        {"warnings": [1]},
        {"epoch": 0},
        {"state_hash": ""},
        {"code": ""},
    ],
)
def test_a_row_that_no_server_wrote_is_not_taken(changes: dict[str, Any]) -> None:
    # One of a past that is no more: nothing is played that would show it.
    rows = [OPENED, row(2, "singles.point") | changes, row(3, "match.undo", epoch=2)]
    with pytest.raises(TransferUnfit, match="line 3 cannot be read"):
        decode(file(header(at=3, newest=3, epoch=2), *rows))


def test_epochs_that_fall_are_no_log() -> None:
    rows = [OPENED, row(2, "singles.point", epoch=9), row(3, "match.undo", epoch=2)]
    with pytest.raises(TransferUnfit, match="row 3 is of an earlier epoch"):
        decode(file(header(at=3, newest=3, epoch=2), *rows))
