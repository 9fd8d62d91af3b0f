"""Tokens in the database."""

from uuid import uuid4

from gateway.auth import Identity, Role, StoredToken
from gateway.ledger import Ledger
from gateway.tokens import Tokens
from runtime.database import Database
from tests.gateway.scoring import opened


async def test_tokens_are_found_by_hash_until_they_end(ledger: Ledger, database: Database) -> None:
    tokens = Tokens(database)
    stored = await opened(ledger)
    free = StoredToken(bytes(32), Identity("ann", Role.OPERATOR))
    bound = StoredToken(b"\1" * 32, Identity("bob", Role.SCORER, str(stored.match), "m1"))
    assert await tokens.add(free)
    assert await tokens.add(bound)
    asked = [free.hash, b"\2" * 32, bound.hash]
    assert await tokens.find(asked) == {free.hash: free, bound.hash: bound}
    assert await tokens.revoke(free.hash)
    assert await tokens.find(asked) == {bound.hash: bound}
    assert not await tokens.revoke(free.hash)
    nowhere = StoredToken(b"\3" * 32, Identity("cy", Role.SCORER, str(uuid4())))
    assert not await tokens.add(nowhere)
    await database.execute("UPDATE token SET expires_at = now() - interval '1 second'")
    assert await tokens.find(asked) == {}
