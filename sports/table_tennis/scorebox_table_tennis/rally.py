"""Rallies: a point (Law 2.10), a let (2.9), and the expedite system (2.15)."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_table_tennis.commands import Expedite, Let, Point
from scorebox_table_tennis.game import score_point
from scorebox_table_tennis.service import due, now, receiver_of, settle_first, turns
from scorebox_table_tennis.sides import check_player, check_side
from scorebox_table_tennis.state import (
    RECEIVES,
    RECEIVES_WON,
    SERVES,
    SERVES_WON,
    Draft,
    player_name,
    side_of,
)

RETURNS_THAT_WIN = 13
"""Correct returns that win the receiver the point under the expedite system (Law 2.15.4)."""
EXPEDITE_BEFORE_POINTS = 18
"""Once so many points are scored in a game to 11, the time limit no longer brings it in (Law 2.15.2)."""
EXPEDITE_BEFORE_EACH = 19
"""In a game to 21: once both sides have so many (the Laws before September 2001)."""


def check_point(state: State, given: Point) -> Iterator[Refusal]:
    """Winner and server play in this match, and there is a game left to play."""
    yield from check_side(state, given.winner, "winner")
    if given.server is not None:
        yield from check_player(state, given.server, "server")
    yield from check_game_left(state)


def check_game_left(state: State) -> Iterator[Refusal]:
    """The match has a game that is not over."""
    if len(state["games"]) >= state["format"]["games"]:
        yield Refusal("no_game_left", f"All {state['format']['games']} games have been played.")


def win_point(draft: Draft, given: Point) -> None:
    """A rally was won."""
    state = draft.state
    state["interval"] = None
    typed = None if given.server is None else draft.player(given.server)
    settle_first(draft, typed)
    by_turn, receiver = due(state)
    server = by_turn
    if typed is not None and typed != by_turn:
        # Law 2.14: points scored before the error is discovered count, the order goes on as it should be.
        server, receiver = typed, receiver_of(state, typed)
        draft.warn(
            "server_out_of_turn",
            f"It was {player_name(state, by_turn)}'s turn to serve, not {player_name(state, typed)}'s.",
            "server",
        )
    winner = draft.side(given.winner)
    if given.returns is not None:
        _judge_returns(draft, given.returns, winner == side_of(server))
    counts = draft.play["counts"]
    counts[server][SERVES] += 1
    counts[receiver][RECEIVES] += 1
    if winner == side_of(server):
        counts[server][SERVES_WON] += 1
    else:
        counts[receiver][RECEIVES_WON] += 1
    score_point(draft, winner)


def _judge_returns(draft: Draft, returns: int, server_won: bool) -> None:
    if draft.state["expedite"] is None:
        if returns >= RETURNS_THAT_WIN and not server_won:
            draft.warn(
                "no_expedite", "Returns count only under the expedite system, which is not on.", "returns"
            )
    elif returns >= RETURNS_THAT_WIN and server_won:
        draft.warn(
            "thirteen_returns", f"{RETURNS_THAT_WIN} correct returns win the receiver the point.", "winner"
        )


def play_let(draft: Draft, given: Let) -> None:
    """No score, and the same player serves."""
    draft.state["interval"] = None
    draft.emits.append("let")


def check_expedite(state: State, given: Expedite) -> Iterator[Refusal]:
    """It comes into operation once, and late in a game only when both sides ask for it."""
    if state["expedite"] is not None:
        yield Refusal("expedite_on", "The expedite system is in operation already, until the match ends.")
        return
    yield from check_game_left(state)
    score = state["play"]["score"]
    if state["format"]["points"] == 11:
        late, limit = (
            sum(score) >= EXPEDITE_BEFORE_POINTS,
            f"{EXPEDITE_BEFORE_POINTS} points have been scored",
        )
    else:
        late, limit = min(score) >= EXPEDITE_BEFORE_EACH, f"both sides have {EXPEDITE_BEFORE_EACH} points"
    if late and not given.requested:
        yield Refusal(
            "expedite_late",
            f"When {limit} the time limit brings in no expedite system.",
            "requested",
            overridable=True,
        )


def begin_expedite(draft: Draft, given: Expedite) -> None:
    """From here each player serves for one point in turn (Law 2.15.4)."""
    state = draft.state
    played = sum(draft.play["score"])
    turn = now(state)
    if not given.in_play and played:
        # Law 2.15.3: who received in the rally before serves.
        turn = turns(state, played - 1) + 1
    state["expedite"] = [played, turn]
    draft.emits.append("expedite")
