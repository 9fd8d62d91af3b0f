"""What a worker answers: request → reply over plain data, without sockets or processes.

Every request is a dict with `op` and `id`; every reply has `id` and `ok`. JSON values travel as
canonical bytes, which the server stores and hashes without decoding them. Shapes per op:

    hello          → sport, version, code_sha, contract, guard (its level), lacks (why it is not full)
    ping           → nothing more
    manifest       → manifest
    summary        state → summary
    initial_state  opening → as check_and_step, and opening
    check_and_step state, code, input, override
                   → refusal, state, lines, emits, warnings, joined, summary
    steps          items [[state, code, input, [override]], …] (at most 32), of different matches
                   → replies: for each {"ok": true, "cpu_us"} and as check_and_step, or
                     {"ok": false, "cpu_us", "error"}
    play           state, events [[code, input, [override]], …] (at most 250)
                   → refusal (with `index`), state, lines, emits_by_event, joined, summary
    replay         as play → also hashes, line_events, line_hashes, warnings_by_event

`refusal` is None or {code, sentence, field, overridable}. A refused check_and_step or initial_state has
nothing else; a refused play or replay carries everything up to the event before. Lines are
[subject, role, segment, values], warnings {code, sentence, field}, joined [side, key, name].

A play tells what events come to, a replay proves it: `hashes` has the state's after each event, `line_events`
the index of the event that wrote each line last, `line_hashes` the sha256 of what each event wrote, so that
two replays are compared event by event.

An exception in the sport's code becomes {"ok": false, "error": {"kind": "rule_failed", message, stack}}
and the worker lives on. An attempt at what the guard forbids, also where the sport swallowed the exception,
becomes one of kind "rule_forbidden": `message` goes on after "tried to", `what` is the call, `where` a line
of the sport's; the server replaces the worker. Running out of memory ends the worker: what it holds is in
doubt.
"""

import traceback
from collections.abc import Callable
from hashlib import sha256

# By name, for the guard takes the clocks out of their module.
from time import process_time_ns
from types import TracebackType
from typing import Any, cast

import msgspec

from runtime.errors import FrameMalformed
from runtime.worker.guard.attempts import Attempt, Attempts
from runtime.worker.guard.level import Report
from runtime.worker.inputs import explain
from runtime.worker.limits import REPLAY_EVENTS_MOST, STACK_TEXT_LIMIT_CHARACTERS, STEPS_MOST
from scorebox_contract import (
    CONTRACT_VERSION,
    ContractError,
    Event,
    EventSport,
    Refusal,
    Step,
    canonical,
    canonical_state,
    decode,
    manifest,
    state_hash,
)

Message = dict[str, Any]
LineKey = tuple[str, str, str]
"""Subject, role, segment."""

UNKNOWN_COMMAND = "unknown_command"
INVALID_INPUT = "invalid_input"
RULE_FAILED = "rule_failed"
RULE_FORBIDDEN = "rule_forbidden"

_NO_OVERRIDE: frozenset[str] = frozenset()


class Operations:
    """Answers the requests to one sport's code. Keeps no state between requests."""

    def __init__(self, sport: EventSport, *, code_sha: str, report: Report, attempts: Attempts) -> None:
        self._sport = sport
        self._code_sha = code_sha
        self._report = report
        self._attempts = attempts
        self._opening = msgspec.json.Decoder(sport.opening)
        self._inputs = {code: msgspec.json.Decoder(command.input) for code, command in sport.commands.items()}
        self._handlers: dict[str, Callable[[Message], Message]] = {
            "hello": self._hello,
            "ping": lambda _: {},
            "manifest": lambda _: {"manifest": canonical(manifest(sport))},
            "summary": lambda request: {"summary": canonical(sport.summary(decode(request["state"])))},
            "initial_state": self._initial_state,
            "check_and_step": self._check_and_step,
            "steps": self._steps,
            "play": self._play,
            "replay": self._replay,
        }

    def answer(self, request: Any) -> Message:
        """The reply to one request.

        Raises:
            FrameMalformed: not a request; the server and this worker do not speak alike.
            MemoryError: the worker ran out of memory and has to end.
        """
        handler = self._handler(request)
        try:
            reply = handler(request)
            attempt = self._attempts.take()
            if attempt is None:
                reply["ok"] = True
            else:
                reply = {"ok": False, "error": forbidden(attempt)}
        except MemoryError:
            raise
        except BaseException as error:
            # A sport may raise anything, SystemExit too; none of it may end the worker.
            reply = {"ok": False, "error": self.failed(error)}
        reply["id"] = request["id"]
        return reply

    def _handler(self, request: Any) -> Callable[[Message], Message]:
        if not isinstance(request, dict) or not isinstance(request.get("id"), int):
            raise FrameMalformed("a request is a map with an op and an id")
        op = request.get("op")
        if not isinstance(op, str) or op not in self._handlers:
            raise FrameMalformed(f"no op {op!r}")
        for name, kind in REQUEST_FIELDS[op].items():
            if not isinstance(request.get(name), kind):
                raise FrameMalformed(f"{op}: {name} must be {kind.__name__}")
        if op == "steps" and len(request["items"]) > STEPS_MOST:
            raise FrameMalformed(f"steps: {len(request['items'])} items, {STEPS_MOST} are allowed")
        if "events" in REQUEST_FIELDS[op] and len(request["events"]) > REPLAY_EVENTS_MOST:
            raise FrameMalformed(f"{op}: {len(request['events'])} events, {REPLAY_EVENTS_MOST} are allowed")
        return self._handlers[op]

    def _hello(self, _: Message) -> Message:
        return {
            "sport": self._sport.code,
            "version": self._sport.version,
            "code_sha": self._code_sha,
            "contract": CONTRACT_VERSION,
            "guard": self._report.level,
            "lacks": list(self._report.lacks),
        }

    def _initial_state(self, request: Message) -> Message:
        try:
            opening = self._opening.decode(request["opening"])
        except msgspec.DecodeError as error:
            return {"refusal": invalid_input(error, self._sport.opening)}
        refusal = self._sport.check_opening(opening)
        if refusal is not None:
            return {"refusal": refusal_data(refusal)}
        reply = self._stepped(Step(self._sport.initial_state(opening)))
        reply["opening"] = canonical(opening)
        return reply

    def _check_and_step(self, request: Message) -> Message:
        outcome = self._one_event(
            decode(request["state"]), request["code"], request["input"], request["override"]
        )
        return self._stepped(outcome) if isinstance(outcome, Step) else {"refusal": outcome}

    def _steps(self, request: Message) -> Message:
        replies: list[Message] = []
        for state, code, data, override in request["items"]:
            started = process_time_ns()
            try:
                outcome = self._one_event(decode(state), code, data, override)
                stepped = self._stepped(outcome) if isinstance(outcome, Step) else {"refusal": outcome}
                if attempt := self._attempts.take():
                    replies.append({"ok": False, "error": forbidden(attempt)})
                else:
                    replies.append({"ok": True, **stepped})
            except MemoryError:
                raise
            except BaseException as error:
                # As in `answer`: one item's failure is its own.
                replies.append({"ok": False, "error": self.failed(error)})
            replies[-1]["cpu_us"] = (process_time_ns() - started) // 1000
        return {"replies": replies}

    def failed(self, error: BaseException) -> Message:
        """What an exception of the sport's code comes to: a failure, or an attempt at what is forbidden."""
        attempt = self._attempts.take()
        # Its type is asked, not the exception: one of the sport's may break when it is looked at.
        if attempt is None and issubclass(type(error), PermissionError):
            attempt = refused_by_kernel(cast(PermissionError, error), self._attempts)
        reply = failure(error) if attempt is None else forbidden(attempt)
        # The lines of a stack are looked for in files that may not be read.
        self._attempts.take()
        return reply

    def _one_event(self, state: Any, code: str, data: bytes, override: list[str]) -> Step | Message:
        decoder = self._inputs.get(code)
        if decoder is None:
            return unknown_command(code, self._sport.name)
        try:
            value = decoder.decode(data)
        except msgspec.DecodeError as error:
            return invalid_input(error, self._sport.commands[code].input)
        event = Event(code, value, frozenset(override) if override else _NO_OVERRIDE)
        refusal = self._sport.check(state, event)
        if refusal is not None:
            return refusal_data(refusal)
        return self._sport.step(state, event)

    def _stepped(self, step: Step) -> Message:
        data = state_bytes(step.state)
        return {
            "refusal": None,
            "state": data,
            "lines": [(line.subject, line.role, line.segment, canonical(line.values)) for line in step.lines],
            "emits": list(step.emits),
            "warnings": warnings_data(step),
            "joined": [(joined.side, joined.key, joined.name) for joined in step.joined],
            "summary": canonical(self._sport.summary(step.state)),
        }

    def _play(self, request: Message) -> Message:
        return self._events(request, lambda stepped, data: None)

    def _replay(self, request: Message) -> Message:
        hashes: list[bytes] = []
        line_hashes: list[bytes] = []
        line_events: dict[LineKey, int] = {}
        warnings: list[list[Message]] = []

        def prove(step: Step, data: bytes) -> None:
            hashes.append(state_hash(data))
            warnings.append(warnings_data(step))
            written = sha256()
            for line in step.lines:
                written.update(canonical([line.subject, line.role, line.segment]) + canonical(line.values))
                line_events[line.subject, line.role, line.segment] = len(line_hashes)
            line_hashes.append(written.digest())

        reply = self._events(request, prove)
        return reply | {
            "hashes": hashes,
            "line_hashes": line_hashes,
            "line_events": [
                line_events[subject, role, segment] for subject, role, segment, _ in reply["lines"]
            ],
            "warnings_by_event": warnings,
        }

    def _events(self, request: Message, heard: Callable[[Step, bytes], None]) -> Message:
        """Play the events of a request; `heard` gets each step and the bytes of its state."""
        data: bytes = request["state"]
        emits: list[list[str]] = []
        joined: list[tuple[str, str, str]] = []
        lines: dict[LineKey, bytes] = {}
        refusal: Message | None = None
        for index, (code, value, override) in enumerate(request["events"]):
            # Decoded anew for every event: live scoring does the same, so both hand a sport equal values.
            outcome = self._one_event(decode(data), code, value, override)
            if not isinstance(outcome, Step):
                refusal = {**outcome, "index": index}
                break
            data = state_bytes(outcome.state)
            emits.append(list(outcome.emits))
            joined += [(player.side, player.key, player.name) for player in outcome.joined]
            for line in outcome.lines:
                lines[line.subject, line.role, line.segment] = canonical(line.values)
            heard(outcome, data)
        return {
            "refusal": refusal,
            "state": data,
            "lines": [(*key, values) for key, values in lines.items()],
            "emits_by_event": emits,
            "joined": joined,
            "summary": canonical(self._sport.summary(decode(data))),
        }


REQUEST_FIELDS: dict[str, dict[str, type]] = {
    "hello": {},
    "ping": {},
    "manifest": {},
    "summary": {"state": bytes},
    "initial_state": {"opening": bytes},
    "check_and_step": {"state": bytes, "code": str, "input": bytes, "override": list},
    "steps": {"items": list},
    "play": {"state": bytes, "events": list},
    "replay": {"state": bytes, "events": list},
}
"""What each op's request carries beside `op` and `id`."""


def state_bytes(state: Any) -> bytes:
    """The canonical bytes of a state that is an object, at most 16 KB.

    Raises:
        ContractError: the sport handed back something else.
    """
    if not isinstance(state, dict):
        raise ContractError(f"a state is an object with string keys, not {type(state).__name__}")
    return canonical_state(state)


def refusal_data(refusal: Refusal) -> Message:
    """A sport's refusal as plain data."""
    return {
        "code": refusal.code,
        "sentence": refusal.sentence,
        "field": refusal.field,
        "overridable": refusal.overridable,
    }


def warnings_data(step: Step) -> list[Message]:
    """A step's warnings as plain data."""
    return [
        {"code": warning.code, "sentence": warning.sentence, "field": warning.field}
        for warning in step.warnings
    ]


def unknown_command(code: str, sport_name: str) -> Message:
    """The refusal of a command this version of the sport does not take."""
    sentence = f"{sport_name} in this version takes no command {code}."
    return {"code": UNKNOWN_COMMAND, "sentence": sentence, "field": "code", "overridable": False}


def invalid_input(error: msgspec.DecodeError, input_type: Any) -> Message:
    """The refusal of a value that cannot be decoded: with its field and a sentence."""
    field, sentence = explain(error, input_type)
    return {"code": INVALID_INPUT, "sentence": sentence, "field": field, "overridable": False}


def failure(error: BaseException) -> Message:
    """An exception of the sport's code as plain data; the end of the stack is what tells most."""
    return {
        "kind": RULE_FAILED,
        "message": _told(lambda: f"{type(error).__name__}: {error}"[:STACK_TEXT_LIMIT_CHARACTERS]),
        "stack": _stack(error),
    }


def forbidden(attempt: Attempt) -> Message:
    """An attempt at what the guard forbids, as plain data."""
    return {
        "kind": RULE_FORBIDDEN,
        "message": attempt.deed,
        "what": _told(lambda: attempt.what[:STACK_TEXT_LIMIT_CHARACTERS]),
        "where": attempt.where,
        "stack": _told(lambda: attempt.stack[-STACK_TEXT_LIMIT_CHARACTERS:]),
    }


def refused_by_kernel(error: PermissionError, attempts: Attempts) -> Attempt:
    """The attempt that ended in the kernel's refusal, told by the innermost line of the sport's."""
    where = ""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        where = attempts.where(step.tb_frame.f_code.co_filename, step.tb_lineno) or where
        step = step.tb_next
    what = _told(lambda: str(error))
    return Attempt("do what the kernel refuses", what, where, _stack(error))


def _stack(error: BaseException) -> str:
    return _told(lambda: "".join(traceback.format_exception(error))[-STACK_TEXT_LIMIT_CHARACTERS:])


def _told(tell: Callable[[], str]) -> str:
    """A text that the sport's exception tells; one that breaks on it, or is no Unicode, ends no worker."""
    try:
        return tell().encode(errors="backslashreplace").decode()
    except MemoryError:
        raise
    except BaseException as broken:
        return f"an exception that cannot be told ({type(broken).__name__})"
