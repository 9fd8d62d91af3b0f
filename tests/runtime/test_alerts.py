"""Alerts: the same again is the same one, what is over stays to be seen, every kind has its runbook line."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from runtime.alerts import KEPT_ALERTS, AlertBoard, AlertKind

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("runtime", "gateway", "verifier", "config")
KINDS = frozenset(get_args(AlertKind))


def raised() -> Iterator[str]:
    """The kind of every place that raises an alert."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                match node:
                    case ast.Call(
                        func=ast.Attribute(attr="raise_alert" | "_raise") | ast.Name(id="Alarm"),
                        args=[ast.Constant(kind), *_],
                    ):
                        yield str(kind)


def test_every_kind_of_alert_is_raised_somewhere_and_none_is_raised_that_is_not_listed() -> None:
    assert set(raised()) == KINDS


def test_every_kind_of_alert_has_a_line_in_the_operations_manual() -> None:
    alerts = (ROOT / "docs/operations.md").read_text().split("## Alerts")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", alerts, re.MULTILINE)
    assert [kind for kind, _, _ in rows] == sorted(KINDS)
    for kind, means, todo in rows:
        assert means.strip(), kind
        assert todo.strip(), kind


def test_the_same_alert_again_is_counted_and_keeps_its_beginning() -> None:
    board = AlertBoard()
    board.raise_alert("rule_failed", "match a", "first", "the stack", event=3)
    begun = board.newest()[0].since
    board.raise_alert("rule_failed", "match b", "another match")
    board.raise_alert("rule_failed", "match a", "second", event=2)
    same, other = board.newest()
    assert (same.where, same.sentence, same.event, same.times) == ("match a", "second", 2, 2)
    assert (same.since, same.stack) == (begun, "the stack")
    assert same.raised_at >= begun
    assert (other.where, other.times) == ("match b", 1)
    assert board.counts["rule_failed"] == 3


def test_an_alert_that_is_over_stays_and_the_next_one_is_a_new_one() -> None:
    board = AlertBoard()
    board.settle("database_away", "database")
    assert board.newest() == []
    board.raise_alert("database_away", "database", "gone")
    board.settle("database_away", "database")
    board.raise_alert("database_away", "database", "gone again")
    now, before = board.newest()
    assert (now.sentence, now.times, now.over_at) == ("gone again", 1, None)
    assert before.sentence == "gone"
    assert before.over_at is not None
    assert now.since >= before.over_at


def test_only_the_newest_alerts_are_kept() -> None:
    board = AlertBoard()
    for number in range(KEPT_ALERTS + 1):
        board.raise_alert("worker_lost", f"match {number}", "lost")
    assert len(board.newest()) == KEPT_ALERTS
    assert board.newest()[-1].where == "match 1"
