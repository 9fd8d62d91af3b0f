"""A match taken out of one server and put into another: equal to the last hash, or refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from bench.play import taps
from gateway.transfer import TransferRow, decode, encode
from tests.acceptance.server import Desk, ServerProcess, server_process
from tests.acceptance.test_backup import refused, scorebox

BALLS = 130
"""Two checkpoints."""


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """Two servers that know nothing of each other."""
    with server_process() as here, server_process() as there:
        yield here, there


def on(server: ServerProcess, *arguments: str | Path) -> Any:
    return scorebox(server, *arguments, "--server", server.url, "--token", server.token)


async def send(desk: Desk, match: str, code: str, given: dict[str, Any], seq: int) -> int:
    answer = await desk.send(
        match, code, given, seq, device="tablet 1", sent_at="2026-11-30T10:00:00.123456Z"
    )
    assert answer["outcome"] == "accepted", answer
    newest: int = answer["seq"]
    return newest


async def scored(desk: Desk) -> tuple[str, int]:
    """A match with every kind of row: corrections, a revert, a flag."""
    how: dict[str, Any] = {"competition": "cup", "external": {"source": "board", "id": str(uuid4())}}
    match, seq = (await desk.create(**how))["match"], 1
    for code, given in (tap for tap, _ in zip(taps(3), range(BALLS), strict=False)):
        seq = await send(desk, match, code, given, seq)
    seq = await send(desk, match, "match.undo", {"reason": "wrong"}, seq)
    corrected = seq = await send(
        desk, match, "match.void", {"event": 20, "reason": "dead ball", "force": True}, seq
    )
    seq = await send(desk, match, "match.revert", {"seq": corrected, "reason": "it was not"}, seq)
    return match, await send(
        desk, match, "match.flag", {"flag": "uncertain", "on": True, "reason": "rain"}, seq
    )


async def test_an_imported_match_is_equal_to_the_last_hash_and_scoring_goes_on_in_it(
    two: tuple[ServerProcess, ServerProcess], tmp_path: Path
) -> None:
    here, there = two
    async with Desk(here) as desk, Desk(there) as other:
        match, seq = await scored(desk)
        file = tmp_path / "whole.match"
        done = on(here, "match", "export", match, file)
        assert done.returncode == 0, done
        refused(on(here, "match", "export", match, file), "is there already")
        done = on(there, "match", "import", file)
        assert (done.returncode, "imported" in done.stdout) == (0, True), done
        assert await other.log(match) == await desk.log(match)
        assert await other.document(match) == await desk.document(match)
        checked = scorebox(there, "verify", match)
        assert checked.returncode == 0, checked
        # Its export is the same file, but for when it was made.
        again = tmp_path / "again.match"
        assert on(there, "match", "export", match, again).returncode == 0
        (first, rows), (second, others) = decode(file.read_bytes()), decode(again.read_bytes())
        assert rows == others
        assert {
            name for name in first.__struct_fields__ if getattr(first, name) != getattr(second, name)
        } == {"exported_at"}
        # Once more changes nothing; and both go on alike.
        assert "row for row" in on(there, "match", "import", file).stdout
        undo = str(uuid4())
        answers = [
            await each.send(match, "match.undo", {"reason": "on we go"}, seq, id=undo)
            for each in (desk, other)
        ]
        assert answers[0] == answers[1]
        assert answers[0]["outcome"] == "accepted"
        assert scorebox(there, "verify", match).returncode == 0
        refused(on(there, "match", "import", file), "is here already and here it has 136 rows, the file 135")


@pytest.mark.parametrize("at", [1, 2, 57, BALLS + 1, BALLS + 2, BALLS + 3])
async def test_any_row_can_be_exported_and_is_that_moment(
    two: tuple[ServerProcess, ServerProcess], tmp_path: Path, at: int
) -> None:
    here, there = two
    async with Desk(here) as desk, Desk(there) as other:
        match, _ = await scored(desk)
        file = tmp_path / "x.match"
        assert on(here, "match", "export", match, file, "--at", str(at)).returncode == 0
        assert on(there, "match", "import", file).returncode == 0
        then = json.loads(on(here, "match", "show", match, "--at", str(at), "--json").stdout)
        assert await other.document(match) == then
        assert await other.log(match) == (await desk.log(match))[:at]
        assert scorebox(there, "verify", match).returncode == 0
        refused(on(here, "match", "export", match, tmp_path / "y", "--at", "100000"), "the newest is")


async def test_what_was_changed_is_refused_by_name_and_nothing_is_written(
    two: tuple[ServerProcess, ServerProcess], tmp_path: Path
) -> None:
    here, there = two
    async with Desk(here) as desk, Desk(there) as other:
        match, _ = await scored(desk)
        file = tmp_path / "x.match"
        assert on(here, "match", "export", match, file).returncode == 0
        header, rows = decode(file.read_bytes())
        replaced = msgspec.structs.replace

        def forged(name: str, **how: Any) -> Path:
            target = tmp_path / name
            target.write_bytes(encode(how.get("header", header), how.get("rows", rows)))
            return target

        cut = tmp_path / "cut"
        cut.write_bytes(file.read_bytes()[:-200])
        changed = tmp_path / "changed"
        changed.write_bytes(file.read_bytes().replace(b'"bat":4', b'"bat":6', 1))
        late: list[TransferRow] = [*rows[:-1], replaced(rows[-1], state_hash="00" * 32)]
        other_state = replaced(header, state_hash="00" * 32)
        gap = forged("gap", rows=rows[:5] + rows[6:])
        refused(on(there, "match", "import", cut), "cut")
        refused(on(there, "match", "import", changed), "changed since it was exported")
        refused(on(there, "match", "import", gap), "each once and in order")
        refused(
            on(
                there,
                "match",
                "import",
                forged("hash", header=other_state, rows=late),
            ),
            f"row {len(rows)} carries another state hash",
        )
        refused(
            on(there, "match", "import", forged("code", header=replaced(header, code_sha="ab" * 32))),
            "ab" * 32,
            "scorebox sport install",
        )
        no_flag = replaced(rows[-1], input=msgspec.Raw(b'{"flag":"nope","on":true,"reason":"rain"}'))
        refused(
            on(there, "match", "import", forged("flag", rows=[*rows[:-1], no_flag])), "a flag or a ruling"
        )
        other_sport = replaced(header, sport="table_tennis")
        refused(
            on(there, "match", "import", forged("sport", header=other_sport)), "its code_sha is of cricket"
        )
        nobody = replaced(header, competitors=header.competitors[:-1])
        done = on(there, "match", "import", forged("nobody", header=nobody))
        assert done.returncode == 2, done
        refused(on(there, "match", "import", Path(__file__)), "no exported match")
        assert match not in json.dumps((await other._http.get("/v1/matches")).json())


async def test_another_match_keeps_its_code(two: tuple[ServerProcess, ServerProcess], tmp_path: Path) -> None:
    here, there = two
    async with Desk(here) as desk, Desk(there) as other:
        created = await desk.create(code="the-final")
        await other.create(code="the-final")
        file = tmp_path / "x.match"
        assert on(here, "match", "export", created["match"], file).returncode == 0
        refused(on(there, "match", "import", file), "has the code 'the-final' here")


async def test_who_may_and_who_may_not(two: tuple[ServerProcess, ServerProcess], tmp_path: Path) -> None:
    here, _ = two
    async with Desk(here) as desk:
        match = (await desk.create())["match"]
    token = here.run("token", "create", "--role", "operator").stdout.strip()
    done = scorebox(here, "match", "export", match, tmp_path / "x", "--server", here.url, "--token", token)
    refused(done, "does not allow transfer_match")
    assert not (tmp_path / "x").exists()
