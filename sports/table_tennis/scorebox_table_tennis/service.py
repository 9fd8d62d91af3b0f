"""Who serves and who receives (Law 2.13.3 to 2.13.6), derived from the score and the game's first service."""

from collections.abc import Iterator
from typing import Any

from scorebox_contract import Refusal, State
from scorebox_table_tennis.commands import Service
from scorebox_table_tennis.sides import check_player, check_side_of
from scorebox_table_tennis.state import Draft, is_doubles, player_name, side_of

SERVICES_IN_TURN = {11: 2, 21: 5}
"""Points a game → points each player serves in turn (Law 2.13.3)."""

Order = tuple[int, int]
"""Server and receiver."""


def turns(state: State, played: int) -> int:
    """How many changes of service there were when `played` points had been scored in the game."""
    if state["expedite"] is not None:
        began, turn = state["expedite"]
        return int(turn + max(played - began, 0))
    points = state["format"]["points"]
    in_turn = SERVICES_IN_TURN[points]
    each = 2 * (points - 1)
    if played < each:
        return int(played // in_turn)
    return int(each // in_turn + played - each)


def now(state: State) -> int:
    """Changes of service so far in the game in play."""
    return turns(state, sum(state["play"]["score"]))


def order_at(state: State, turn: int) -> Order:
    """Server and receiver after `turn` changes of service; the law's or first-named ones if nobody said."""
    server, receiver = state["first"] or first_by_law(state)
    if not is_doubles(state):
        return (receiver, server) if turn % 2 else (server, receiver)
    cycle = (server, receiver, server ^ 1, receiver ^ 1)
    swap = state["swap"]
    pair = cycle[turn % 4], cycle[(turn + 1) % 4]
    return _swapped(pair, swap)


def due(state: State) -> Order:
    """Who serves the next point, and to whom."""
    return order_at(state, now(state))


def side_by_law(state: State) -> int:
    """The side that serves first in the game in play (Law 2.13.6)."""
    return int((state["opened"] or 0) ^ (len(state["games"]) & 1))


def first_by_law(state: State) -> Order:
    """The first service as the law has it. A pair's choice that nobody said is its next in turn."""
    side = side_by_law(state)
    previous = state["previous"]
    if previous is not None and side_of(previous[1]) == side:
        return previous[1], previous[0]
    server = 2 * side
    return server, first_receiver(state, server)


def first_receiver(state: State, server: int) -> int:
    """Who receives first: in a later game of doubles, whoever served to the server before (Law 2.13.4)."""
    previous = state["previous"]
    if not is_doubles(state) or previous is None:
        return 2 * (1 - side_of(server))
    first, second = previous
    served_by = {second: first, first ^ 1: second, second ^ 1: first ^ 1, first: second ^ 1}
    return int(served_by[server])


def settle_first(draft: Draft, typed: int | None) -> None:
    """Fixes the order when a game's first point is played and nobody said it before."""
    state = draft.state
    if state["first"] is not None:
        return
    if state["opened"] is None:
        if typed is None:
            typed = due(state)[0]
            draft.warn(
                "server_assumed",
                f"Nobody said who serves: {player_name(state, typed)} is taken.",
                "server",
            )
        # Asked at any score: the turn in between is undone.
        side = side_of(typed) ^ (now(state) & 1)
        state["opened"] = side ^ (len(state["games"]) & 1)
    if typed is not None and side_of(due(state)[0]) == side_of(typed):
        _serve_now(state, (typed, _receiver_now(state, typed)))
        return
    state["first"] = list(first_by_law(state))
    if is_doubles(state):
        server, receiver = due(state)
        draft.warn(
            "order_assumed",
            f"Nobody said who of each pair begins: {player_name(state, server)} serves to "
            f"{player_name(state, receiver)}.",
            "server",
        )


def check_service(state: State, given: Service) -> Iterator[Refusal]:
    """Server and receiver are of different sides."""
    yield from check_player(state, given.server, "server")
    if given.receiver is not None:
        yield from check_player(state, given.receiver, "receiver")
        yield from check_side_of(state, given.server, given.receiver)


def serve(draft: Draft, given: Service) -> None:
    """The umpire's word on who serves now. The rest of the game follows from it."""
    state = draft.state
    server = draft.player(given.server)
    settled = bool(state["games"]) or any(draft.play["score"]) or state["toss"] is not None
    if settled and state["opened"] is not None and side_of(due(state)[0]) != side_of(server):
        draft.warn(
            "service_order",
            f"By the order of service it is {draft.name(1 - side_of(server))}'s turn.",
            "server",
        )
    lawful = _receiver_now(state, server)
    receiver = lawful if given.receiver is None else draft.player(given.receiver)
    if given.receiver is not None and receiver != lawful and state["previous"] is not None:
        draft.warn(
            "receiving_order",
            f"By the order of the game before, {player_name(state, lawful)} receives.",
            "receiver",
        )
    set_order(state, server, receiver)
    draft.emits.append("service")


def set_order(state: State, server: int, receiver: int) -> None:
    """Makes them serve and receive at the score that has been reached."""
    side = side_of(server) ^ (now(state) & 1)
    state["opened"] = side ^ (len(state["games"]) & 1)
    _serve_now(state, (server, receiver))


def receiver_of(state: State, server: int) -> int:
    """To whom a player serves now, in turn or not."""
    due_server, due_receiver = due(state)
    return due_receiver if side_of(server) == side_of(due_server) else due_server


def _receiver_now(state: State, server: int) -> int:
    """Who receives from a server at the score, where only the server is said."""
    begins = not any(state["play"]["score"]) and (state["first"] is None or state["previous"] is not None)
    if begins or not is_doubles(state):
        return first_receiver(state, server)
    return receiver_of(state, server)


def _serve_now(state: State, order: Order) -> None:
    """Sets the game's first service so that `order` is the one at this score."""
    server, receiver = order
    turn = now(state)
    if not is_doubles(state):
        state["first"] = [receiver, server] if turn % 2 else [server, receiver]
        return
    server, receiver = _swapped(order, state["swap"])
    firsts: dict[int, list[Any]] = {
        0: [server, receiver],
        1: [receiver ^ 1, server],
        2: [server ^ 1, receiver ^ 1],
        3: [receiver, server ^ 1],
    }
    state["first"] = firsts[turn % 4]


def _swapped(order: Order, swap: int | None) -> Order:
    server, receiver = order
    if swap is None:
        return server, receiver
    return (
        server ^ 1 if side_of(server) == swap else server,
        receiver ^ 1 if side_of(receiver) == swap else receiver,
    )
