"""What the kit found: every check with how much it looked at and what is wrong, in sentences."""

from dataclasses import dataclass, field
from typing import Any

FAILURES_KEPT = 20
"""Sentences kept of one check; further ones are counted."""


@dataclass(slots=True)
class Check:
    """One check: `count` things of `what` were looked at."""

    name: str
    what: str
    count: int = 0
    failures: list[str] = field(default_factory=list)
    more: int = 0
    remark: str = ""

    def fail(self, sentence: str) -> None:
        """Something is wrong. The same sentence stands once."""
        if sentence in self.failures:
            return
        if len(self.failures) < FAILURES_KEPT:
            self.failures.append(sentence)
        else:
            self.more += 1

    @property
    def passed(self) -> bool:
        """True where it looked at something and nothing is wrong."""
        return not self.failures


@dataclass(slots=True)
class Report:
    """All checks of a sport, in order."""

    sport: str
    version: str
    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """True where every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> list[str]:
        """Every sentence."""
        return [f"{check.name}: {sentence}" for check in self.checks for sentence in check.failures]

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "sport": self.sport,
            "version": self.version,
            "passed": self.passed,
            "checks": [
                {
                    "name": check.name,
                    "what": check.what,
                    "count": check.count,
                    "failures": check.failures,
                    "more": check.more,
                    "remark": check.remark,
                }
                for check in self.checks
            ],
        }


def read_report(data: dict[str, Any]) -> Report:
    """The report of `Report.data`."""
    checks = [Check(**check) for check in data["checks"]]
    return Report(data["sport"], data["version"], checks)
