"""What decides a tie where something does: super overs, any number of them, or a bowl-out."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import BowlOut
from scorebox_cricket.sheet import find_player
from scorebox_cricket.state import INCOMPLETE, Draft, Record, in_progress
from scorebox_cricket.target import main_innings, super_overs, target_of

BOWL_OUT_BALLS = 5
"""Balls of each side in a bowl-out before it goes on ball by ball."""
SUPER_OVER = "super over"
BOWL_OUT = "bowl-out"


def decide_tie(state: State, tie: Record) -> Record | None:
    """The result of a tied match: with a winner, the bare tie where nothing breaks it, or None while open."""
    turns = super_overs(state)
    winner = _super_over_winner(turns)
    if winner is not None:
        return {**tie, "winner": winner, "method": SUPER_OVER}
    if state["bowl_out"] is not None:
        winner = bowl_out_winner(state["bowl_out"])
        return None if winner is None else {**tie, "winner": winner, "method": BOWL_OUT}
    return tie if not turns and state["format"]["super_over"] is None else None


def _super_over_winner(turns: list[Record]) -> int | None:
    if len(turns) % 2 or not turns:
        return None
    first, second = turns[-2:]
    if second["runs"] > first["runs"]:
        winner: int = second["side"]
        return winner
    if second["closed"] is None or second["closed"] in INCOMPLETE or second["runs"] == first["runs"]:
        return None
    ahead: int = first["side"]
    return ahead


def bowl_out_winner(tally: list[list[int]]) -> int | None:
    """The side whose hits the other cannot reach any more; after five balls each, ball by ball."""
    (hits, balls), (other_hits, other_balls) = tally
    rounds = max(BOWL_OUT_BALLS, balls, other_balls)
    if hits > other_hits + rounds - other_balls:
        return 0
    if other_hits > hits + rounds - balls:
        return 1
    return None


def check_bowl_out(state: State, given: BowlOut) -> Iterator[Refusal]:
    """Refuses a bowl-out in a match that is not tied."""
    found = find_player(state, given.bowler)
    if found is None:
        yield Refusal("unknown_player", f"Nobody is called {given.bowler!r}: add the player first.", "bowler")
    result = state["result"]
    if result is not None and (result["given"] or result["method"] == BOWL_OUT):
        yield Refusal("match_over", "The match is over.", overridable=True)
    mains = main_innings(state)
    level = bool(mains) and target_of(state, mains[-1]) == mains[-1]["runs"] + 1
    if in_progress(state) or not level:
        yield Refusal("not_tied", "A bowl-out decides a tie: the scores are not level.", overridable=True)


def bowl(draft: Draft, given: BowlOut) -> None:
    """One ball at the stumps."""
    found = find_player(draft.state, given.bowler)
    if found is not None:
        tally = [list(side) for side in draft.state["bowl_out"] or ([0, 0], [0, 0])]
        tally[found[0]][0] += given.hit
        tally[found[0]][1] += 1
        draft.state["bowl_out"] = tally
        draft.emits.append("bowl_out_hit" if given.hit else "bowl_out_miss")
