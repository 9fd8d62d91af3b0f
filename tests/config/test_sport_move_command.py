"""`scorebox sport move` as it is typed."""

import json
from collections.abc import Callable
from pathlib import Path

import httpx
from click.testing import CliRunner, Result

from bench.play import opening
from config.cli import main
from tests.acceptance.server import ServerProcess
from tests.sportcopies import cricket_copy

OFFICIALS = {"umpires": ["Erasmus", "Dharmasena"]}
REASON = ("--reason", "a rule was mended")


def test_a_match_is_moved_and_where_it_parts_it_is_not(
    scorebox: Callable[..., Result], cli_server: ServerProcess, tmp_path: Path
) -> None:
    folder = cricket_copy(tmp_path, "0.2.0", officials="umpires", golden=1)
    wheel = CliRunner().invoke(main, ["sport", "build", str(folder)]).stdout.strip()
    assert scorebox("sport", "install", wheel).exit_code == 0
    headers = {"Authorization": f"Bearer {cli_server.token}"}
    with httpx.Client(base_url=cli_server.url, headers=headers, trust_env=False) as client:
        body = {"sport": "cricket", "name": "A v B", "opening": opening(), "version": "1.0.0"}
        match = client.post("/v1/matches", json=body).json()["match"]
    moved = scorebox("sport", "move", match, "0.2.0", *REASON)
    assert moved.exit_code == 0, moved.output
    assert moved.stdout.splitlines()[0] == "move the match to 0.2.0"
    assert "accepted as row 2" in moved.stdout
    rows = json.loads(scorebox("sport", "list", "--json").stdout)
    assert next(row for row in rows if row["version"] == "0.2.0")["unfinished"] == 1
    assert "still scores 1 unfinished match" in scorebox("sport", "retire", "cricket", "0.2.0").stderr
    with httpx.Client(base_url=cli_server.url, headers=headers, trust_env=False) as client:
        id = "018f3c5e-0000-7000-8000-00000000a0e5"
        given = {"id": id, "code": "cricket.officials", "input": OFFICIALS, "saw": 2}
        assert client.post(f"/v1/matches/{match}/commands", json=given).json()["emits"] == ["umpires"]
    parts = scorebox("sport", "move", match, "1.0.0", *REASON)
    assert parts.exit_code == 1
    assert "event 3 (cricket.officials) emits officials, until now it was umpires" in parts.stderr
    assert scorebox("sport", "move", match, "1.0.0", *REASON, "--force").exit_code == 0
    assert scorebox("sport", "retire", "cricket", "0.2.0").exit_code == 0
    assert scorebox("sport", "move", match, "0.2.0", *REASON).exit_code == 1
    assert scorebox("sport", "move", match, "1.0.0").exit_code == 2, "a reason is asked for"
