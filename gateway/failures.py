"""What a failure of a sport's code, or of the workers that run it, comes to: an answer, and an alert. Pure.

Whoever has a worker judge something, a command or an opening, answers a failure by this one table.
"""

from typing import NamedTuple

from gateway.protocol import Refused, TryAgain
from gateway.road import BUSY_AFTER_MS, CODE_AFTER_MS, WORKER_AFTER_MS
from runtime.alerts import AlertKind
from runtime.errors import (
    CodeMissing,
    CodeTampered,
    GuardTooWeak,
    ManifestMissing,
    PoolBusy,
    RuleFailed,
    RuleForbidden,
    SpawnFailed,
    WorkerLost,
)

Failed = WorkerLost | RuleFailed | SpawnFailed | CodeMissing | CodeTampered | ManifestMissing | PoolBusy
"""What `answer_to` knows, and all that is derived from it."""
FAILURES = (WorkerLost, RuleFailed, SpawnFailed, CodeMissing, CodeTampered, ManifestMissing, PoolBusy)
"""The same, to be caught."""


class Alarm(NamedTuple):
    """An alert to be raised, wherever it happened."""

    kind: AlertKind
    sentence: str
    stack: str | None = None


def answer_to(
    error: Failed, *, id: str | None, match: str, doing: str
) -> tuple[Refused | TryAgain, Alarm | None]:
    """The answer to a failure at `doing`, and the alert it is worth: that workers are busy is worth none.

    What the sport's code did itself is refused, for it would do it again; all else may be tried again.
    """
    match error:
        case RuleForbidden():
            sentence = f"{error.sentence}; nothing was saved and an alert was raised"
            alarm = Alarm("rule_forbidden", f"{doing}: {error}; the worker was replaced", error.stack)
            return Refused(id, match, "rule_forbidden", sentence), alarm
        case RuleFailed():
            alarm = Alarm("rule_failed", f"{doing}: {error}", error.stack)
            return rule_failed(id, match, doing, str(error)), alarm
        case WorkerLost():
            alarm = Alarm("worker_lost", f"a worker was lost on {doing} ({error.reason})", error.stack)
            return TryAgain(id, match, "worker_lost", WORKER_AFTER_MS), alarm
        case GuardTooWeak():
            alarm = Alarm("guard_too_weak", f"{doing}: {error}")
            return TryAgain(id, match, "guard_too_weak", CODE_AFTER_MS), alarm
        case SpawnFailed():
            return TryAgain(id, match, "worker_lost", CODE_AFTER_MS), Alarm(
                "worker_lost", f"{doing}: {error}"
            )
        case CodeMissing() | CodeTampered() | ManifestMissing():
            alarm = Alarm("code_missing", f"{doing}: {error}")
            return TryAgain(id, match, "code_missing", CODE_AFTER_MS), alarm
        case PoolBusy():
            return TryAgain(id, match, "workers_busy", BUSY_AFTER_MS), None


def rule_failed(id: str | None, match: str, doing: str, message: str) -> Refused:
    """The sport's code raised: a fault of the sport, so the scorer hears a sentence and ops an alert."""
    return Refused(
        id,
        match,
        "rule_failed",
        f"the sport's rules failed on {doing} ({message}); nothing was saved and an alert was raised",
    )
