"""The score set by hand after a mishap: a checkpoint from which play goes on."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_table_tennis.commands import GamePoints, SetScore
from scorebox_table_tennis.game import CHANGE_AT
from scorebox_table_tennis.lines import game_lines
from scorebox_table_tennis.score import (
    game_winner,
    is_complete,
    is_last_game,
    match_winner,
    needed,
)
from scorebox_table_tennis.service import due, now, receiver_of, set_order
from scorebox_table_tennis.sides import check_player, check_side, check_side_of
from scorebox_table_tennis.state import Draft, Record, new_game, side_of


def check_set_score(state: State, given: SetScore) -> Iterator[Refusal]:
    """The score is one that play can go on from, or end with."""
    most = state["format"]["games"]
    if len(given.games) > most:
        yield Refusal("too_many_games", f"The match has {most} games at most.", "games")
        return
    if any(_points(given.points)) and len(given.games) == most:
        yield Refusal("no_game_left", f"All {most} games are over: set the points to 0–0.", "points")
    if game_winner(state, _points(given.points)) is not None:
        yield Refusal(
            "game_over", "The game in play is over at this score: put it among the games.", "points"
        )
    for key, field in ((given.server, "server"), (given.receiver, "receiver")):
        if key is not None:
            yield from check_player(state, key, field)
    if given.receiver is not None and given.server is None:
        yield Refusal("server_missing", "Say who serves, if you say who receives.", "server")
    if given.server is not None and given.receiver is not None:
        yield from check_side_of(state, given.server, given.receiver)
    if given.left is not None:
        yield from check_side(state, given.left, "left")
    yield from _check_games(state, given)


def _check_games(state: State, given: SetScore) -> Iterator[Refusal]:
    won = [0, 0]
    for number, game in enumerate(given.games, 1):
        score = _points(game)
        if max(won) >= needed(state):
            yield Refusal("match_won", f"The match was won before game {number}.", "games", overridable=True)
            return
        winner = game_winner(state, score)
        if winner is None:
            # A game of which nobody won could never count for the match.
            yield Refusal("game_not_won", f"Nobody wins game {number} with {score[0]}–{score[1]}.", "games")
            return
        if not is_complete(state, score):
            yield Refusal(
                "game_played_on",
                f"Game {number} was won before it stood {score[0]}–{score[1]}.",
                "games",
                overridable=True,
            )
        won[winner] += 1


def set_score(draft: Draft, given: SetScore) -> None:
    """Puts the score; what agrees with it stays as it was counted."""
    state = draft.state
    before = {"left": state["left"], "games": len(state["games"]), "changed": state["changed"]}
    _put_games(draft, given)
    _put_order(draft, given, same_game=len(given.games) == before["games"])
    _put_ends(draft, given, before)
    was_over = state["result"] is not None
    winner = match_winner(state)
    state["result"] = None if winner is None else {"kind": "won", "winner": winner, "method": None}
    if was_over and winner is None:
        draft.emits.append("match_reopened")
    elif winner is not None:
        draft.emits.append("match_end")
    state["interval"] = None
    draft.emits.append("score_set")


def _put_games(draft: Draft, given: SetScore) -> None:
    state = draft.state
    counted: list[Record] = [*state["games"], draft.play]
    targets = [_points(game) for game in given.games]
    records = []
    for number, score in enumerate([*targets, _points(given.points)], 1):
        kept = counted[number - 1] if number <= len(counted) else None
        same = kept is not None and kept["score"] == score
        record = kept if same and kept is not None else new_game(*score, is_set=True)
        records.append(record)
        if not same and number <= state["format"]["games"]:
            draft.lines += game_lines(state, number, record)
    for number in range(len(records) + 1, state["lined"] + 1):
        # Lines of games that have not begun: they stand at nothing.
        draft.lines += game_lines(state, number, new_game(is_set=True))
    state["lined"] = max(state["lined"], min(len(records), state["format"]["games"]))
    state["games"] = records[:-1]
    draft.begin(records[-1])


def _put_order(draft: Draft, given: SetScore, *, same_game: bool) -> None:
    state = draft.state
    order = due(state) if same_game else None
    score = draft.play["score"]
    state["changed"] = (
        is_last_game(state) and max(score) >= CHANGE_AT[state["format"]["points"]] and any(score)
    )
    if not same_game:
        state["first"] = state["previous"] = None
    if not state["changed"]:
        state["swap"] = None
    if given.expedite is not None:
        began = state["expedite"] is not None
        if given.expedite and not (began and same_game):
            state["expedite"] = None
            state["expedite"] = [sum(score), now(state)]
        elif not given.expedite:
            state["expedite"] = None
    elif state["expedite"] is not None and not same_game:
        state["expedite"] = [0, 0]
    if given.server is not None:
        server = draft.player(given.server)
        receiver = receiver_of(state, server) if given.receiver is None else draft.player(given.receiver)
        if side_of(receiver) == side_of(server):
            receiver = 2 * (1 - side_of(server))
        set_order(state, server, receiver)
        if order is not None and due(state) != order:
            draft.emits.append("service")


def _put_ends(draft: Draft, given: SetScore, before: Record) -> None:
    state = draft.state
    if given.left is not None:
        state["left"] = draft.side(given.left)
    elif state["left"] is not None:
        changes = len(state["games"]) - before["games"] + state["changed"] - before["changed"]
        state["left"] = before["left"] ^ (changes & 1)


def _points(game: GamePoints) -> list[int]:
    return [game.first, game.second]
