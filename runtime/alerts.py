"""Alerts: what failed and where, for the people who watch the system."""

from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

KEPT_ALERTS = 200
"""The newest alerts that the status page shows; older ones are in the log."""
STACK_LIMIT_CHARACTERS = 4_000

log = structlog.get_logger("scorebox.alerts")


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. `kind` counts in metrics and has a line in docs/operations.md."""

    kind: str
    where: str
    sentence: str
    raised_at: datetime
    stack: str | None = None


class AlertBoard:
    """Keeps the newest alerts and counts all of them."""

    def __init__(self) -> None:
        self._alerts: deque[Alert] = deque(maxlen=KEPT_ALERTS)
        self.counts: Counter[str] = Counter()

    def raise_alert(self, kind: str, where: str, sentence: str, stack: str | None = None) -> None:
        """Record an alert and write it to the log."""
        if stack is not None:
            stack = stack[-STACK_LIMIT_CHARACTERS:]
        self._alerts.append(Alert(kind, where, sentence, datetime.now(UTC), stack))
        self.counts[kind] += 1
        log.warning("alert", kind=kind, where=where, sentence=sentence, stack=stack)

    def newest(self) -> list[Alert]:
        """The kept alerts, newest first."""
        return list(reversed(self._alerts))
