"""Alerts: what failed, where, and since when, for the people who watch the system."""

from collections import Counter
from datetime import UTC, datetime
from typing import Literal

import msgspec
import structlog

AlertKind = Literal[
    "actor_failed",
    "actor_resting",
    "code_missing",
    "commit_failed",
    "database_away",
    "guard_too_weak",
    "not_delivered",
    "not_saved",
    "not_verified",
    "rebuild_failed",
    "rule_failed",
    "rule_forbidden",
    "rule_slow",
    "sport_misbehaved",
    "verification_failed",
    "worker_lost",
]
"""Every kind there is. Each has a line in docs/operations.md: what it means, what to do."""
KEPT_ALERTS = 200
"""The newest alerts that the status page shows; older ones are in the log."""
STACK_LIMIT_CHARACTERS = 4_000

log = structlog.get_logger("scorebox.alerts")


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """What failed at one place. The same again at the same place is the same alert, raised once more.

    `where` is the match, sport, actor or subscriber it is about; `event` the first event of the match it
    concerns, by its seq, where one is known. `over_at` is when it was seen to be well again; some kinds
    tell of a moment, and are never over.
    """

    kind: AlertKind
    where: str
    sentence: str
    """Of the last time, as `event` and `stack` are."""
    event: int | None = None
    since: datetime
    """When it was raised first."""
    raised_at: datetime
    """When it was raised last."""
    times: int = 1
    over_at: datetime | None = None
    stack: str | None = None


class AlertBoard:
    """Keeps the newest alerts and counts all of them."""

    def __init__(self) -> None:
        self._alerts: list[Alert] = []
        """The one that was raised last is the last one."""
        self.counts: Counter[str] = Counter()

    def raise_alert(
        self,
        kind: AlertKind,
        where: str,
        sentence: str,
        stack: str | None = None,
        *,
        event: int | None = None,
    ) -> None:
        """Record an alert and write it to the log."""
        if stack is not None:
            stack = stack[-STACK_LIMIT_CHARACTERS:]
        now = datetime.now(UTC)
        alert = Alert(
            kind=kind, where=where, sentence=sentence, event=event, since=now, raised_at=now, stack=stack
        )
        if (found := self._standing(kind, where)) is not None:
            earlier = self._alerts.pop(found)
            alert = msgspec.structs.replace(
                alert, since=earlier.since, times=earlier.times + 1, stack=stack or earlier.stack
            )
        self._alerts.append(alert)
        del self._alerts[:-KEPT_ALERTS]
        self.counts[kind] += 1
        log.warning("alert", kind=kind, where=where, sentence=sentence, event_seq=event, stack=stack)

    def settle(self, kind: AlertKind, where: str) -> None:
        """Note that what an alert tells of is over; it stays to be seen. Without such an alert, nothing."""
        if (found := self._standing(kind, where)) is not None:
            self._alerts[found] = msgspec.structs.replace(self._alerts[found], over_at=datetime.now(UTC))
            log.info("alert over", kind=kind, where=where)

    def newest(self) -> list[Alert]:
        """The kept alerts, the one raised last first."""
        return list(reversed(self._alerts))

    def _standing(self, kind: AlertKind, where: str) -> int | None:
        """Where the alert of this kind and place stands that is not over."""
        for index, alert in enumerate(self._alerts):
            if (alert.kind, alert.where, alert.over_at) == (kind, where, None):
                return index
        return None
