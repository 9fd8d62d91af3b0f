"""PostgreSQL's own pgbench calling the same commit function, one ready-made item at a time.

It is the measure for throughput: a C client that judges nothing, answers nobody and does nothing else.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, unquote, urlsplit

import trio

from runtime.database import open_database
from runtime.postgres_home import binaries, default_data_folder, postgres_user

SECONDS = 6
SCRIPT = """\
SELECT commit_batch(ARRAY[ROW(
    f.id, gen_random_uuid(), f.last_seq, b.code_sha, :code, :input, '{}', 'bench', 'bench', NULL, NULL, now(),
    :state, b.state_hash, '{}', '[]', 'LIVE', NULL, :before, :lines::commit_line[],
    :parts::commit_part[], '{}', '{}', NULL, false, false)::commit_item])
  FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
 WHERE f.id = (:matches::uuid[])[:client_id + 1]
"""
ITEM = """
SELECT t.event_type AS code, t.payload::text AS input, b.snapshot::text AS state,
       t.lines_before::text AS before,
       (SELECT array_agg(ROW(l.subject_id, l.subject_role, l.segment, l.computed::text)::commit_line)
          FROM stat_value l WHERE l.fixture_id = b.fixture_id AND l.last_seq = b.last_seq)::text AS lines,
       (SELECT array_agg(ROW(d.segment, d.body::text)::commit_part) FROM published_document d
         WHERE d.fixture_id = b.fixture_id AND d.last_seq = b.last_seq)::text AS parts
  FROM scoreboard b JOIN timeline_item t ON t.stream_id = b.fixture_id AND t.seq = b.last_seq
 WHERE b.fixture_id = $1
"""
"""The newest item of a match, as it was saved."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item in pgbench's variables."""

    variables: dict[str, str]

    @property
    def size_bytes(self) -> int:
        """What one call carries."""
        return sum(len(value) for value in self.variables.values())


async def newest_item(database_url: str, match: str) -> Item:
    """The newest item of a match, to be saved again and again."""
    async with open_database(database_url) as database:
        row = await database.fetchrow(ITEM, match)
        assert row is not None, match
        return Item(dict(row))


async def rate(
    database_url: str, item: Item, matches: list[str], clients: int, seconds: int = SECONDS
) -> float:
    """Items saved per second by so many clients, each in a match of its own."""
    parts = urlsplit(database_url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    variables = item.variables | {"matches": "{" + ",".join(matches[:clients]) + "}"}
    async with _script() as script:
        found = await trio.run_process(
            [
                str(binaries(default_data_folder(), postgres_user()) / "pgbench"),
                *(
                    "-n",
                    "-M",
                    "prepared",
                    "-T",
                    str(seconds),
                    "-c",
                    str(clients),
                    "-j",
                    "2",
                    "-f",
                    str(script),
                ),
                *(word for name, value in variables.items() for word in ("-D", f"{name}={value}")),
                *("-h", unquote(query["host"]), "-p", query["port"], "-U", str(parts.username)),
                parts.path.lstrip("/"),
            ],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    match = re.search(rb"tps = ([0-9.]+)", found.stdout)
    assert match, found.stderr.decode()[-2000:]
    return float(match[1])


@asynccontextmanager
async def _script() -> AsyncIterator[Path]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "commit.sql")
        await trio.Path(path).write_text(SCRIPT)
        yield path
