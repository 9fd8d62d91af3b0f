"""Real files scored with wrong taps and corrected in another order: they end at the file's own figures.

The log, its effective log and every correction are the server's own; the sport runs in this process.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.corrections import plan, read
from gateway.effective import CORRECT, INSERT, VOID, Entry, Name, Row, effective, standing
from scorebox_contract.events import Event
from scorebox_cricket import SPORT
from sports.readers.cricsheet import read_cricsheet
from sports.readers.cricsheet_expected import expected_of
from sports.readers.steps import DELIVERY, Step
from tests.sports.readers.scoring import Playable, score
from tests.sports.readers.shared_files import cricket_parameters

SEED = 20260601
WRONG_TAPS = 12
"""Tried in each match; those after which play could not have gone on are not made."""
LEAST_WRONG_TAPS = 4
DRAWS = 5
"""How often wrong taps are drawn until enough of them can be made and a figure is wrong."""
CHANGED, MISSED, SURPLUS = "changed", "missed", "surplus"
RUNS = (0, 1, 2, 3, 4, 6)
REASON = {"reason": "a wrong tap"}


@dataclass(frozen=True, slots=True)
class Match:
    """A match to be scored: an opening and steps that are all due."""

    opening: dict[str, Any]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """What was tapped instead of a right event."""

    kind: str
    taps: tuple[Step, ...]


def spoil(match: Playable, right: Sequence[Step], chance: random.Random) -> dict[int, Wrong]:
    """What a scorer taps wrongly, by the places of the right events, such that the rules take every tap.

    Where a right event could no longer be scored, the wrong tap to blame is not made.
    """
    places = chance.sample(range(1, len(right)), min(WRONG_TAPS, len(right) // 3))
    kinds = (CHANGED, MISSED, SURPLUS)
    wrong = {place: mistake(right[place], kinds[n % 3], chance) for n, place in enumerate(places)}
    while (stuck := refused_at(match, right, wrong, len(right))) is not None:
        suspects = sorted((place for place in wrong if place <= stuck), reverse=True)
        guilty = (one for one in suspects if refused_at(match, right, without(wrong, one), stuck + 1) is None)
        wrong = without(wrong, next(guilty, suspects[0]))
    return wrong


def mistake(step: Step, kind: str, chance: random.Random) -> Wrong:
    """A wrong tap of a kind; what is mistyped is the runs of a ball, other events are missed."""
    if kind == SURPLUS:
        return Wrong(SURPLUS, (step, step))
    if kind == MISSED or step.code != DELIVERY:
        return Wrong(MISSED, ())
    runs = chance.choice([runs for runs in RUNS if runs != step.input.get("bat", 0)])
    return Wrong(CHANGED, (Step(step.code, step.input | {"bat": runs}),))


def without(wrong: dict[int, Wrong], place: int) -> dict[int, Wrong]:
    """One wrong tap less."""
    return {one: what for one, what in wrong.items() if one != place}


def refused_at(match: Playable, right: Sequence[Step], wrong: dict[int, Wrong], until: int) -> int | None:
    """The first place whose taps the rules refuse, before `until`."""
    state = SPORT.initial_state(msgspec.convert(match.opening, SPORT.opening))
    for place, step in enumerate(right[:until]):
        for tap in wrong[place].taps if place in wrong else (step,):
            event = event_of(tap.code, tap.input, tap.override)
            if SPORT.check(state, event) is not None:
                return place
            state = SPORT.step(state, event).state
    return None


def event_of(code: str, given: dict[str, Any], override: Sequence[str]) -> Event:
    """An event as a sport gets it."""
    return Event(code, msgspec.convert(given, SPORT.commands[code].input), frozenset(override))


class Book:
    """A log that is corrected as the server does it, with force."""

    def __init__(self, match: Playable, right: Sequence[Step], wrong: dict[int, Wrong]) -> None:
        self.match = match
        self.rows: list[Row] = []
        self.names: dict[int, Name] = {}
        """Where the right events stand in the log, by their places."""
        for place, step in enumerate(right):
            for tap in wrong[place].taps if place in wrong else (step,):
                self.names.setdefault(place, Name(self.next_seq))
                self.rows.append(Row(self.next_seq, tap.code, tap.input))

    @property
    def next_seq(self) -> int:
        """The opening has the first."""
        return len(self.rows) + 2

    def correct(self, code: str, given: dict[str, Any]) -> int:
        """One more row; its seq."""
        given = given | REASON
        read(code, given)
        seq = self.next_seq
        planned = plan(self.rows, code, given, seq)
        skipped = [[name.seq, name.place] for name in self.unfit(planned.after)]
        self.rows.append(Row(seq, code, given, resolved=planned.resolved | {"skipped": skipped}))
        return seq

    def unfit(self, entries: Sequence[Entry]) -> list[Name]:
        """The events that the rules refuse, each passed over."""
        state = SPORT.initial_state(msgspec.convert(self.match.opening, SPORT.opening))
        refused = []
        for entry in entries:
            event = event_of(entry.code, entry.input, entry.override)
            if SPORT.check(state, event) is None:
                state = SPORT.step(state, event).state
            else:
                refused.append(entry.name)
        return refused

    def put_right(self, place: int, kind: str, step: Step) -> None:
        """The correction of one wrong tap: `step` is the right event."""
        if kind == CHANGED:
            self.correct(CORRECT, {"event": self.names[place].seq, "input": step.input})
        elif kind == SURPLUS:
            self.correct(VOID, {"event": self.names[place].seq + 1})
        else:
            before = next((self.names[one] for one in range(place - 1, -1, -1) if one in self.names), Name(1))
            missed = {"after": before.seq, "code": step.code, "input": step.input}
            self.names[place] = Name(self.correct(INSERT, missed))

    def score(self) -> dict[str, Any]:
        """The document that the log comes to."""
        entries = standing(effective(self.rows))
        return score(
            SPORT, Match(self.match.opening, tuple(Step(one.code, one.input) for one in entries))
        ).document


@pytest.mark.parametrize("file", cricket_parameters())
def test_a_spoilt_file_is_corrected_to_its_own_figures(file: Path):
    match = read_cricsheet(file)
    whole = score(SPORT, match)
    assert all(not step.override for step in whole.sent)
    chance = random.Random(f"{SEED} {file.stem}")
    expected = expected_of(match)
    # A match that was rained off has a few events only.
    least = min(LEAST_WRONG_TAPS, len(whole.sent) // 3)
    for _ in range(DRAWS):
        wrong = spoil(match, whole.sent, chance)
        book = Book(match, whole.sent, wrong)
        figures = expected.differences(book.score())
        if len(wrong) >= least and figures:
            break
    assert len(wrong) >= least > 0
    assert figures != []
    order = list(wrong)
    chance.shuffle(order)
    for place in order:
        book.put_right(place, wrong[place].kind, whole.sent[place])
    corrected = book.score()
    assert expected.differences(corrected) == []
    assert corrected == whole.document
