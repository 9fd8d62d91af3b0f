"""What a log comes to, by docs/protocol.md: apart from `gateway.effective`, to be held against it.

Slow and plain: for every question the whole log is gone through again.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulation.tables import Row

PLACED = ("match.correct", "match.void", "match.insert", "match.amend")
QUIET = ("match.flag", "match.official", "match.reopen")


class Impossible(Exception):
    """A row that should never have been accepted."""


@dataclass(slots=True)
class Played:
    """One event."""

    name: tuple[int, int]
    code: str
    input: dict[str, Any]
    override: tuple[str, ...]
    taken_back: bool = False
    passed_over: bool = False

    @property
    def stands(self) -> bool:
        return not self.taken_back and not self.passed_over


def in_force(log: Sequence[Row], row: Row) -> bool:
    """Whether no revert that is itself in force takes this row back."""
    return not any(
        later["event_type"] == "match.revert"
        and json.loads(later["payload"])["seq"] == row["seq"]
        and in_force(log, later)
        for later in log
        if later["seq"] > row["seq"]
    )


def played(log: Sequence[Row]) -> list[Played]:
    """Every event of a log in the order they count, those taken back included.

    Raises:
        Impossible: a row changes what is not there.
    """
    undone: dict[int, tuple[int, int]] = {}
    for index, row in enumerate(log):
        if row["event_type"] == "match.undo":
            # Which event was the newest is a matter of the moment it was sent.
            standing = [event for event in _go_through(log[:index], undone) if event.stands]
            if not standing:
                raise Impossible(f"row {row['seq']} undoes, but nothing stands")
            undone[row["seq"]] = standing[-1].name
    return _go_through(log, undone)


def _go_through(log: Sequence[Row], undone: dict[int, tuple[int, int]]) -> list[Played]:
    events: list[Played] = []
    corrected = any(row["event_type"] == "match.revert" for row in log)
    for row in log:
        code = row["event_type"]
        if code == "match.open" or code in QUIET or (corrected and not in_force(log, row)):
            continue
        given = json.loads(row["payload"])
        if not code.startswith("match."):
            events.append(Played((row["seq"], 0), code, given, tuple(row["override"])))
        elif code == "match.undo":
            _named(events, undone[row["seq"]]).taken_back = True
        elif code in PLACED:
            _change(events, code, given, row["seq"])
        _pass_over(events, row)
    return events


def _change(events: list[Played], code: str, given: dict[str, Any], seq: int) -> None:
    place = 0
    steps = given["edits"] if code == "match.amend" else [{**given, "edit": code.removeprefix("match.")}]
    for step in steps:
        if step["edit"] == "insert":
            after = (step["after"], step.get("after_place", 0))
            at = 0 if after == (1, 0) else events.index(_named(events, after)) + 1
            override = tuple(step.get("override", ()))
            events.insert(at, Played((seq, place), step["code"], step["input"], override))
            place += 1
            continue
        event = _named(events, (step["event"], step.get("event_place", 0)))
        if event.taken_back:
            raise Impossible(f"row {seq} changes event {event.name}, which was taken back")
        if step["edit"] == "void":
            event.taken_back = True
        else:
            event.code = step.get("code") or event.code
            event.input = step["input"]
            event.override = tuple(step.get("override", ()))


def _pass_over(events: list[Played], row: Row) -> None:
    """Events that a forced correction passed over; the next one that is worked out tries them again."""
    resolved = json.loads(row["resolved"]) if row["resolved"] else {}
    code = row["event_type"]
    if "skipped" not in resolved and code not in PLACED:
        return
    over = {tuple(name) for name in resolved.get("skipped", ())}
    for event in events:
        keeps = event.passed_over and code not in (*PLACED, "match.undo")
        event.passed_over = event.name in over or keeps


def _named(events: list[Played], name: tuple[int, int]) -> Played:
    for event in events:
        if event.name == name:
            return event
    raise Impossible(f"there is no event {name}")
