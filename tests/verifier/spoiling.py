"""What no server's session may do to a match, done as the database's owner."""

from runtime.database import Database
from tests.verifier.conftest import Scored


async def spoil(database: Database, scored: Scored, *statements: str) -> None:
    """Runs statements in which $MATCH stands for the match; each must change something."""
    async with database.dedicated(role=None) as owner:
        for statement in statements:
            status = await owner.execute(statement.replace("$MATCH", f"'{scored.match}'"))
            assert not status.endswith(" 0"), f"changed nothing: {statement}"
