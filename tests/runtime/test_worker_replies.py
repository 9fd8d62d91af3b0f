"""A reply is believed once it has the shape of its op, and not before."""

from hashlib import sha256
from typing import Any

import pytest

from runtime.errors import FrameMalformed
from runtime.worker.replies import checked

STATE = b'{"total":1}'
STEP: dict[str, Any] = {
    "id": 4,
    "ok": True,
    "refusal": None,
    "state": STATE,
    "lines": [["reds", "player", "all", b"{}"]],
    "emits": ["added"],
    "warnings": [],
    "joined": [],
    "summary": b"{}",
}


def test_an_honest_reply_passes():
    assert checked("check_and_step", 4, dict(STEP))["state"] == STATE


def test_the_server_takes_the_hash_of_a_state_itself():
    lied = STEP | {"state_hash": sha256(b"another").digest()}
    for reply in (STEP, lied):
        assert checked("check_and_step", 4, reply)["state_hash"] == sha256(STATE).digest()


@pytest.mark.parametrize("missing", list(STEP))
def test_every_field_must_be_there(missing: str):
    with pytest.raises(FrameMalformed, match=missing):
        checked("check_and_step", 4, {key: value for key, value in STEP.items() if key != missing})


@pytest.mark.parametrize(
    "change",
    [
        {"id": 3},
        {"id": "4"},
        {"ok": False},
        {"ok": 1},
        {"state": STATE.decode()},
        {"state": b"x" * 20_000},
        {"state": None},
        {"lines": [["reds", "player", "all"]]},
        {"lines": [["reds", "player", "all", {}]]},
        {"emits": [1]},
        {"warnings": [{"code": "a"}]},
        {"refusal": {"code": "a", "sentence": "b", "field": None}},
        {"refusal": "no"},
        {"ok": False, "error": {"kind": "other", "message": "", "stack": ""}},
    ],
)
def test_every_field_must_be_what_it_is(change: dict[str, Any]):
    with pytest.raises(FrameMalformed, match="check_and_step"):
        checked("check_and_step", 4, STEP | change)


@pytest.mark.parametrize("reply", [None, [], "ok", b"ok", 4])
def test_a_reply_is_a_map(reply: Any):
    with pytest.raises(FrameMalformed):
        checked("ping", 4, reply)
