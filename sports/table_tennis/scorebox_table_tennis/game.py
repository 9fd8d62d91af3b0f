"""A point and all that comes with it: the end of a game and of the match, the change of ends (2.13.7)."""

from scorebox_table_tennis.lines import game_lines
from scorebox_table_tennis.score import game_winner, is_last_game, match_winner
from scorebox_table_tennis.service import due
from scorebox_table_tennis.state import Draft, is_doubles, new_game, side_of

CHANGE_AT = {11: 5, 21: 10}
"""Points a game → the points at which ends change in the last possible game (Law 2.13.7)."""


def score_point(draft: Draft, side: int) -> None:
    """Adds a point, with the change of ends, the end of the game and of the match that come with it."""
    score = draft.play["score"]
    score[side] += 1
    if game_winner(draft.state, score) is not None:
        close_game(draft)
    elif is_last_game(draft.state) and not draft.state["changed"]:
        _change_in_last_game(draft, score)


def close_game(draft: Draft) -> None:
    """The game in play is over: the other side serves first in the next, from the other end."""
    state = draft.state
    draft.lines += game_lines(state, len(state["games"]) + 1, draft.play)
    state["lined"] = max(state["lined"], len(state["games"]) + 1)
    state["games"] = [*state["games"], draft.play]
    draft.begin(new_game())
    state["previous"], state["first"] = state["first"], None
    state["swap"], state["changed"] = None, False
    if state["expedite"] is not None:
        # Law 2.15.6: it stays in operation until the end of the match.
        state["expedite"] = [0, 0]
    draft.emits.append("game_end")
    winner = match_winner(state)
    if winner is not None and state["result"] is None:
        state["result"] = {"kind": "won", "winner": winner, "method": None}
        draft.emits.append("match_end")
    elif state["result"] is None:
        change_ends(draft)


def change_ends(draft: Draft) -> None:
    """The sides change ends (Law 2.13.7)."""
    left = draft.state["left"]
    draft.state["left"] = None if left is None else 1 - left
    draft.emits.append("ends")


def _change_in_last_game(draft: Draft, score: list[int]) -> None:
    state = draft.state
    if max(score) < CHANGE_AT[state["format"]["points"]]:
        return
    state["changed"] = True
    if is_doubles(state):
        # Law 2.13.6: the pair due to receive next changes its order of receiving.
        state["swap"] = side_of(due(state)[1])
    change_ends(draft)
