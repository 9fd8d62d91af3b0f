"""`scorebox play cricsheet`."""

import json

import pytest

from tests.sports.readers.made_up import made_up
from tests.sports.readers.small_match import AWAY, small


def test_a_file_is_played_and_every_figure_compared(scorebox, write_match):
    file = write_match("whole", made_up(11))
    result = scorebox("play", "cricsheet", file, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert (told["agree"], told["differ"], told["failed"]) == (1, 0, 0)
    (match,) = told["matches"]
    assert match["status"] == "agrees"
    assert match["differences"] == []
    assert match["figures"] > 100
    assert match["commands"] > match["deliveries"] > 50


def test_a_match_that_is_there_is_checked_and_not_scored_again(scorebox, write_match):
    file = write_match("twice", small())
    first = json.loads(scorebox("play", "cricsheet", file, "--json").stdout)["matches"][0]
    second = json.loads(scorebox("play", "cricsheet", file, "--json").stdout)["matches"][0]
    again = json.loads(scorebox("play", "cricsheet", file, "--json", "--again").stdout)["matches"][0]
    assert (first["existed"], second["existed"], again["existed"]) == (False, True, False)
    assert second["match"] == first["match"] != again["match"]
    assert second["commands"] == 0
    assert again["commands"] == first["commands"]
    assert "not scored again" in scorebox("play", "cricsheet", file).stdout


def test_a_difference_is_named_and_ends_with_1(scorebox, write_match):
    plain = small(outcome={"winner": AWAY, "by": {"wickets": 9}})
    plain["innings"][0]["overs"][0]["deliveries"][0]["runs"]["total"] = 3
    result = scorebox("play", "cricsheet", write_match("differs", plain))
    assert result.exit_code == 1
    assert "differs.json: innings-1, Reds side: runs 1 as scored, 3 expected" in result.stdout
    assert "differs.json: result: winner Reds as scored, Blues expected" in result.stdout
    assert "1 differ" in result.stdout


def test_several_files_are_a_line_each_and_one_is_a_scorecard(scorebox, write_match):
    files = [write_match(f"several-{number}", small()) for number in range(3)]
    several = scorebox("play", "cricsheet", *files)
    assert several.exit_code == 0
    assert several.stdout.count("agrees several-") == 3
    assert "Extras" not in several.stdout
    one = scorebox("play", "cricsheet", files[0])
    assert "Extras 0" in one.stdout
    assert "Reds won by 1 run" in one.stdout


def test_what_is_no_match_is_told_beside_what_is(scorebox, write_match, tmp_path):
    other = tmp_path / "letter.json"
    other.write_text("Dear scorer,")
    result = scorebox("play", "cricsheet", other, write_match("beside", small()), tmp_path / "none.json")
    assert result.exit_code == 2
    assert f"{other}: the file is not JSON" in result.stdout
    assert "none.json: the file cannot be read" in result.stdout
    assert "agrees beside.json" in result.stdout
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"SCOREBOX_TOKEN": "wrong"}, "does not take this token"),
        ({"SCOREBOX_TOKEN": None}, "scorebox token create"),
        ({"SCOREBOX_SERVER": "http://127.0.0.1:1"}, "nothing answers at http://127.0.0.1:1"),
        ({"SCOREBOX_SERVER": "ftp://somewhere"}, "write http://HOST:PORT"),
    ],
)
def test_a_server_that_cannot_be_used_is_a_sentence(scorebox, write_match, environment, says):
    result = scorebox("play", "cricsheet", write_match("unplayed", small()), **environment)
    assert result.exit_code == 2
    assert says in result.stdout
    assert "Traceback" not in result.output


@pytest.mark.parametrize("speed", ["0", "-1", "fast", "inf", "nan"])
def test_a_speed_is_max_or_a_number(scorebox, write_match, speed):
    result = scorebox("play", "cricsheet", write_match("speed", small()), "--speed", speed)
    assert result.exit_code == 2
    assert "is not a speed" in result.stderr


def test_a_pace_is_held(scorebox, write_match):
    file = write_match("slowly", small())
    told = json.loads(scorebox("play", "cricsheet", file, "--json", "--speed", "40").stdout)["matches"][0]
    deliveries = told["deliveries"]
    assert told["seconds"] > (deliveries - 2) / 40


def test_without_a_server_one_is_started_for_the_while(scorebox, write_match):
    file = write_match("own", small())
    result = scorebox("play", "cricsheet", file, "--json", SCOREBOX_SERVER=None, SCOREBOX_TOKEN=None)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["agree"] == 1
