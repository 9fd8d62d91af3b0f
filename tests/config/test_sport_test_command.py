"""`scorebox sport test`: the kit from the command line."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from config.commands.sport import sport
from config.commands.sport_test import FAILURES_SHOWN, print_report
from sports.kit.report import Check, Report
from tests.sports.test_kit import sport_folder


def test_a_sound_folder_passes(tmp_path: Path):
    done = CliRunner().invoke(sport, ["test", str(sport_folder(tmp_path))])
    assert done.exit_code == 0, done.output
    assert "tally 1.0.0" in done.stdout
    assert "two hash seeds" in done.stdout
    assert "FAILED" not in done.stdout


def test_a_fault_is_told_and_the_exit_code_is_1(tmp_path: Path):
    root = sport_folder(tmp_path, lambda text: text.replace('{"points": points[side]}', '{"goals": 1}'))
    done = CliRunner().invoke(sport, ["test", str(root)])
    assert done.exit_code == 1
    assert "- lines catalogued: " in done.stdout
    assert "the key 'goals' of role 'side' is not in the catalogue" in done.stdout


def test_a_fault_on_every_command_is_told_a_few_times_and_counted(capsys: pytest.CaptureFixture[str]):
    check = Check("pure JSON", "commands", 28)
    for number in range(28):
        check.fail(f"command {number}: a fraction")
    print_report(Report("darts", "1.0.0", [check, Check("state size", "states", 28)]))
    lines = capsys.readouterr().out.splitlines()
    assert any("28 FAILED" in line for line in lines)
    told = [line for line in lines if line.startswith("- ")]
    assert len(told) == FAILURES_SHOWN + 1
    assert told[0] == "- pure JSON: command 0: a fraction"
    assert told[-1].startswith(f"- pure JSON: {28 - FAILURES_SHOWN} more")


def test_machines_get_json(tmp_path: Path):
    done = CliRunner().invoke(sport, ["test", "--json", str(sport_folder(tmp_path))])
    report = json.loads(done.stdout)
    assert report["passed"] is True
    assert {check["name"] for check in report["checks"]} >= {"undo after do", "two hash seeds", "manifest"}


def test_a_bundled_sport_is_found_by_its_code():
    done = CliRunner().invoke(sport, ["test", "table_tennis"])
    assert done.exit_code == 0, done.output


def test_what_is_no_sport_is_told(tmp_path: Path):
    for given in ("chess", str(tmp_path)):
        done = CliRunner().invoke(sport, ["test", given])
        assert done.exit_code == 2
        assert given in done.output


@pytest.mark.parametrize("hidden", [False, True])
def test_what_workers_forbid_is_told_to_the_author(tmp_path: Path, hidden: bool):
    """With the line, and also where the sport swallows the exception."""
    ask = (
        "try:\n            time.time()\n        except OSError:\n            pass"
        if hidden
        else "time.time()"
    )
    root = sport_folder(
        tmp_path,
        lambda text: "import time\n" + re.sub(r"(def step\(.*?:\n)", rf"\1        {ask}\n", text),
    )
    done = CliRunner().invoke(sport, ["test", str(root)])
    assert done.exit_code == 1, done.output
    assert "ask for the time (time.time) at scorebox_tally/" in " ".join(done.stdout.split())
