"""What a score means: games and matches that are won (Laws 2.11, 2.12)."""

from scorebox_contract import State


def game_winner(state: State, score: list[int]) -> int | None:
    """The side that has won a game with this score (Law 2.11.1), or None while it goes on."""
    ahead = 0 if score[0] > score[1] else 1
    enough = score[ahead] >= state["format"]["points"]
    clear = score[ahead] - score[1 - ahead] >= state["format"]["clear"]
    return ahead if enough and clear else None


def is_complete(state: State, score: list[int]) -> bool:
    """True for a score that a game can end with: won, and not played on."""
    winner = game_winner(state, score)
    if winner is None:
        return False
    before = list(score)
    before[winner] -= 1
    return game_winner(state, before) is None


def games_won(state: State) -> list[int]:
    """Games won by each side."""
    won = [0, 0]
    for game in state["games"]:
        winner = game_winner(state, game["score"])
        if winner is not None:
            won[winner] += 1
    return won


def needed(state: State) -> int:
    """Games that win the match (Law 2.12.1)."""
    return int(state["format"]["games"] // 2 + 1)


def match_winner(state: State) -> int | None:
    """The side that has won enough games."""
    return next((side for side, won in enumerate(games_won(state)) if won >= needed(state)), None)


def is_last_game(state: State) -> bool:
    """True in the last possible game of the match."""
    return bool(len(state["games"]) + 1 == state["format"]["games"])


def segment(number: int) -> str:
    """A game's segment; games count from 1."""
    return f"game-{number}"


def played(state: State) -> bool:
    """True once a point was scored in the match."""
    return bool(state["games"]) or any(state["play"]["score"])
