"""Matches that end otherwise than by their games: the score stays as far as it was played."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_table_tennis import conduct
from scorebox_table_tennis.commands import Abandon, Withdrawal
from scorebox_table_tennis.score import played
from scorebox_table_tennis.sides import check_side
from scorebox_table_tennis.state import Draft


def check_withdrawal(state: State, given: Withdrawal) -> Iterator[Refusal]:
    """The side plays here."""
    yield from check_side(state, given.side, "side")


def check_walkover(state: State, given: Withdrawal) -> Iterator[Refusal]:
    """A walkover has no score."""
    yield from check_side(state, given.side, "side")
    if played(state):
        yield Refusal(
            "begun", "Points have been played: a side that goes no further retires.", overridable=True
        )


def retire(draft: Draft, given: Withdrawal) -> None:
    """The side cannot go on."""
    _lose(draft, given, "retired")


def walk_over(draft: Draft, given: Withdrawal) -> None:
    """The side did not come."""
    _lose(draft, given, "walkover")


def disqualify(draft: Draft, given: Withdrawal) -> None:
    """The referee disqualifies the side."""
    conduct.disqualify(draft, draft.side(given.side))


def abandon(draft: Draft, given: Abandon) -> None:
    """Nobody wins."""
    draft.state["result"] = {"kind": "abandoned", "winner": None, "method": None}
    draft.emits.append("match_end")


def _lose(draft: Draft, given: Withdrawal, method: str) -> None:
    draft.state["result"] = {"kind": "won", "winner": 1 - draft.side(given.side), "method": method}
    draft.emits.append("match_end")
