"""That what was refused could not be taken: a refusal rests on the match as its sender saw it. Pure.

A command is judged only while no event came after its `saw`: so what it was judged on is known, and can be
judged again.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gateway.protocol import CommandFrame, Refused
from runtime.worker.ops import Operations
from scorebox_contract import canonical
from tests.simulation.model import PLACED, Impossible, Played, played
from tests.simulation.tables import Match, Row

ELSEWHERE = frozenset(
    {"id_reused", "rule_forbidden", "rule_stuck", "not_saved", "unknown_match", "cannot_flag"}
)
"""Refusals that do not come from the events, or from a fault that was planted."""
NO_SEQ = 1_000_000
"""Of the row it would have become: rows that change no event may have come between."""
REVERTIBLE = (*PLACED, "match.undo", "match.revert")


def check_refusal(
    match: Match, frame: CommandFrame, answer: Refused, operations: Operations
) -> Iterator[str]:
    """What is wrong with a refusal."""
    if answer.code in ELSEWHERE or frame.saw > match.last_seq:
        return
    if not frame.code.startswith("match."):
        yield from _of_an_event(match, frame, answer, operations)
    elif frame.code in REVERTIBLE:
        yield from _of_a_correction(match, frame, answer, operations)


def _of_an_event(match: Match, frame: CommandFrame, answer: Refused, operations: Operations) -> Iterator[str]:
    reply = operations.answer(
        {
            "op": "check_and_step",
            "id": 1,
            "state": match.history[frame.saw].state.encode(),
            "code": frame.code,
            "input": canonical(frame.input),
            "override": list(frame.override),
        }
    )
    refusal = reply["refusal"]["code"] if reply["ok"] and reply["refusal"] else None
    wanted = refusal if reply["ok"] else "rule_failed"
    if answer.code != wanted:
        yield f"was refused with {answer.code} on row {frame.saw}, where the rules say {wanted or 'yes'}"


def _of_a_correction(
    match: Match, frame: CommandFrame, answer: Refused, operations: Operations
) -> Iterator[str]:
    log, given = match.log[: frame.saw], frame.input
    if frame.code == "match.undo" and "event" in given:
        return
    if frame.code == "match.revert" and log[given["seq"] - 1 :]:
        target = log[given["seq"] - 1]["event_type"]
        if target not in REVERTIBLE:
            return
    row: Row = {
        "seq": NO_SEQ,
        "event_type": frame.code,
        "payload": json.dumps(given),
        "override": [],
        "resolved": '{"skipped":[]}' if frame.code == "match.undo" else None,
    }
    try:
        before, after = _standing(log), _standing([*log, row])
    except Impossible:
        return
    if answer.code == "cannot_correct" and before != after:
        yield f"was refused on row {frame.saw} ({answer.sentence}), where it can be"
    if answer.code != "cannot_correct" and _fits(match, after, operations):
        yield f"was refused with {answer.code} on row {frame.saw}, where all events fit"


def _standing(log: Sequence[Row]) -> list[Played]:
    return [event for event in played(log) if event.stands]


def _fits(match: Match, events: Sequence[Played], operations: Operations) -> bool:
    opening = match.log[0]["payload"].encode()
    opened = operations.answer({"op": "initial_state", "id": 1, "opening": opening})
    items = [(event.code, canonical(event.input), list(event.override)) for event in events]
    reply: dict[str, Any] = operations.answer(
        {"op": "play", "id": 1, "state": opened["state"], "events": items}
    )
    return bool(reply["ok"]) and reply["refusal"] is None
