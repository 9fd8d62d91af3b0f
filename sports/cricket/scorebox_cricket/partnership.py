"""Partnerships: what the side adds while the same two batters are in.

Runs are all that the side's total grows by, extras and penalty runs too; balls are those the two faced.
When a batter retires, another pair plays on for the same wicket.
"""

from scorebox_cricket.state import Draft


def follow(draft: Draft) -> None:
    """Starts a partnership when two batters are in who were not in together before."""
    play = draft.play
    striker, non_striker = play["crease"]
    pair = play["pair"]
    if pair is not None and striker in pair["batters"] and non_striker in pair["batters"]:
        return
    end(draft)
    if striker is None or non_striker is None:
        return
    play["pairs"] += 1
    batters = play["batters"]
    first, second = striker, non_striker
    if batters[second]["position"] < batters[first]["position"]:
        first, second = second, first
    play["pair"] = {
        "number": play["pairs"],
        "batters": [first, second],
        "runs": 0,
        "balls": 0,
        "penalty": 0,
        "wicket": draft.totals["wickets"] + 1,
        "unbroken": True,
    }


def add(draft: Draft, runs: int, balls: int, *, penalty: int = 0) -> None:
    """Adds runs of the side, penalty runs and balls faced to the pair that is in.

    Of penalty runs that are taken back a pair loses only those it had: others were given to an earlier pair.
    """
    pair = draft.play["pair"]
    if pair is not None:
        pair = draft.play["pair"] = dict(pair)
        penalty = max(penalty, -pair["penalty"])
        pair["runs"] += runs + penalty
        pair["balls"] += balls
        pair["penalty"] += penalty
        draft.pairs[pair["number"]] = pair


def end(draft: Draft) -> None:
    """The pair is parted."""
    pair = draft.play["pair"]
    if pair is not None:
        pair = {**pair, "unbroken": False}
        draft.play["pair"] = None
        draft.pairs[pair["number"]] = pair
