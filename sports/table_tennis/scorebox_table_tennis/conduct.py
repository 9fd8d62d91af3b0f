"""What happens beside the rallies: toss, ends, time-outs, cards, intervals, officials."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_table_tennis.commands import Card, Ends, Interval, Medical, Officials, TimeOut, Toss
from scorebox_table_tennis.game import score_point
from scorebox_table_tennis.score import played
from scorebox_table_tennis.sides import check_player_of, check_side
from scorebox_table_tennis.state import Draft, find_side

YELLOW, YELLOW_RED, RED = range(3)
"""Places in a side's cards."""
TIME_OUTS_A_SIDE = 1
FIRST_PENALTY_POINTS, FURTHER_PENALTY_POINTS = 1, 2
"""Points to the other side (Regulation 3.5.2)."""


def check_toss(state: State, given: Toss) -> Iterator[Refusal]:
    """The sides play here, and what is said of the service agrees with the choice."""
    yield from check_side(state, given.winner, "winner")
    for key, field in ((given.serves, "serves"), (given.left, "left")):
        if key is not None:
            yield from check_side(state, key, field)
    contradicts = (given.serves == given.winner) != (given.choice == "serve")
    if given.serves is not None and given.choice != "end" and contradicts:
        yield Refusal("toss_contradicts", "The choice says that the other side serves first.", "serves")
    if played(state):
        yield Refusal("begun", "Points have been played: the toss is over.", overridable=True)


def take_toss(draft: Draft, given: Toss) -> None:
    """Who serves first in the match, and from which end."""
    state = draft.state
    winner = draft.side(given.winner)
    state["toss"] = [winner, given.choice]
    opened = None if given.serves is None else draft.side(given.serves)
    if given.choice != "end":
        opened = winner if given.choice == "serve" else 1 - winner
    if opened is not None:
        if opened != state["opened"] and not played(state):
            state["first"] = None
        state["opened"] = opened
    if given.left is not None:
        left = draft.side(given.left)
        # What is said of the start holds for now as often as ends have changed since.
        state["left"] = left ^ ((len(state["games"]) + state["changed"]) & 1)
    draft.emits.append("toss")


def check_ends(state: State, given: Ends) -> Iterator[Refusal]:
    """The side plays here."""
    yield from check_side(state, given.left, "left")


def set_ends(draft: Draft, given: Ends) -> None:
    """The sides stand as the umpire says; points scored stay (Law 2.14.2, 2.14.3)."""
    draft.state["left"] = draft.side(given.left)
    draft.emits.append("ends")


def check_time_out(state: State, given: TimeOut) -> Iterator[Refusal]:
    """The side has a time-out left."""
    yield from check_side(state, given.side, "side")
    side = find_side(state, given.side)
    if side is not None and state["time_outs"][side] >= TIME_OUTS_A_SIDE:
        yield Refusal(
            "time_out_taken",
            f"{state['sides'][side]['name']} has had its time-out in this match.",
            "side",
            overridable=True,
        )


def take_time_out(draft: Draft, given: TimeOut) -> None:
    """Play stops for up to a minute."""
    side = draft.side(given.side)
    taken = list(draft.state["time_outs"])
    taken[side] += 1
    draft.state["time_outs"] = taken
    draft.state["interval"] = "time_out"
    draft.emits.append("time_out")


def check_card(state: State, given: Card) -> Iterator[Refusal]:
    """The offender is of the side; a coach's card gives no points."""
    yield from check_side(state, given.side, "side")
    yield from check_player_of(state, given.player, given.side)
    if given.coach and given.kind == "yellow_red":
        yield Refusal("coach_card", "A coach is shown a yellow card, or a red one and leaves.", "kind")
    if given.points is not None and (given.kind != "yellow_red" or given.coach):
        yield Refusal("no_penalty", "Only yellow and red together give penalty points.", "points")


def show_card(draft: Draft, given: Card) -> None:
    """A warning, penalty points, or a disqualification."""
    state = draft.state
    draft.emits.append("card")
    if given.coach:
        return
    side = draft.side(given.side)
    cards = [list(each) for each in state["cards"]]
    state["cards"] = cards
    if given.kind == "yellow":
        if cards[side][YELLOW]:
            draft.warn(
                "warned_before",
                f"{draft.name(side)} was warned before: a further offence gives points.",
                "kind",
            )
        cards[side][YELLOW] += 1
    elif given.kind == "red":
        cards[side][RED] += 1
        disqualify(draft, side)
    else:
        _penalise(draft, given, side)


def _penalise(draft: Draft, given: Card, side: int) -> None:
    cards = draft.state["cards"][side]
    if not cards[YELLOW]:
        draft.warn("not_warned", f"{draft.name(side)} has had no yellow card before.", "kind")
    lawful = FURTHER_PENALTY_POINTS if cards[YELLOW_RED] else FIRST_PENALTY_POINTS
    points = lawful if given.points is None else given.points
    if points != lawful:
        draft.warn(
            "penalty_points", f"By the Regulations {lawful} penalty points are due, not {points}.", "points"
        )
    cards[YELLOW_RED] += 1
    for _ in range(points):
        if draft.state["result"] is not None:
            break
        # What a game does not need is carried over to the next.
        draft.play["penalty"][1 - side] += 1
        score_point(draft, 1 - side)


def disqualify(draft: Draft, side: int) -> None:
    """The other side wins by the referee's decision."""
    draft.state["result"] = {"kind": "won", "winner": 1 - side, "method": "disqualified"}
    draft.emits.append("match_end")


def check_medical(state: State, given: Medical) -> Iterator[Refusal]:
    """The injured player is of the side."""
    yield from check_side(state, given.side, "side")
    yield from check_player_of(state, given.player, given.side)


def suspend(draft: Draft, given: Medical) -> None:
    """Play is suspended."""
    draft.state["interval"] = "medical"
    draft.emits.append("interval")


def take_interval(draft: Draft, given: Interval) -> None:
    """Play stops, or goes on."""
    draft.state["interval"] = None if given.resumed else given.kind
    draft.emits.append("interval")


def name_officials(draft: Draft, given: Officials) -> None:
    """Officials stand in the log."""
    draft.emits.append("officials")
