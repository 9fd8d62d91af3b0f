"""Rules the database keeps by itself, whoever writes."""

from uuid import UUID, uuid4

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.ledger import Ledger
from runtime.database import Database, Session, open_database
from tests.gateway.scoring import ball, opened

LOG_CHANGES = [
    "UPDATE timeline_item SET seq = seq + 1",
    "DELETE FROM timeline_item",
    "TRUNCATE timeline_item",
    "DELETE FROM ledger_stream",
]


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)


@pytest.mark.parametrize("change", LOG_CHANGES)
async def test_the_log_is_append_only_for_its_owner_too(database: Database, ledger: Ledger, change: str):
    stored = await opened(ledger)
    await ledger.commit([ball(stored, 1)])
    async with database.dedicated(role=None) as owner:
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only"):
            await owner.execute(change)
    assert await database.fetchval("SELECT count(*) FROM timeline_item") == 2


@pytest.mark.parametrize("change", LOG_CHANGES)
async def test_the_servers_role_may_not_change_the_log(database: Database, ledger: Ledger, change: str):
    await opened(ledger)
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await database.execute(change)


async def test_the_servers_role_may_not_make_or_drop_tables(database: Database):
    for statement in (
        "CREATE TABLE more (n integer)",
        "DROP TABLE timeline_item",
        "DROP TRIGGER x ON timeline_item",
    ):
        with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.UndefinedObjectError)):
            await database.execute(statement)


async def add(session: Session, parent: UUID | None) -> UUID:
    id = uuid4()
    await session.execute(
        "INSERT INTO competition (id, parent_id, type, code, name) VALUES ($1, $2, 'stage', $3, 'x')",
        id,
        parent,
        str(id),
    )
    return id


CLOSURE = "SELECT ancestor_id, descendant_id, depth FROM competition_closure"
WALKED = """
WITH RECURSIVE walk (ancestor_id, descendant_id, depth) AS (
    SELECT id, id, 0 FROM competition
    UNION ALL
    SELECT w.ancestor_id, c.id, w.depth + 1 FROM walk w JOIN competition c ON c.parent_id = w.descendant_id
)
SELECT ancestor_id, descendant_id, depth FROM walk
"""


async def test_the_closure_has_every_pair(database: Database):
    async with database.session() as session:
        root = await add(session, None)
        season = await add(session, root)
        final = await add(session, season)
        rows = {tuple(row) for row in await session.fetch(CLOSURE)}
    assert rows == {
        (root, root, 0),
        (season, season, 0),
        (final, final, 0),
        (root, season, 1),
        (season, final, 1),
        (root, final, 2),
    }


async def test_a_competition_cannot_move_below_itself(database: Database):
    async with database.session() as session:
        root = await add(session, None)
        season = await add(session, root)
        final = await add(session, season)
        for parent in (season, final):
            with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="below itself"):
                await session.execute("UPDATE competition SET parent_id = $1 WHERE id = $2", parent, root)
        with pytest.raises(asyncpg.CheckViolationError):
            await session.execute("UPDATE competition SET parent_id = id WHERE id = $1", root)


@given(moves=st.lists(st.tuples(st.integers(0, 7), st.one_of(st.none(), st.integers(0, 7))), max_size=12))
@settings(max_examples=15, deadline=None)
async def test_the_closure_is_the_tree_whatever_moves(template_url: str, moves: list[tuple[int, int | None]]):
    async with open_database(template_url) as database, database.dedicated(role=None) as session:
        await session.execute("BEGIN")
        nodes: list[UUID] = []
        for number in range(8):
            nodes.append(await add(session, nodes[number // 2] if number % 3 else None))
        for node, parent in moves:
            await session.execute("SAVEPOINT move")
            try:
                await session.execute(
                    "UPDATE competition SET parent_id = $1 WHERE id = $2",
                    None if parent is None else nodes[parent],
                    nodes[node],
                )
            except asyncpg.IntegrityConstraintViolationError:
                await session.execute("ROLLBACK TO move")
        closure = {tuple(row) for row in await session.fetch(CLOSURE)}
        assert closure == {tuple(row) for row in await session.fetch(WALKED)}
        await session.execute("ROLLBACK")


async def test_codes_are_unique_among_competitions_without_a_sport(database: Database):
    insert = (
        "INSERT INTO competition (id, type, code, name) VALUES (gen_random_uuid(), 'games', 'olympics', 'x')"
    )
    await database.execute(insert)
    with pytest.raises(asyncpg.UniqueViolationError):
        await database.execute(insert)


async def test_a_player_stays_in_the_match_of_his_side(database: Database, ledger: Ledger):
    first, second = await opened(ledger, "a"), await opened(ledger, "b")
    side = await database.fetchval(
        "SELECT id FROM fixture_competitor WHERE fixture_id = $1 AND key = 'IND'", second.match
    )
    with pytest.raises(asyncpg.ForeignKeyViolationError, match="nested_in_same_fixture"):
        await database.execute(
            "UPDATE fixture_competitor SET parent_id = $1 WHERE fixture_id = $2 AND key = 'IND1'",
            side,
            first.match,
        )


@pytest.mark.parametrize(("participant", "label"), [(True, "Winner of QF1"), (False, None)])
async def test_a_competitor_is_a_participant_or_a_placeholder(
    database: Database, ledger: Ledger, participant: bool, label: str | None
):
    stored = await opened(ledger)
    with pytest.raises(asyncpg.CheckViolationError, match="participant_xor_placeholder"):
        await database.execute(
            "INSERT INTO fixture_competitor (id, fixture_id, participant_id, placeholder_label)"
            " VALUES (gen_random_uuid(), $1, $2, $3)",
            stored.match,
            stored.keys["IND"] if participant else None,
            label,
        )


async def test_a_key_is_in_a_match_once(database: Database, ledger: Ledger):
    stored = await opened(ledger)
    with pytest.raises(asyncpg.UniqueViolationError, match="uq_fixture_competitor_key"):
        await database.execute(
            "INSERT INTO fixture_competitor (id, fixture_id, participant_id, key)"
            " VALUES (gen_random_uuid(), $1, $2, 'IND')",
            stored.match,
            stored.keys["IND"],
        )


async def test_there_is_a_partition_for_every_year_and_the_rest(database: Database):
    rows = await database.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'stat_value'::regclass"
    )
    assert {row["name"] for row in rows} == {f"stat_value_{year}" for year in range(2000, 2041)} | {
        "stat_value_other"
    }
