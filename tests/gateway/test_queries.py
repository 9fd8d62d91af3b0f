import pytest

from gateway.queries import FOLDER, load_blocks, split_blocks
from runtime.database import Database


def test_blocks_are_split_by_name_without_their_comments():
    text = "-- a file\n\n-- name: one\n-- What it is.\nSELECT 1\n\n-- name: two\nSELECT 2\n  FROM t -- why\n"
    assert split_blocks(text) == {"one": "SELECT 1", "two": "SELECT 2\n  FROM t -- why"}


def test_a_name_twice_is_refused():
    with pytest.raises(ValueError, match="same name"):
        split_blocks("-- name: one\nSELECT 1\n-- name: one\nSELECT 2\n")


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.sql")))
async def test_every_statement_fits_the_schema(database: Database, file: str):
    async with database.session() as session:
        for name, sql in load_blocks(file).items():
            await session.execute(f"PREPARE {name} AS {sql}")
