"""`scorebox match flag`, `official`, `reopen`, and what the card and the list show of them."""

import json

import pytest

from tests.config.test_corrections_command import REASON, Match, match, told

__all__ = ["match"]


def card(scorebox, match: Match) -> str:
    return f" {' '.join(scorebox('match', 'show', match.code).stdout.split())} "


def listed(scorebox, match: Match) -> str:
    lines: list[str] = scorebox("match", "list", "--limit", "500").stdout.splitlines()
    place = next(n for n, line in enumerate(lines) if match.code in line)
    return lines[place + 1]


def test_a_flag_is_put_up_and_taken_down(scorebox, match):
    result = scorebox("match", "flag", match.code, "under_review", "on", "--reason", "was it a [bump] ball?")
    assert result.exit_code == 0, result.output
    row = match.rows()[-1]
    assert (row["code"], row["emits"]) == ("match.flag", ["flagged"])
    assert row["source"]["device"]
    mark = f"! Under review: was it a [bump] ball? ({row['source']['account']})"
    assert mark in result.stdout
    assert f"accepted as row {row['seq']}" in result.stdout
    assert mark in card(scorebox, match)
    assert "under review" in listed(scorebox, match)
    assert scorebox("match", "flag", match.code, "under_review", "off", *REASON).exit_code == 0
    assert "Under review" not in card(scorebox, match)


def test_a_score_is_made_official_reopened_corrected_and_reissued(scorebox, match):
    assert " provisional " in card(scorebox, match)
    result = scorebox("match", "official", match.code, "--reason", "the referee's report")
    assert result.exit_code == 0, result.output
    assert "Reds 1/0, Blues 0/0; Reds won by 1 run" in result.stdout
    assert "the score is official" in result.stdout
    assert listed(scorebox, match).endswith("  official")
    correction = (
        "match",
        "correct",
        match.code,
        match.first("cricket.delivery")["seq"],
        "--input",
        json.dumps(match.first("cricket.delivery")["input"] | {"bat": 3}),
        *REASON,
    )
    refused = scorebox(*correction)
    assert refused.exit_code == 1
    assert "the score is official and no longer changes" in refused.stderr
    result = scorebox("match", "reopen", match.code, "--reason", "three were run")
    assert result.exit_code == 0, result.output
    assert "the score is reopened: three were run" in result.stdout
    assert " reopened: three were run " in card(scorebox, match)
    assert scorebox(*correction).exit_code == 0
    answer = json.loads(scorebox("match", "official", match.code, "--json").stdout)
    assert (answer["outcome"], answer["emits"]) == ("accepted", ["official"])
    assert " official, revision 2 " in card(scorebox, match)
    assert listed(scorebox, match).endswith("  official, revision 2")
    assert match.scores() == ["3/0", "0/0"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("reopen", *REASON), "the score is not official: there is nothing to reopen"),
        (("flag", "uncertain", "off", *REASON), "the match is not marked as uncertain (flag)"),
    ],
)
def test_what_cannot_be_is_a_sentence(scorebox, match, arguments, sentence):
    before = match.rows()
    name, *others = arguments
    result = scorebox("match", name, match.code, *others)
    assert result.exit_code == 1
    assert f"refused: {sentence}" in result.stderr
    assert match.rows() == before


def test_a_match_in_play_cannot_be_made_official(scorebox, match):
    scorebox("match", "undo", match.code)
    assert " provisional " not in card(scorebox, match)
    result = scorebox("match", "official", match.code)
    assert result.exit_code == 1
    assert "the match is not over" in result.stderr


def test_a_token_that_may_not_make_it_official_is_said(scorebox, match, cli_server):
    made = scorebox("token", "create", "--role", "scorer", SCOREBOX_DATA=str(cli_server.data))
    result = scorebox("match", "official", match.code, SCOREBOX_TOKEN=made.stdout.strip())
    assert result.exit_code == 2
    assert "the role scorer may not send match.official" in result.stderr
    assert "Reds" in told(result)
