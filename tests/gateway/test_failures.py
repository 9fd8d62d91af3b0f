"""What a failure of a sport's code or its workers is answered with, and which alert it raises."""

import pytest

from gateway.failures import FAILURES, Failed, answer_to
from gateway.protocol import Refused, TryAgain
from runtime.errors import (
    CodeMissing,
    CodeTampered,
    GuardTooWeak,
    ManifestMissing,
    PoolBusy,
    PoolClosed,
    RuleFailed,
    RuleForbidden,
    SpawnFailed,
    WorkerGone,
    WorkerLost,
)

FORBIDDEN = RuleForbidden("duel 1.0.0", "read the clock", "time.time", "duel.py:3", "stack")


@pytest.mark.parametrize(
    ("error", "reason", "alert"),
    [
        (WorkerLost("deadline", "stack"), "worker_lost", "worker_lost"),
        (WorkerGone("died"), "worker_lost", "worker_lost"),
        (SpawnFailed("no more processes"), "worker_lost", "worker_lost"),
        (GuardTooWeak("no landlock"), "guard_too_weak", "guard_too_weak"),
        (CodeMissing("gone"), "code_missing", "code_missing"),
        (CodeTampered("changed"), "code_missing", "code_missing"),
        (ManifestMissing("no manifest"), "code_missing", "code_missing"),
        (PoolBusy("full"), "workers_busy", None),
        (PoolClosed("stopping"), "workers_busy", None),
    ],
)
def test_what_may_pass_is_tried_again(error: Failed, reason: str, alert: str | None) -> None:
    answer, alarm = answer_to(error, id="1", match="m", doing="duel.point")
    assert isinstance(error, FAILURES)
    assert isinstance(answer, TryAgain)
    assert (answer.id, answer.match, answer.reason) == ("1", "m", reason)
    assert answer.after_ms > 0
    assert (None if alarm is None else alarm.kind) == alert
    assert alarm is None or "duel.point" in alarm.sentence


@pytest.mark.parametrize(
    ("error", "code"), [(RuleFailed("KeyError: 'x'", "stack"), "rule_failed"), (FORBIDDEN, "rule_forbidden")]
)
def test_what_the_code_did_itself_is_refused(error: RuleFailed, code: str) -> None:
    answer, alarm = answer_to(error, id=None, match="", doing="the opening")
    assert isinstance(answer, Refused)
    assert (answer.id, answer.match, answer.code) == (None, "", code)
    assert "nothing was saved" in answer.sentence
    assert alarm is not None
    assert (alarm.kind, alarm.stack) == (code, "stack")
    assert alarm.sentence.startswith("the opening: ")


def test_a_scorer_is_told_what_was_forbidden_and_only_the_alert_says_where() -> None:
    answer, alarm = answer_to(FORBIDDEN, id="1", match="m", doing="duel.point")
    assert isinstance(answer, Refused)
    assert alarm is not None
    assert "duel.py:3" in alarm.sentence
    assert "duel.py:3" not in answer.sentence
