"""`scorebox match undo`, `correct` and the other corrections, `history`, and `show --at`."""

import json
from typing import Any

import pytest

from tests.sports.readers.small_match import small

REASON = ("--reason", "seen on video")


class Match:
    """A match that was played, and its log."""

    def __init__(self, scorebox, code: str) -> None:
        self._scorebox = scorebox
        self.code = code

    def rows(self) -> list[dict[str, Any]]:
        lines = self._scorebox("match", "log", self.code, "--json").stdout.splitlines()
        return [json.loads(line) for line in lines]

    def document(self, *options) -> dict[str, Any]:
        shown = self._scorebox("match", "show", self.code, "--json", *options)
        document: dict[str, Any] = json.loads(shown.stdout)
        return document

    def scores(self) -> list[str]:
        return [side["score"] for side in self.document()["document"]["head"]["sides"]]

    def first(self, code: str) -> dict[str, Any]:
        return next(row for row in self.rows() if row["code"] == code)


@pytest.fixture
def match(scorebox, write_match):
    result = scorebox("play", "cricsheet", write_match("corrected", small()), "--json", "--again")
    return Match(scorebox, json.loads(result.stdout)["matches"][0]["code"])


def told(result) -> str:
    return " ".join(result.stdout.split())


def test_a_correction_says_what_it_does_and_what_it_changed(scorebox, match):
    ball = match.first("cricket.delivery")
    right = json.dumps(ball["input"] | {"bat": 3})
    result = scorebox("match", "correct", match.code, ball["seq"], "--input", right, *REASON)
    assert result.exit_code == 0, result.output
    said = told(result)
    assert f"correct event {ball['seq']} (cricket.delivery {{" in said
    assert "Reds 1/0 3/0" in said
    assert "changed: innings-1" in said
    assert match.scores() == ["3/0", "0/0"]
    row = match.rows()[-1]
    assert f"`scorebox match revert {match.code} {row['seq']}` takes it back" in said
    assert (row["code"], row["input"]["reason"]) == ("match.correct", "seen on video")
    assert row["source"]["device"]


def test_a_preview_changes_nothing(scorebox, match, tmp_path):
    before = match.document()
    ball = match.first("cricket.delivery")
    file = tmp_path / "right.json"
    file.write_text(json.dumps(ball["input"] | {"bat": 3}))
    arguments = (
        "match",
        "correct",
        match.code,
        f"{ball['seq']}/0",
        "--input",
        f"@{file}",
        *REASON,
        "--preview",
    )
    result = scorebox(*arguments)
    assert result.exit_code == 0, result.output
    assert "Reds 1/0 3/0" in told(result)
    assert "a preview: nothing was changed" in result.stdout
    answer = json.loads(scorebox(*arguments, "--json").stdout)
    assert answer["outcome"] == "preview"
    assert set(answer["parts"]) == {"innings-1", "innings-2"}, "with the target of the second"
    assert match.document() == before


def test_an_undo_names_what_it_takes_and_a_revert_brings_it_back(scorebox, match):
    before = match.document()
    newest = match.rows()[-1]
    result = scorebox("match", "undo", match.code)
    assert result.exit_code == 0, result.output
    assert f"undo event {newest['seq']} ({newest['code']}" in result.stdout
    undone = match.rows()[-1]
    assert undone["input"] == {"event": newest["seq"]}
    assert match.document()["state_hash"] != before["state_hash"]
    result = scorebox("match", "revert", match.code, undone["seq"], *REASON)
    assert result.exit_code == 0, result.output
    assert f"revert row {undone['seq']} (match.undo" in result.stdout
    assert match.document()["document"] == before["document"]


def test_an_undo_of_another_event_than_the_newest_is_refused(scorebox, match):
    rows = match.rows()
    result = scorebox("match", "undo", match.code, "--event", "3")
    assert result.exit_code == 1
    assert f"refused: the newest event is {rows[-1]['seq']}" in result.stderr
    assert match.rows() == rows


def test_what_no_longer_fits_is_refused_named_and_forced(scorebox, match):
    innings = match.first("cricket.innings")
    arguments = ("match", "void", match.code, innings["seq"], *REASON)
    refused = scorebox(*arguments)
    assert refused.exit_code == 1
    assert "would no longer fit" in refused.stderr
    assert "--force passes over them" in refused.stderr
    answer = json.loads(scorebox(*arguments, "--json").stdout)
    assert (answer["outcome"], answer["code"]) == ("refused", "does_not_fit")
    preview = scorebox(*arguments, "--preview")
    assert f"{innings['seq'] + 1} cricket.delivery" in told(preview)
    forced = scorebox(*arguments, "--force")
    assert forced.exit_code == 0, forced.output
    assert "later events no longer fit:" in forced.stdout
    assert f"{innings['seq'] + 1} cricket.delivery" in told(forced)
    assert match.rows()[-1]["input"]["force"] is True
    passed_over = scorebox("match", "history", match.code, innings["seq"] + 1)
    assert "passed over: it no longer fits" in passed_over.stdout


def test_a_missed_event_is_put_in_its_place(scorebox, match):
    ball = match.first("cricket.delivery")
    arguments = ["--after", ball["seq"], "--code", "cricket.interval", "--input", '{"kind": "drinks"}']
    result = scorebox("match", "insert", match.code, *arguments, *REASON)
    assert result.exit_code == 0, result.output
    assert 'insert cricket.interval {"kind": "drinks"} after event' in result.stdout
    row = match.rows()[-1]
    assert row["input"]["after"] == ball["seq"]
    history = json.loads(scorebox("match", "history", match.code, row["seq"], "--json").stdout)
    assert (history["code"], history["standing"]) == ("cricket.interval", True)


def test_an_amendment_is_read_from_a_file(scorebox, match, tmp_path):
    ball = match.first("cricket.delivery")
    file = tmp_path / "amendment.json"
    interval = {
        "edit": "insert",
        "after": ball["seq"],
        "code": "cricket.interval",
        "input": {"kind": "drinks"},
    }
    right = {"edit": "correct", "event": ball["seq"], "input": ball["input"] | {"bat": 5}}
    file.write_text(json.dumps([interval, right]))
    result = scorebox("match", "amend", match.code, file, *REASON)
    assert result.exit_code == 0, result.output
    assert "amend 2 events: insert cricket.interval" in result.stdout
    assert match.scores()[0] == "5/0"
    file.write_text('{"edits": 1}')
    spoilt = scorebox("match", "amend", match.code, file, *REASON)
    assert spoilt.exit_code == 2
    assert "is no list of corrections" in spoilt.stderr


def test_a_rebuild_changes_no_figure(scorebox, match):
    before = match.document()
    result = scorebox("match", "rebuild", match.code, *REASON)
    assert result.exit_code == 0, result.output
    assert "no figure changed" in result.stdout
    assert "takes it back" not in result.stdout
    assert match.document()["state_hash"] == before["state_hash"]


def test_a_match_is_shown_as_it_was(scorebox, match):
    rows = match.rows()
    then = match.document("--at", str(rows[3]["seq"]))
    assert (then["seq"], then["state_hash"]) == (rows[3]["seq"], rows[3]["state_hash"])
    assert match.document("--at", str(rows[-1]["seq"])) == match.document()
    shown = scorebox("match", "show", match.code, "--at", rows[3]["seq"])
    assert "in play" in shown.stdout
    late = scorebox("match", "show", match.code, "--at", "999")
    assert late.exit_code == 2
    assert f"there is no row 999; the newest is {rows[-1]['seq']}" in late.stderr
    assert scorebox("match", "show", match.code, "--at", "3", "--watch").exit_code == 2


def test_the_history_of_an_event_is_shown(scorebox, match):
    ball = match.first("cricket.delivery")
    right = json.dumps(ball["input"] | {"bat": 3})
    scorebox("match", "correct", match.code, ball["seq"], "--input", right, *REASON)
    said = told(scorebox("match", "history", match.code, ball["seq"]))
    assert "stands" in said
    assert "match.correct" in said
    assert "seen on video" in said
    account = match.rows()[-1]["source"]["account"]
    assert account in said
    outside = scorebox("match", "history", match.code, ball["seq"], "--json", SCOREBOX_TOKEN=None)
    assert [set(row) & {"by", "device"} for row in json.loads(outside.stdout)["history"]] == [set(), set()]


@pytest.mark.parametrize("command", ["history", "void"])
def test_an_event_that_is_not_there_is_a_sentence(scorebox, match, command):
    result = scorebox("match", command, match.code, "999", *(REASON if command == "void" else ()))
    assert result.exit_code == (1 if command == "void" else 2)
    assert "there is no event 999" in result.stderr


@pytest.mark.parametrize("wrong", ["{", "[1]", "@/nowhere/right.json"])
def test_an_input_that_cannot_be_read_is_said_before_anything_is_sent(scorebox, wrong):
    result = scorebox("match", "correct", "nobody", "3", "--input", wrong, *REASON)
    assert result.exit_code == 2
    assert "--input" in result.stderr


def test_a_token_that_may_not_correct_is_said(scorebox, match, cli_server):
    made = scorebox("token", "create", "--role", "viewer", SCOREBOX_DATA=str(cli_server.data))
    assert made.exit_code == 0, made.output
    result = scorebox("match", "undo", match.code, SCOREBOX_TOKEN=made.stdout.strip())
    assert result.exit_code == 2
    assert "viewer" in result.stderr


def test_who_gives_no_token_is_told_how_to_get_one(scorebox, match):
    result = scorebox("match", "undo", match.code, SCOREBOX_TOKEN=None)
    assert result.exit_code == 2
    assert "scorebox token create" in result.stderr
    assert "SCOREBOX_TOKEN" in result.stderr
