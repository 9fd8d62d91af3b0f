"""Players join, are replaced for good or in a role, and substitutes field (Laws 1.2 and 24)."""

from collections.abc import Iterator

from scorebox_contract import Joined, Refusal, State
from scorebox_cricket import partnership
from scorebox_cricket.batters import check_may_bat, come_in
from scorebox_cricket.commands import BowlerChange, Player, Replacement, RoleReplacement, Substitute
from scorebox_cricket.over import change_bowler, check_bowler
from scorebox_cricket.sheet import (
    check_new_player,
    check_player,
    check_side,
    find_player,
    number_of,
    side_number,
    with_player,
)
from scorebox_cricket.state import BATTING, RETIRED_NOT_OUT, Draft, in_progress
from scorebox_cricket.strike import leave_place


def check_join(state: State, given: Player) -> Iterator[Refusal]:
    """Refuses an unknown side, a key in use, and sheets that are full."""
    yield from check_side(state, given.side, "side")
    yield from check_new_player(state, given.key, given.name, "key")


def join(draft: Draft, given: Player) -> None:
    """A player joins a side."""
    _join(draft, given.side, given.key, given.name)


def _join(draft: Draft, side: str, key: str, name: str) -> None:
    draft.state["sides"] = with_player(draft.state, side_number(draft.state, side) or 0, key, name)
    draft.joined.append(Joined(side, key, name))
    draft.emits.append("player_joined")


def check_replacement(state: State, given: Replacement) -> Iterator[Refusal]:
    """Refuses players who are not of the side."""
    yield from check_side(state, given.side, "side")
    side = side_number(state, given.side) or 0
    yield from check_player(state, side, given.player_in, "player_in")
    if given.player_out is not None:
        yield from check_player(state, side, given.player_out, "player_out")
        yield from _check_two_players(given)


def replace(draft: Draft, given: Replacement) -> None:
    """A player takes another's place for the rest of the match; a batter who leaves is retired."""
    state = draft.state
    side = side_number(state, given.side) or 0
    replaced = [list(numbers) for numbers in state["replaced"]]
    entering = number_of(state, side, given.player_in)
    if entering in replaced[side]:
        replaced[side].remove(entering)
    if given.player_out is not None:
        leaving = number_of(state, side, given.player_out)
        if leaving not in replaced[side]:
            replaced[side].append(leaving)
        if in_progress(state):
            draft.open()
            if draft.batting == side:
                _retire_replaced(draft, leaving)
            elif draft.play["over"]["bowler"] == leaving:
                draft.play["over"]["bowler"] = None
    state["replaced"] = replaced
    draft.emits.append("replacement")


def _retire_replaced(draft: Draft, leaving: str) -> bool:
    """Who leaves the crease parts the pair and is retired; false for someone who is not in."""
    if leaving not in draft.play["crease"]:
        return False
    partnership.end(draft)
    leave_place(draft, leaving)
    record = draft.batter(leaving)
    if record["status"] == BATTING:
        record["status"] = RETIRED_NOT_OUT
    return True


def check_role_replacement(state: State, given: RoleReplacement) -> Iterator[Refusal]:
    """Refuses a bowler by the rules for bowlers, and a batter who is out."""
    if given.role == "bowler":
        yield from _check_bowler(state, given.player_in, "player_in")
        side = 1 - state["innings"][-1]["side"]
    else:
        yield from check_may_bat(state, given.player_in, "player_in")
        side = state["innings"][-1]["side"]
    if given.player_out is not None:
        yield from check_player(state, side, given.player_out, "player_out")
        yield from _check_two_players(given)


def _check_two_players(given: Replacement | RoleReplacement) -> Iterator[Refusal]:
    if given.player_out == given.player_in:
        yield Refusal("same_player", "Nobody replaces himself.", "player_out")


def replace_in_role(draft: Draft, given: RoleReplacement) -> None:
    """Another bowler finishes the over, or another batter takes the place of one who retires."""
    state = draft.state
    if given.role == "bowler":
        change_bowler(draft, number_of(state, 1 - draft.batting, given.player_in))
        draft.emits.append("bowler_change")
        return
    entering = number_of(state, draft.batting, given.player_in)
    if entering in draft.play["crease"]:
        draft.warn("was_not_away", f"{draft.name(draft.batting, entering)} is in already.", "player_in")
    if given.player_out is not None:
        leaving = number_of(state, draft.batting, given.player_out)
        if not _retire_replaced(draft, leaving):
            draft.warn(
                "was_away", f"{draft.name(draft.batting, leaving)} was not at the crease.", "player_out"
            )
    come_in(draft, entering, "player_in")
    draft.emits.append("replacement")


def check_bowler_change(state: State, given: BowlerChange) -> Iterator[Refusal]:
    """The new bowler must be allowed to bowl this over."""
    yield from _check_bowler(state, given.bowler, "bowler")


def _check_bowler(state: State, key: str, field: str) -> Iterator[Refusal]:
    side = 1 - state["innings"][-1]["side"]
    yield from check_player(state, side, key, field)
    yield from check_bowler(state, number_of(state, side, key), field)


def change(draft: Draft, given: BowlerChange) -> None:
    """Another bowler finishes the over."""
    change_bowler(draft, number_of(draft.state, 1 - draft.batting, given.bowler))
    draft.emits.append("bowler_change")


def check_substitute(state: State, given: Substitute) -> Iterator[Refusal]:
    """Refuses an unknown side, a key of the other side, and who is not there to be replaced."""
    yield from check_side(state, given.side, "side")
    side = side_number(state, given.side) or 0
    if given.player is not None:
        found = find_player(state, given.player)
        if found is not None and found[0] != side:
            yield from check_player(state, side, given.player, "player")
        elif found is None:
            yield from check_new_player(state, given.player, given.name, "player")
    if given.player_out is not None:
        yield from check_player(state, side, given.player_out, "player_out")


def substitute(draft: Draft, given: Substitute) -> None:
    """A substitute fields; one with a key of his own joins, so that his catches have a line."""
    if given.player is not None and find_player(draft.state, given.player) is None:
        _join(draft, given.side, given.player, given.name)
    draft.emits.append("substitute")
