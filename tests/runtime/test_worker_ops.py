"""What a worker answers, without a worker: the operations over plain data."""

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scorebox_rogue import SPORT

from runtime.errors import FrameMalformed
from runtime.frames import FrameDecoder
from runtime.worker.guard.attempts import Attempts
from runtime.worker.guard.level import Report
from runtime.worker.limits import REPLAY_EVENTS_MOST
from runtime.worker.ops import Operations
from runtime.worker.replies import checked
from runtime.worker.serving import reply_frame
from scorebox_contract import CONTRACT_VERSION, Refusal, canonical
from tests.runtime.rogue_calls import OPENING

NOWHERE = Attempts("/nowhere")
OPERATIONS = Operations(
    SPORT, code_sha="abc", report=Report("audit", ("seccomp: withheld",)), attempts=NOWHERE
)


def ask(op: str, **payload: Any) -> dict[str, Any]:
    """One reply, over the wire's own encoding and checked as the server does."""
    (reply,) = FrameDecoder().receive(reply_frame(OPERATIONS, {"op": op, "id": 7, **payload}))
    return checked(op, 7, reply)


def start(padding: int = 0) -> bytes:
    state: bytes = ask("initial_state", opening=json.dumps({**OPENING, "padding": padding}).encode())["state"]
    return state


def step(state: bytes, code: str, value: Any, override: tuple[str, ...] = ()) -> dict[str, Any]:
    return ask(
        "check_and_step", state=state, code=code, input=json.dumps(value).encode(), override=list(override)
    )


def test_hello_says_who_answers():
    reply = ask("hello")
    assert (reply["sport"], reply["version"], reply["code_sha"]) == ("rogue", "1.0.0", "abc")
    assert (reply["contract"], reply["guard"]) == (CONTRACT_VERSION, "audit")
    assert reply["lacks"] == ["seccomp: withheld"]


def test_the_manifest_is_the_sports_own():
    described = json.loads(ask("manifest")["manifest"])
    assert (described["sport"], described["version"]) == ("rogue", "1.0.0")
    assert described["contract"] == CONTRACT_VERSION
    assert set(described["commands"]) == set(SPORT.commands)


def test_the_first_state_comes_with_the_opening_as_understood():
    reply = ask("initial_state", opening=json.dumps(OPENING).encode())
    assert reply["refusal"] is None
    assert json.loads(reply["state"])["sides"] == ["reds", "blues"]
    assert json.loads(reply["opening"])["padding"] == 0
    assert json.loads(reply["summary"])["phase"] == "play"


@pytest.mark.parametrize(
    ("opening", "code", "field"),
    [
        ({**OPENING, "sides": OPENING["sides"][:1]}, "two_sides", "sides"),
        ({**OPENING, "padding": -1}, "invalid_input", "padding"),
        ({"sides": []}, "invalid_input", "first_day"),
        ({**OPENING, "weather": "fine"}, "invalid_input", "weather"),
    ],
)
def test_an_opening_is_refused_with_its_field(opening: Any, code: str, field: str):
    refusal = ask("initial_state", opening=json.dumps(opening).encode())["refusal"]
    assert (refusal["code"], refusal["field"], refusal["overridable"]) == (code, field, False)


def test_a_step():
    state = start()
    reply = step(state, "rogue.add", {"amount": 5, "note": "ann"})
    assert reply["refusal"] is None
    assert json.loads(reply["state"]) == {**json.loads(state), "total": 5, "events": 1}
    assert reply["state"] == canonical(json.loads(reply["state"]))
    assert reply["lines"] == [("reds", "player", "all", b'{"events":1,"points":5}')]
    assert reply["emits"] == ["added"]
    assert reply["joined"] == [("reds", "ann", "Ann")]
    assert reply["warnings"] == []
    assert step(state, "rogue.add", {"amount": 0})["warnings"] == [
        {"code": "nothing", "sentence": "Nothing was added.", "field": "amount"}
    ]


def test_the_summary_is_that_of_the_sport():
    state = canonical({**json.loads(start()), "total": 1000})
    summary = json.loads(ask("summary", state=state)["summary"])
    assert summary == {
        "phase": "over",
        "sides": [{"side": side, "score": "1000", "rank": None} for side in ("reds", "blues")],
        "result": {"kind": "won", "text": "It is done.", "winner": "reds", "margin": {}, "method": None},
        "segment": None,
        "show": {},
    }
    assert ask("summary", state=state)["summary"] == canonical(
        msgspec.to_builtins(SPORT.summary(json.loads(state)))
    )


def test_a_refusal_stands_alone_and_can_be_overridden():
    state = canonical({**json.loads(start()), "total": 999})
    reply = step(state, "rogue.add", {"amount": 5})
    assert reply["refusal"] == {
        "code": "too_much",
        "sentence": "The total cannot pass 1000.",
        "field": "amount",
        "overridable": True,
    }
    assert "state" not in reply
    assert step(state, "rogue.add", {"amount": 5}, ("too_much",))["refusal"] is None


def test_an_unknown_command_is_refused():
    refusal = step(start(), "rogue.fly", {})["refusal"]
    assert (refusal["code"], refusal["field"]) == ("unknown_command", "code")
    assert refusal["sentence"] == "Rogue in this version takes no command rogue.fly."


@pytest.mark.parametrize(
    ("data", "field", "sentence"),
    [
        (b'{"amount":"5"}', "amount", "amount must be a whole number, not a text."),
        (b'{"amount":5.5}', "amount", "amount must be a whole number, not a number."),
        (b'{"amount":101}', "amount", "amount must be at most 100."),
        (b'{"amount":-1}', "amount", "amount must be at least 0."),
        (b"{}", "amount", "amount is missing."),
        (b'{"amount":1,"runs":2}', "runs", "runs is not a field of this command."),
        (
            b'{"amount":1,"parts":[{"kind":"medium"}]}',
            "parts[0].kind",
            "parts[0].kind cannot be 'medium'; it is one of small, large.",
        ),
        (b'{"amount":1,"parts":[{}]}', "parts[0].kind", "parts[0].kind is missing."),
        (
            b'{"amount":1,"parts":[{"kind":3}]}',
            "parts[0].kind",
            "parts[0].kind must be a text, not a whole number.",
        ),
        (b'{"amount":1,"parts":"both"}', "parts", "parts must be a list, not a text."),
        (b'{"amount":1,"note":"far too long a note"}', "note", "note must have at most 10 characters."),
        (b"[]", None, "The input must be an object, not a list."),
        (b'{"amount":', None, "The input is not JSON: Input data was truncated."),
    ],
)
def test_a_bad_value_is_refused_with_its_field_and_a_sentence(data: bytes, field: str | None, sentence: str):
    refusal = ask("check_and_step", state=start(), code="rogue.add", input=data, override=["invalid_input"])[
        "refusal"
    ]
    assert refusal == {"code": "invalid_input", "sentence": sentence, "field": field, "overridable": False}


@given(st.lists(st.integers(min_value=0, max_value=100), max_size=30))
def test_a_replay_is_the_steps_one_by_one(amounts: list[int]):
    state = state_before = start()
    events = [["rogue.add", json.dumps({"amount": amount}).encode(), ["too_much"]] for amount in amounts]
    replay = ask("replay", state=state, events=events)
    hashes, emits, warnings, last = [], [], [], None
    for amount in amounts:
        last = step(state, "rogue.add", {"amount": amount}, ("too_much",))
        state = last["state"]
        hashes.append(sha256(state).digest())
        emits.append(last["emits"])
        warnings.append(last["warnings"])
    assert replay["refusal"] is None
    assert replay["warnings_by_event"] == warnings
    assert (replay["state"], replay["hashes"], replay["emits_by_event"]) == (state, hashes, emits)
    assert replay["lines"] == (last["lines"] if last else [])
    assert replay["line_events"] == ([len(amounts) - 1] if amounts else [])
    assert replay["summary"] == ask("summary", state=state)["summary"]
    played = ask("play", state=state_before, events=events)
    assert {key: replay[key] for key in played if key != "id"} == {
        key: value for key, value in played.items() if key != "id"
    }


@pytest.mark.parametrize(
    "bad", [["rogue.add", b'{"amount":200}', []], ["rogue.fly", b"{}", []], ["rogue.add", b"{", []]]
)
def test_a_replay_ends_at_the_first_refusal(bad: Any):
    good = ["rogue.add", b'{"amount":3}', []]
    reply = ask("replay", state=start(), events=[good, good, bad, good])
    assert reply["refusal"]["index"] == 2
    assert json.loads(reply["state"])["total"] == 6
    assert len(reply["hashes"]) == len(reply["emits_by_event"]) == 2


def test_what_each_event_of_a_replay_wrote_can_be_compared():
    one, two, nothing = (["rogue.add", b'{"amount":%d}' % amount, []] for amount in (1, 2, 0))
    left = ask("replay", state=start(), events=[one, two, nothing])
    right = ask("replay", state=start(), events=[one, one, two])
    alike = [a == b for a, b in zip(left["line_hashes"], right["line_hashes"], strict=True)]
    assert alike == [True, False, False]
    assert [[warning["code"] for warning in event] for event in left["warnings_by_event"]] == [
        [],
        [],
        ["nothing"],
    ]


def test_players_who_join_in_a_replay_are_told_in_their_order():
    events = [["rogue.add", b'{"amount":1,"note":"%s"}' % note, []] for note in (b"zoe", b"adam")]
    joined = ask("replay", state=start(), events=events)["joined"]
    assert [(key, name) for _, key, name in joined] == [("zoe", "Zoe"), ("adam", "Adam")]


def test_a_replay_of_nothing_changes_nothing():
    state = start()
    reply = ask("replay", state=state, events=[])
    assert (reply["state"], reply["hashes"]) == (state, [])


@pytest.mark.parametrize(
    ("misdeed", "amount", "message"),
    [
        ("raise", 0, "LookupError: a mistake in the rules"),
        ("system_exit", 3, "SystemExit: 3"),
        ("recurse", 0, "RecursionError"),
        ("huge_reply", 2_000_000, "FrameTooLong: a message has"),
        ("huge_state", 0, "StateTooLarge: the state has"),
        ("state_is_a_list", 0, "ContractError: a state is an object"),
    ],
)
def test_a_failure_of_the_rules_is_an_answer(misdeed: str, amount: int, message: str):
    reply = step(start(), "rogue.misbehave", {"misdeed": misdeed, "amount": amount})
    assert reply["ok"] is False
    assert reply["error"]["kind"] == "rule_failed"
    assert reply["error"]["message"].startswith(message)
    assert "Traceback" in reply["error"]["stack"] or "line" in reply["error"]["stack"]


def test_a_failure_in_check_and_in_a_replay():
    reply = step(start(), "rogue.misbehave", {"misdeed": "raise", "in_check": True})
    assert "in check" in reply["error"]["stack"]
    assert (
        ask("replay", state=start(), events=[["rogue.misbehave", b'{"misdeed":"raise"}', []]])["ok"] is False
    )


def test_running_out_of_memory_is_no_answer():
    class Hungry(type(SPORT)):  # type: ignore[misc]
        def check(self, state, event):
            raise MemoryError

    operations = Operations(Hungry(), code_sha="abc", report=Report("full"), attempts=NOWHERE)
    with pytest.raises(MemoryError):
        operations.answer(
            {
                "op": "check_and_step",
                "id": 1,
                "state": start(),
                "code": "rogue.add",
                "input": b'{"amount":1}',
                "override": [],
            }
        )


def test_a_sport_that_changes_its_state_in_place_harms_nobody():
    state = start()
    first = step(state, "rogue.misbehave", {"misdeed": "mutate"})
    assert step(state, "rogue.misbehave", {"misdeed": "mutate"})["state"] == first["state"]


@pytest.mark.parametrize(
    "request_",
    [
        None,
        [],
        {"op": "ping"},
        {"op": "ping", "id": "1"},
        {"op": "fly", "id": 1},
        {"op": ["ping"], "id": 1},
        {"op": "summary", "id": 1},
        {"op": "summary", "id": 1, "state": "{}"},
        {
            "op": "check_and_step",
            "id": 1,
            "state": b"{}",
            "code": b"rogue.add",
            "input": b"{}",
            "override": [],
        },
        {
            "op": "replay",
            "id": 1,
            "state": b"{}",
            "events": [["rogue.add", b"{}", []]] * (REPLAY_EVENTS_MOST + 1),
        },
    ],
)
def test_what_is_no_request_ends_the_worker(request_: Any):
    with pytest.raises(FrameMalformed):
        OPERATIONS.answer(request_)


class Untellable(Exception):
    """Breaks when it is told."""

    def __str__(self) -> str:
        raise KeyError("text")


class Untouchable(Exception):
    """Breaks when it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise KeyError(name)


@pytest.mark.parametrize(("kind", "text"), [(Untellable, ""), (Untouchable, ""), (ValueError, "\ud800")])
def test_an_exception_that_cannot_be_told_is_a_failed_rule(
    kind: type[Exception], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(*_: Any) -> None:
        raise kind(text)

    monkeypatch.setattr(SPORT, "check", check)
    assert step(start(), "rogue.add", {"amount": 5})["error"]["kind"] == "rule_failed"


@pytest.mark.parametrize("sentence", ["\ud800", object(), 2**70])
def test_a_refusal_that_no_frame_can_hold_is_a_failed_rule(
    sentence: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SPORT, "check", lambda *_: Refusal("odd", sentence))
    assert step(start(), "rogue.add", {"amount": 5})["error"]["kind"] == "rule_failed"
