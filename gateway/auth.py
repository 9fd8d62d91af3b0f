"""Who somebody is and what that allows: bearer tokens and roles.

A token is 32 random bytes in URL-safe base64; only its sha256 is stored. Roles rise from viewer to
operator; supervisor, ops and admin stand side by side above it. `ALLOWED` says which role may do what.
"""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

import structlog
import trio

from gateway.corrections import REBUILD
from gateway.effective import MOVE
from gateway.errors import TokenUnchecked
from gateway.ruling import RULINGS

TOKEN_BYTES = 32
KNOWN_S = 30.0
"""How long a token found is believed without asking again: a revoked one works at most so long."""
UNKNOWN_S = 2.0
"""How long a token not found is refused without asking again."""
CACHE_LIMIT_TOKENS = 4_096
LOOKUP_DEADLINE_S = 5.0
LOOKUP_LIMIT_TOKENS = 256
"""Tokens in one lookup. There is one at a time: guessing must not take the database from those who score."""


log = structlog.get_logger("scorebox.auth")


class Role(StrEnum):
    """Roles of tokens."""

    VIEWER = "viewer"
    SCORER = "scorer"
    OPERATOR = "operator"
    SUPERVISOR = "supervisor"
    OPS = "ops"
    ADMIN = "admin"


class Action(StrEnum):
    """What can be allowed. Documents, logs and lists of matches are open to everybody."""

    SCORE = "score"
    """Send a match's commands, and watch as a scorer does."""
    CREATE_MATCH = "create_match"
    EDIT_BY_HAND = "edit_by_hand"
    """Commands that write results and fixtures directly."""
    MAKE_OFFICIAL = "make_official"
    """Make a score official, and reopen it."""
    SEE_STATUS = "see_status"
    """The details of the status."""
    INSTALL_SPORT = "install_sport"
    """Also retiring versions, and moving matches to others."""
    TRANSFER_MATCH = "transfer_match"
    """Taking a match out whole, accounts and devices included, and putting one in."""
    MANAGE_TOKENS = "manage_tokens"


_SCORER = frozenset({Action.SCORE})
_OPERATOR = _SCORER | {Action.CREATE_MATCH, Action.EDIT_BY_HAND, Action.SEE_STATUS}

ALLOWED: dict[Role, frozenset[Action]] = {
    Role.VIEWER: frozenset(),
    Role.SCORER: _SCORER,
    Role.OPERATOR: _OPERATOR,
    Role.SUPERVISOR: _OPERATOR | {Action.MAKE_OFFICIAL},
    Role.OPS: _OPERATOR | {Action.INSTALL_SPORT, Action.TRANSFER_MATCH},
    Role.ADMIN: _OPERATOR
    | {Action.MAKE_OFFICIAL, Action.INSTALL_SPORT, Action.TRANSFER_MATCH, Action.MANAGE_TOKENS},
}
"""The one table of who may do what."""


def roles_for(action: Action) -> str:
    """The roles that allow an action, as a sentence names them: "supervisor or admin"."""
    *others, last = [role.value for role in Role if action in ALLOWED[role]]
    return f"{', '.join(others)} or {last}" if others else last


BY_HAND = ("results.", "fixture.", REBUILD)
"""Commands whose codes begin so edit by hand."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody with a token. A token bound to a match names it by UUID and by code."""

    account: str
    role: Role
    match: str | None = None
    match_code: str | None = None

    def may(self, action: Action) -> bool:
        """Whether the role allows it."""
        return action in ALLOWED[self.role]

    def covers(self, ref: str) -> bool:
        """Whether the token reaches this match, named by UUID (in any letters) or code (in these letters)."""
        if self.match is None and self.match_code is None:
            return True
        if self.match is not None and ref.lower() == self.match.lower():
            return True
        return self.match_code is not None and ref == self.match_code


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as it is kept: sha256 and who it stands for."""

    hash: bytes
    identity: Identity


FindTokens = Callable[[Sequence[bytes]], Awaitable[Mapping[bytes, StoredToken]]]
"""Finds the tokens that are valid now by their sha256. Raises when the database cannot be asked."""


def new_token() -> str:
    """A fresh token. It is shown once; keep only `token_hash` of it."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> bytes:
    """What is stored of a token: its sha256, 32 bytes. The token is random, so no salt is needed."""
    return hashlib.sha256(token.encode()).digest()


def bearer(header: str | None) -> str | None:
    """The token in an Authorization header, or None."""
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def forbidden_command(who: Identity, match: str, code: str) -> str | None:
    """Why somebody may not send a command, as a sentence, or None when he may."""
    if not who.covers(match):
        return f"this token is for another match than {match!r}"
    action = Action.EDIT_BY_HAND if code.startswith(BY_HAND) else Action.SCORE
    if code == MOVE:
        # For who installs versions.
        action = Action.INSTALL_SPORT
    elif code in RULINGS:
        action = Action.MAKE_OFFICIAL
    if not who.may(action):
        return f"the role {who.role} may not send {code} ({action}); take a token of {roles_for(action)}"
    return None


class Authenticator:
    """Finds out who a token stands for; looks it up at most every KNOWN_S.

    Times tell nothing of a token: only its hash is looked up, and hashes are compared in constant time.
    """

    def __init__(self, find_tokens: FindTokens) -> None:
        self._find = find_tokens
        self._cache: OrderedDict[bytes, tuple[float, Identity | None]] = OrderedDict()
        self._gathering: dict[bytes, _Lookup] = {}
        self._turn = trio.Lock()

    async def identify(self, token: str) -> Identity | None:
        """Who the token stands for, or None.

        Raises:
            TokenUnchecked: it could not be looked up.
        """
        try:
            digest = token_hash(token)
        except UnicodeEncodeError:
            return None
        now = trio.current_time()
        cached = self._cache.get(digest)
        if cached is not None and cached[0] > now:
            self._cache.move_to_end(digest)
            return cached[1]
        try:
            with trio.fail_after(LOOKUP_DEADLINE_S):
                return await self._look_up(digest)
        except Exception as error:
            # Whatever it was, those who come with a good token are to come again.
            log.warning("a token could not be looked up", error=repr(error))
            raise TokenUnchecked("the token cannot be checked just now; try again") from error

    async def _look_up(self, digest: bytes) -> Identity | None:
        """Look a token up, together with all that come while another lookup runs.

        Many clients at once, after a restart or with tokens that nobody knows, then cost the database little.
        """
        lookup = self._gathering.setdefault(digest, _Lookup())
        async with self._turn:
            while not lookup.done:
                batch = dict(islice(self._gathering.items(), LOOKUP_LIMIT_TOKENS))
                try:
                    found = await self._find(list(batch))
                except Exception as error:
                    for each in batch.values():
                        each.done, each.error = True, error
                else:
                    for one, each in batch.items():
                        each.done, each.identity = True, self._judge(one, found.get(one))
                for one in batch:
                    del self._gathering[one]
        if lookup.error is not None:
            raise lookup.error
        return lookup.identity

    def _judge(self, digest: bytes, stored: StoredToken | None) -> Identity | None:
        """What was found of a token, remembered for a while."""
        valid = stored is not None and hmac.compare_digest(stored.hash, digest)
        identity = stored.identity if stored is not None and valid else None
        believed_s = KNOWN_S if identity else UNKNOWN_S
        self._cache[digest] = (trio.current_time() + believed_s, identity)
        self._cache.move_to_end(digest)
        if len(self._cache) > CACHE_LIMIT_TOKENS:
            self._cache.popitem(last=False)
        return identity


@dataclass(slots=True)
class _Lookup:
    """A token that is looked up for whoever waits for it."""

    done: bool = False
    identity: Identity | None = None
    error: Exception | None = None
