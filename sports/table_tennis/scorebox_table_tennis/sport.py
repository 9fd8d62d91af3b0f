"""Table tennis as an events sport: every command with its rule."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scorebox_contract import Command, Event, Opening, Refusal, State, Step, Summary
from scorebox_table_tennis import catalogue, checkpoint, conduct, ending, rally, service
from scorebox_table_tennis.commands import TableTennisOpening
from scorebox_table_tennis.lines import game_lines, match_lines
from scorebox_table_tennis.opening import check_opening, initial_state
from scorebox_table_tennis.pads import COMMANDS
from scorebox_table_tennis.score import match_winner
from scorebox_table_tennis.state import Draft
from scorebox_table_tennis.summary import summary

Check = Callable[[State, Any], Iterator[Refusal]]
Apply = Callable[[Draft, Any], None]

MATCH_OVER = Refusal("match_over", "The match is over.", overridable=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a command is checked by and what it does.

    `plays`: it needs a match that is not over. `counts`: it changes figures. `reopens`: passed over the
    end of a match that its games do not decide, it lets play go on.
    """

    apply: Apply
    check: Check | None = None
    plays: bool = True
    counts: bool = True
    reopens: bool = False


RULES: dict[str, Rule] = {
    "table_tennis.point": Rule(rally.win_point, rally.check_point, reopens=True),
    "table_tennis.let": Rule(rally.play_let, counts=False, reopens=True),
    "table_tennis.service": Rule(service.serve, service.check_service, counts=False, reopens=True),
    "table_tennis.ends": Rule(conduct.set_ends, conduct.check_ends, counts=False, reopens=True),
    "table_tennis.expedite": Rule(rally.begin_expedite, rally.check_expedite, counts=False, reopens=True),
    "table_tennis.time_out": Rule(conduct.take_time_out, conduct.check_time_out, reopens=True),
    "table_tennis.card": Rule(conduct.show_card, conduct.check_card),
    "table_tennis.medical": Rule(conduct.suspend, conduct.check_medical, counts=False, reopens=True),
    "table_tennis.interval": Rule(conduct.take_interval, counts=False, reopens=True),
    "table_tennis.toss": Rule(conduct.take_toss, conduct.check_toss, counts=False),
    "table_tennis.officials": Rule(conduct.name_officials, plays=False, counts=False),
    "table_tennis.set_score": Rule(checkpoint.set_score, checkpoint.check_set_score),
    "table_tennis.retire": Rule(ending.retire, ending.check_withdrawal, counts=False),
    "table_tennis.walkover": Rule(ending.walk_over, ending.check_walkover, counts=False),
    "table_tennis.disqualify": Rule(ending.disqualify, ending.check_withdrawal, counts=False),
    "table_tennis.abandon": Rule(ending.abandon, counts=False),
}
"""Code → rule."""


class TableTennis:
    """Table tennis by the ITTF Laws."""

    code = "table_tennis"
    name = "Table tennis"
    version = "1.0.0"
    opening: type[Opening] = TableTennisOpening
    commands: Mapping[str, Command] = COMMANDS
    roles: Mapping[str, str] = catalogue.ROLES
    keys: Mapping[str, Mapping[str, str]] = catalogue.KEYS

    def initial_state(self, opening: TableTennisOpening) -> State:
        """The state before the first event."""
        return initial_state(opening)

    def check_opening(self, opening: TableTennisOpening) -> Refusal | None:
        """Why an opening cannot be played, or None."""
        return check_opening(opening)

    def check(self, state: State, event: Event) -> Refusal | None:
        """The first refusal that the event does not override, or None."""
        for refusal in _refusals(state, event):
            if not (refusal.overridable and refusal.code in event.override):
                return refusal
        return None

    def step(self, state: State, event: Event) -> Step:
        """What an event that passed `check` does."""
        rule = RULES[event.code]
        draft = Draft(state)
        if rule.reopens and state["result"] is not None and match_winner(state) is None:
            draft.state["result"] = None
            draft.emits.append("match_reopened")
        rule.apply(draft, event.input)
        if rule.counts:
            _draw_lines(draft)
        return Step(
            state=draft.state,
            lines=tuple(draft.lines),
            emits=tuple(dict.fromkeys(draft.emits)),
            warnings=tuple(draft.warnings),
        )

    def summary(self, state: State) -> Summary:
        """The score that others compare."""
        return summary(state)


def _draw_lines(draft: Draft) -> None:
    """The lines of the game in play, if it has begun, and of the match."""
    state = draft.state
    if any(draft.play["score"]):
        number = len(state["games"]) + 1
        draft.lines += game_lines(state, number, draft.play)
        state["lined"] = max(state["lined"], number)
    draft.lines += match_lines(state)


def _refusals(state: State, event: Event) -> Iterator[Refusal]:
    rule = RULES.get(event.code)
    if rule is None:
        yield Refusal("unknown_command", f"Table tennis has no command {event.code!r}.")
        return
    if rule.plays and state["result"] is not None:
        yield MATCH_OVER
    if rule.check is not None:
        yield from rule.check(state, event.input)
