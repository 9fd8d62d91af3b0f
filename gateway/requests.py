"""What a request says: its body, its query, who asks; and the problem that answers a wrong one."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from quart import request

from gateway.auth import Action, Authenticator, Identity, bearer, roles_for
from gateway.codec import convert
from gateway.errors import TokenUnchecked
from gateway.protocol import Problem

PROBLEM_STATUS = {
    "unknown_match": 404,
    "unknown_seq": 404,
    "unknown_event": 404,
    "other_code": 409,
    "try_again": 503,
}
"""Of what the service has to say about a match's past."""
NO_MATCH_SENTENCE = "There is no match of this name. Look it up in the list of matches."

T = TypeVar("T")
WhoMay = Callable[[Action], Awaitable[Identity]]


class Refusal(Exception):
    """A request that is answered with a problem; raised by what reads requests, answered in one place."""

    def __init__(self, status: int, code: str, sentence: str, field: str | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.body = {"code": code, "sentence": sentence} | ({} if field is None else {"field": field})


class Callers:
    """Says who asks, by the token of the request."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def who(self) -> Identity | None:
        """Who asks; None without a token. A token that is not known is refused, not ignored."""
        header = request.headers.get("authorization")
        if header is None:
            return None
        token = bearer(header)
        try:
            who = None if token is None else await self._authenticator.identify(token)
        except TokenUnchecked as error:
            raise Refusal(503, "try_again", str(error)) from error
        if who is None:
            raise Refusal(401, "unauthenticated", "this token is not known; ask for a new one")
        return who

    async def who_may(self, action: Action) -> Identity:
        """Who asks, once the role is seen to allow an action, and the token to be no match's."""
        who = await self.who()
        if who is None:
            raise no_token()
        if not who.may(action):
            needed = f"take a token of {roles_for(action)}"
            raise Refusal(403, "forbidden", f"the role {who.role} does not allow {action}; {needed}")
        if who.match is not None:
            raise Refusal(403, "forbidden", "this token is for one match only")
        return who


async def read_body() -> bytes:
    """The body of this request."""
    body = await request.get_data(as_text=False)
    assert isinstance(body, bytes)
    return body


def read_struct(body: bytes, type: type[T]) -> T:
    """A body as what it must be. Raises Refusal where it is not."""
    value = convert(body, type)
    if isinstance(value, Problem):
        raise Refusal(400, value.code, value.sentence, value.where or None)
    return value


def whole(name: str, default: int, least: int, most: int) -> int:
    """A whole number in the query, within its bounds."""
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and least <= int(text) <= most):
        raise Refusal(400, "invalid", f"{name} is a whole number from {least} to {most}", name)
    return int(text)


def wants_page() -> bool:
    """Whether the answer is for a browser."""
    best: str | None = request.accept_mimetypes.best_match(["application/json", "text/html"])
    return best == "text/html"


def sees_sources(who: Identity | None, ref: str) -> bool:
    """Whether who asks is told who sent what: those who may score the match are."""
    return who is not None and who.may(Action.SCORE) and who.covers(ref)


def refusal_of(problem: Problem) -> Refusal:
    """What the service says of a match's past, as a refusal."""
    where = problem.where if isinstance(problem.where, str) else None
    return Refusal(PROBLEM_STATUS[problem.code], problem.code, problem.sentence, where)


def no_token() -> Refusal:
    """Whoever asks has to say who they are."""
    return Refusal(401, "unauthenticated", "send a token: Authorization: Bearer …")


def no_match(ref: str) -> Refusal:
    """There is no match of this name."""
    return Refusal(
        404, "unknown_match", f"there is no match {ref[:64]!r}; look it up in the list of matches", "match"
    )
