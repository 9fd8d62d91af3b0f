"""Tokens and roles."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from gateway.auth import (
    ALLOWED,
    KNOWN_S,
    LOOKUP_LIMIT_TOKENS,
    UNKNOWN_S,
    Action,
    Authenticator,
    Identity,
    Role,
    StoredToken,
    bearer,
    forbidden_command,
    new_token,
    roles_for,
    token_hash,
)
from gateway.errors import TokenUnchecked
from runtime.errors import DatabaseAway

SCORER = Identity("a", Role.SCORER)


class Tokens:
    """A ledger of one token that counts how often it was asked."""

    def __init__(self) -> None:
        self.token = new_token()
        self.asked = 0
        self.valid = True

    async def find(self, digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        await trio.lowlevel.checkpoint()
        self.asked += 1
        mine = token_hash(self.token)
        return {mine: StoredToken(mine, SCORER)} if self.valid and mine in digests else {}


async def test_a_known_token_is_believed_for_a_while(mock_clock: MockClock) -> None:
    tokens = Tokens()
    authenticator = Authenticator(tokens.find)
    assert await authenticator.identify(tokens.token) == SCORER
    tokens.valid = False
    assert await authenticator.identify(tokens.token) == SCORER
    assert tokens.asked == 1
    mock_clock.jump(KNOWN_S + 1)
    assert await authenticator.identify(tokens.token) is None


async def test_an_unknown_token_is_asked_for_once_in_a_moment(mock_clock: MockClock) -> None:
    tokens = Tokens()
    tokens.valid = False
    authenticator = Authenticator(tokens.find)
    for _ in range(3):
        assert await authenticator.identify(tokens.token) is None
    assert tokens.asked == 1
    tokens.valid = True
    mock_clock.jump(UNKNOWN_S + 1)
    assert await authenticator.identify(tokens.token) == SCORER


async def test_a_token_that_cannot_be_looked_up_is_neither_known_nor_unknown(
    autojump_clock: MockClock,
) -> None:
    tokens = Tokens()

    async def away(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        raise DatabaseAway("it is away")

    for find in (away, hang):
        authenticator = Authenticator(find)
        with pytest.raises(TokenUnchecked, match="try again"):
            await authenticator.identify(tokens.token)
        # What could not be found out is not remembered.
        authenticator._find = tokens.find
        assert await authenticator.identify(tokens.token) == SCORER


async def hang(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
    await trio.sleep_forever()


async def test_tokens_that_come_while_one_is_looked_up_are_looked_up_together(nursery: trio.Nursery) -> None:
    known, strangers = Tokens(), [new_token() for _ in range(LOOKUP_LIMIT_TOKENS)]
    begun, go_on, asked = trio.Event(), trio.Event(), list[int]()

    async def find(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        asked.append(len(digests))
        begun.set()
        await go_on.wait()
        return await known.find(digests)

    authenticator = Authenticator(find)
    told: dict[str, Identity | None] = {}

    async def ask(token: str) -> None:
        told[token] = await authenticator.identify(token)

    nursery.start_soon(ask, strangers[0])
    await begun.wait()
    for token in (*strangers[1:], *strangers[1:], known.token, known.token):
        nursery.start_soon(ask, token)
    await trio.testing.wait_all_tasks_blocked()
    go_on.set()
    await trio.testing.wait_all_tasks_blocked()
    assert asked == [1, LOOKUP_LIMIT_TOKENS]
    assert told == dict.fromkeys(strangers) | {known.token: SCORER}


async def test_who_gives_up_looking_a_token_up_leaves_the_others_their_answer(nursery: trio.Nursery) -> None:
    tokens, begun, hangs = Tokens(), trio.Event(), [True]

    async def find(digests: Sequence[bytes]) -> dict[bytes, StoredToken]:
        begun.set()
        if hangs.pop() if hangs else False:
            await trio.sleep_forever()
        return await tokens.find(digests)

    authenticator = Authenticator(find)
    scope = trio.CancelScope()

    async def leave() -> None:
        with scope:
            await authenticator.identify(new_token())

    nursery.start_soon(leave)
    await begun.wait()
    told: list[Identity | None] = []

    async def ask() -> None:
        told.append(await authenticator.identify(tokens.token))

    nursery.start_soon(ask)
    await trio.testing.wait_all_tasks_blocked()
    scope.cancel()
    await trio.testing.wait_all_tasks_blocked()
    assert told == [SCORER]


async def test_a_lone_surrogate_is_no_token() -> None:
    assert await Authenticator(Tokens().find).identify("\ud800") is None


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, None),
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Basic abc", None),
        ("Bearer ", None),
        ("abc", None),
    ],
)
def test_bearer(header: str | None, token: str | None) -> None:
    assert bearer(header) == token


def test_roles_rise() -> None:
    rising = [Role.VIEWER, Role.SCORER, Role.OPERATOR]
    for lower, higher in pairwise(rising):
        assert ALLOWED[lower] < ALLOWED[higher]
    for top in (Role.SUPERVISOR, Role.OPS, Role.ADMIN):
        assert ALLOWED[Role.OPERATOR] <= ALLOWED[top]
    assert set(ALLOWED) == set(Role)
    assert ALLOWED[Role.ADMIN] == set(Action)


def test_a_token_for_one_match_reaches_that_match_only() -> None:
    bound = Identity("a", Role.SCORER, match="0190B0A0-0000-7000-8000-00000000000A", match_code="CRI-1")
    assert bound.covers("0190b0a0-0000-7000-8000-00000000000a")
    assert bound.covers("CRI-1")
    assert not bound.covers("cri-1"), "another match may have that code"
    assert not bound.covers("CRI-2")
    assert not bound.covers("")
    assert forbidden_command(bound, "CRI-2", "cricket.delivery")


def test_a_score_is_made_official_by_a_supervisor_or_an_admin() -> None:
    for code in ("match.official", "match.reopen"):
        allowed = {role for role in Role if forbidden_command(Identity("a", role), "m", code) is None}
        assert allowed == {Role.SUPERVISOR, Role.ADMIN}, code
    assert forbidden_command(SCORER, "m", "match.flag") is None


def test_who_may_not_is_told_the_roles_that_may() -> None:
    assert roles_for(Action.MAKE_OFFICIAL) == "supervisor or admin"
    assert roles_for(Action.EDIT_BY_HAND) == "operator, supervisor, ops or admin"
    assert roles_for(Action.MANAGE_TOKENS) == "admin"
    said = forbidden_command(SCORER, "m", "match.official")
    assert said is not None
    assert said.endswith("take a token of supervisor or admin")


def test_editing_by_hand_takes_an_operator() -> None:
    assert forbidden_command(SCORER, "m", "cricket.delivery") is None
    assert forbidden_command(SCORER, "m", "match.undo") is None
    assert forbidden_command(SCORER, "m", "results.set_line")
    assert forbidden_command(Identity("a", Role.OPERATOR), "m", "results.set_line") is None
    assert forbidden_command(Identity("a", Role.VIEWER), "m", "cricket.delivery")
