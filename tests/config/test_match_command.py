"""`scorebox match`, `scorebox status`, `scorebox token` and `scorebox db`."""

import io
import json
import os
import re
import tempfile

import pytest
from rich.console import Console

from config.commands.match import fitting_card
from config.statusboard import status_board
from tests.sports.readers.small_match import small


@pytest.fixture
def played(scorebox, write_match):
    """The code of a match that was played."""
    result = scorebox("play", "cricsheet", write_match("shown", small()), "--json")
    return json.loads(result.stdout)["matches"][0]["code"]


def test_matches_are_listed(scorebox, played):
    result = scorebox("match", "list", "--status", "completed", "--limit", "500")
    assert result.exit_code == 0
    assert played in result.stdout
    assert "Reds 1/0 · Blues 0/0 - Reds won by 1 run" in result.stdout
    listed = json.loads(scorebox("match", "list", "--json").stdout)
    assert played in {entry["code"] for entry in listed}
    assert played not in scorebox("match", "list", "--status", "live").stdout


def test_a_scorecard_is_shown_by_code(scorebox, played):
    result = scorebox("match", "show", played)
    assert result.exit_code == 0
    assert "Reds won by 1 run" in result.stdout
    document = json.loads(scorebox("match", "show", played, "--json").stdout)
    assert document["document"]["head"]["code"] == played


def test_the_log_is_printed_in_order_and_in_part(scorebox, played):
    rows = [json.loads(line) for line in scorebox("match", "log", played, "--json").stdout.splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert rows[0]["code"] == "match.open"
    part = scorebox("match", "log", played, "--after", "2", "--limit", "3").stdout.splitlines()
    assert [line.split()[0] for line in part] == ["3", "4", "5"]
    assert "cricket.innings" in part[0]


@pytest.mark.parametrize("command", [("show", "nobody-v-nobody"), ("log", "nobody-v-nobody")])
def test_a_match_that_is_not_there_is_a_sentence(scorebox, command):
    result = scorebox("match", *command)
    assert result.exit_code == 2
    assert "there is no match 'nobody-v-nobody'" in result.stderr


def test_the_status_is_shown_with_and_without_details(scorebox, played):
    result = scorebox("status")
    assert result.exit_code == 0
    assert "ready" in result.stdout
    assert "pool cricket" in result.stdout
    outside = scorebox("status", SCOREBOX_TOKEN=None)
    assert "details need a token" in outside.stdout
    assert "pool cricket" not in outside.stdout
    assert json.loads(scorebox("status", "--json").stdout)["ready"] is True


def test_a_status_of_a_server_in_trouble_says_what_is_missing():
    group = status_board("http://x", {"ready": False, "missing": ["the database is away"], "version": "1"})
    lines = [str(part) for part in group.renderables]
    assert any("not ready" in line for line in lines)
    assert any("the database is away" in line for line in lines)


ALERT = {
    "kind": "verification_failed",
    "where": "a-v-b",
    "event": 52,
    "sentence": "match a-v-b and its log part at event 52",
    "since": "2026-06-01T12:00:03.5Z",
    "raised_at": "2026-06-01T12:05:03.5Z",
    "times": 2,
    "over_at": None,
    "stack": None,
}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "since 2026-06-01 12:00:03 UTC, 2 times, last 2026-06-01 12:05:03 UTC"),
        ({"times": 1, "over_at": "2026-06-01T12:09:00Z"}, "12:00:03 UTC, over 2026-06-01 12:09:00 UTC"),
    ],
)
def test_an_alert_is_shown_with_its_place_its_event_and_since_when(changed, words):
    group = status_board("http://x", {"node": {}, "alerts": [ALERT | changed]})
    [line] = [str(part) for part in group.renderables if "verification_failed" in str(part)]
    assert "a-v-b, event 52" in line
    assert "part at event 52" in line
    assert words in line


def test_a_token_is_made_used_and_ended_beside_a_running_server(scorebox, played, cli_server):
    data = {"SCOREBOX_DATA": str(cli_server.data)}
    made = scorebox(
        "token", "create", "--role", "operator", "--account", "desk", "--days", "3", "--json", **data
    )
    assert made.exit_code == 0, made.output
    told = json.loads(made.stdout)
    assert (told["role"], told["account"]) == ("operator", "desk")
    assert "pool cricket" in scorebox("status", SCOREBOX_TOKEN=told["token"]).stdout
    assert scorebox("token", "revoke", told["token"], **data).exit_code == 0
    again = scorebox("token", "revoke", told["token"], **data)
    assert again.exit_code == 2
    assert "no such token" in again.stderr


def test_a_token_for_one_match(scorebox, played, cli_server):
    data = {"SCOREBOX_DATA": str(cli_server.data)}
    bound = scorebox("token", "create", "--match", played, **data)
    assert bound.exit_code == 0
    assert len(bound.stdout.strip()) > 30
    unknown = scorebox("token", "create", "--match", "nobody-v-nobody", **data)
    assert unknown.exit_code == 2
    assert "there is no match 'nobody-v-nobody'" in unknown.stderr


def test_a_token_is_all_that_stands_on_standard_output(scorebox):
    """Also where the command starts the database itself, so that a shell can keep what it prints."""
    with tempfile.TemporaryDirectory(prefix="sbt-") as name:
        os.chmod(name, 0o711)  # postgres may be another user
        made = scorebox("token", "create", SCOREBOX_DATA=f"{name}/data")
        assert made.exit_code == 0, made.output
        assert re.fullmatch(r"[A-Za-z0-9_-]{43}\n", made.stdout)


def test_a_schema_is_brought_up_to_date_beside_a_running_server(scorebox, cli_server):
    result = scorebox("db", "migrate", SCOREBOX_DATA=str(cli_server.data))
    assert (result.exit_code, result.stdout) == (0, "the schema is up to date\n")


def test_a_card_longer_than_the_terminal_shows_its_end(scorebox, played):
    document = json.loads(scorebox("match", "show", played, "--json").stdout)["document"]
    whole = fitting_card(Console(width=100, height=500, force_terminal=True), document).plain.split("\n")
    short = fitting_card(Console(width=100, height=6, force_terminal=True), document).plain.split("\n")
    assert whole.count(document["head"]["name"]) == 1
    assert short == [whole[0], "…", *whole[-4:]]
    assert fitting_card(Console(width=100, height=6, file=io.StringIO()), document).plain.split("\n") == whole


def test_a_port_that_is_taken_is_said_before_anything_is_started(scorebox, cli_server, tmp_path):
    port = cli_server.url.rpartition(":")[2]
    result = scorebox("serve", "--port", port, SCOREBOX_DATA=str(tmp_path / "data"))
    assert result.exit_code == 2
    assert f"port {port} on 127.0.0.1 is taken" in result.stderr
    assert not (tmp_path / "data").exists()
