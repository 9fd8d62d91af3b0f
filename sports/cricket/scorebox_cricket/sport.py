"""Cricket as an events sport: every command with its rules."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scorebox_contract import Command, Event, Opening, Refusal, State, Step, Summary
from scorebox_cricket import (
    batters,
    catalogue,
    checkpoint,
    delivery,
    facts,
    innings,
    over,
    penalty,
    replacement,
    result,
    tie_break,
)
from scorebox_cricket.commands import CricketOpening
from scorebox_cricket.lines import changed_lines
from scorebox_cricket.opening import check_opening, initial_state
from scorebox_cricket.pads import COMMANDS
from scorebox_cricket.state import Draft
from scorebox_cricket.summary import summary

Check = Callable[[State, Any], Iterator[Refusal]]
Apply = Callable[[Draft, Any], None]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a command is checked by and what it does.

    `plays`: it goes on with the innings, which must be open (passed over, a closed one is reopened).
    `counts`: it can change figures, so innings and result are settled after it.
    """

    apply: Apply
    check: Check | None = None
    plays: bool = False
    counts: bool = True


def _check_innings_begun(check: Check) -> Check:
    """For what may be said of an innings that has ended with its last ball."""

    def checked(state: State, given: Any) -> Iterator[Refusal]:
        if not state["innings"]:
            yield innings.NOT_STARTED
        yield from check(state, given)

    return checked


def _only_logged(emit: str) -> Apply:
    def apply(draft: Draft, given: Any) -> None:
        draft.emits.append(emit)

    return apply


RULES: dict[str, Rule] = {
    "cricket.delivery": Rule(delivery.deliver, delivery.check_delivery, plays=True),
    "cricket.over": Rule(over.end_over, innings.check_over),
    "cricket.bowler_change": Rule(replacement.change, replacement.check_bowler_change, plays=True),
    "cricket.role_replacement": Rule(
        replacement.replace_in_role, replacement.check_role_replacement, plays=True
    ),
    "cricket.retire": Rule(batters.retire, _check_innings_begun(batters.check_retire)),
    "cricket.resume": Rule(batters.resume, batters.check_resume, plays=True),
    "cricket.timed_out": Rule(batters.timed_out, batters.check_timed_out, plays=True),
    "cricket.absent": Rule(batters.absent, _check_innings_begun(batters.check_absent)),
    "cricket.innings": Rule(innings.start_innings, innings.check_innings),
    "cricket.innings_end": Rule(innings.end_innings, innings.check_end),
    "cricket.penalty": Rule(penalty.give_penalty, penalty.check_penalty),
    "cricket.revise": Rule(facts.revise, facts.check_revise),
    "cricket.set_score": Rule(checkpoint.set_score, checkpoint.check_set_score),
    "cricket.bowl_out": Rule(tie_break.bowl, tie_break.check_bowl_out),
    "cricket.result": Rule(result.give_result, result.check_result),
    "cricket.toss": Rule(facts.take_toss, facts.check_toss, counts=False),
    "cricket.officials": Rule(_only_logged("officials"), counts=False),
    "cricket.player": Rule(replacement.join, replacement.check_join, counts=False),
    "cricket.replacement": Rule(replacement.replace, replacement.check_replacement, counts=False),
    "cricket.substitute": Rule(replacement.substitute, replacement.check_substitute, counts=False),
    "cricket.powerplay": Rule(
        facts.take_powerplay, _check_innings_begun(facts.check_powerplay), counts=False
    ),
    "cricket.review": Rule(facts.take_review, _check_innings_begun(facts.check_review), counts=False),
    "cricket.interval": Rule(facts.take_interval, counts=False),
}
"""Code → rule."""


class Cricket:
    """Cricket by the Laws, with the playing conditions as data of the match."""

    code = "cricket"
    name = "Cricket"
    version = "1.0.0"
    opening: type[Opening] = CricketOpening
    commands: Mapping[str, Command] = COMMANDS
    roles: Mapping[str, str] = catalogue.ROLES
    keys: Mapping[str, Mapping[str, str]] = catalogue.KEYS

    def initial_state(self, opening: CricketOpening) -> State:
        """The state before the first event."""
        return initial_state(opening)

    def check_opening(self, opening: CricketOpening) -> Refusal | None:
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
        if rule.plays:
            innings.go_on(draft)
        rule.apply(draft, event.input)
        if rule.counts:
            innings.settle(draft)
            result.settle_result(draft)
        return Step(
            state=draft.state,
            lines=changed_lines(draft),
            emits=tuple(dict.fromkeys(draft.emits)),
            warnings=tuple(draft.warnings),
            joined=tuple(draft.joined),
        )

    def summary(self, state: State) -> Summary:
        """The score that others compare."""
        return summary(state)


def _refusals(state: State, event: Event) -> Iterator[Refusal]:
    rule = RULES.get(event.code)
    if rule is None:
        yield Refusal("unknown_command", f"Cricket has no command {event.code!r}.")
        return
    if rule.plays:
        yield from innings.check_playing(state)
    if rule.check is not None:
        yield from rule.check(state, event.input)
