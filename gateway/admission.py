"""What the server takes on: how many commands at once, and how fast from one account.

More than the machine can take is turned away with "try again" before it costs anything, and everybody
turned away is told a time of his own: the times are as far apart as commands are done of late, so that nobody
comes back in a herd. Pure decisions over a clock that is handed in; seconds.
"""

from collections import Counter, OrderedDict
from dataclasses import dataclass

COMMANDS_IN_FLIGHT = 1_024
"""Commands let in and not yet answered, of all clients: about a second of work."""
ACCOUNT_SHARE = 4
"""One account may have a quarter of them in flight."""
COMMANDS_PER_ACCOUNT_S = 500.0
"""Commands a second from one account; a scorer sends one in some seconds, a feed some in a second."""
BURST_S = 2.0
"""How long an account may send at that rate at once, after a rest."""
WAIT_LEAST_S = 0.1
WAIT_MOST_S = 10.0
"""Between these lies the time somebody turned away is told to come back after."""
OVERLOADED, TOO_FAST = "overloaded", "too_fast"
TURNED_AWAY = frozenset({OVERLOADED, TOO_FAST})
"""Reasons of "try again"."""
RATE_LEAST = 50.0
"""Commands a second that are reckoned with where nothing was done of late."""
BUCKETS_LIMIT = 4_096
"""Accounts or addresses kept in mind; whoever is forgotten begins anew."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be in flight, and how fast one account may send; 0 a second is no limit."""

    in_flight: int = COMMANDS_IN_FLIGHT
    per_account_s: float = COMMANDS_PER_ACCOUNT_S


@dataclass(frozen=True, slots=True)
class TurnedAway:
    """Not now: why, and the seconds after which to come back."""

    reason: str
    wait_s: float


class Buckets:
    """Token buckets by key: so many a second, and so many at once after a rest."""

    def __init__(self, per_s: float, burst: float) -> None:
        self._per_s = per_s
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float, float]] = OrderedDict()
        """Key → what is in it, when that was, and when the last of those who found nothing comes back."""

    def take(self, key: str, now: float) -> float:
        """Takes one: 0, or the seconds to wait, a place in the key's own line, and then nothing is taken."""
        left, since, booked = self._buckets.get(key, (self._burst, now, 0.0))
        left = min(self._burst, left + (now - since) * self._per_s)
        wait = 0.0
        if left >= 1:
            left -= 1
        else:
            booked = place(booked, now, self._per_s, (1 - left) / self._per_s)
            wait = booked - now
        self._buckets[key] = (left, now, booked)
        self._buckets.move_to_end(key)
        if len(self._buckets) > BUCKETS_LIMIT:
            self._buckets.popitem(last=False)
        return wait


def place(booked: float, now: float, per_s: float, least_s: float) -> float:
    """When the next in a line comes back: behind the one at `booked`, where so many a second do."""
    least_s = max(least_s, WAIT_LEAST_S)
    behind = max(booked + 1 / per_s, now + least_s)
    # More than can come back within the longest wait: they begin at the front again.
    return behind if behind <= now + WAIT_MOST_S else now + least_s


class Pace:
    """How many commands are done in a second, of late."""

    def __init__(self) -> None:
        self._second = 0
        self._done = self._before = 0

    def done(self, now: float) -> None:
        """One was."""
        self._turn(int(now))
        self._done += 1

    def per_s(self, now: float) -> float:
        """The better of this second and the last, RATE_LEAST at least."""
        self._turn(int(now))
        return max(self._done, self._before, RATE_LEAST)

    def _turn(self, second: int) -> None:
        if second != self._second:
            self._before = self._done if second == self._second + 1 else 0
            self._second, self._done = second, 0


class Admission:
    """Who is let in. Every command let in must be told `done`."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        rate = self._limits.per_account_s
        self._buckets = Buckets(rate, rate * BURST_S) if rate else None
        self._accounts: Counter[str] = Counter()
        self._pace = Pace()
        self._booked = 0.0
        """When the last of those turned away comes back."""
        self.in_flight = 0
        self.turned_away: Counter[str] = Counter()
        """Reason → how often."""

    def enter(self, account: str, now: float) -> TurnedAway | None:
        """Let a command of an account in, or say when to come back."""
        if self.in_flight >= self._limits.in_flight:
            return self._turn_away(OVERLOADED, self._slot(now))
        if self._accounts[account] >= self._limits.in_flight // ACCOUNT_SHARE:
            return self._turn_away(TOO_FAST, self._slot(now))
        if self._buckets is not None and (wait := self._buckets.take(account, now)):
            return self._turn_away(TOO_FAST, wait)
        self.in_flight += 1
        self._accounts[account] += 1
        return None

    def postpone(self, now: float) -> TurnedAway:
        """When somebody who was let in is to come back, for whom there is no room further on."""
        return self._turn_away(OVERLOADED, self._slot(now))

    def done(self, account: str, now: float) -> None:
        """A command that was let in is answered."""
        self.in_flight -= 1
        self._accounts[account] -= 1
        if not self._accounts[account]:
            del self._accounts[account]
        self._pace.done(now)

    def _slot(self, now: float) -> float:
        """The next free time to come back at: one for each, as far apart as commands are done."""
        self._booked = place(self._booked, now, self._pace.per_s(now), WAIT_LEAST_S)
        return self._booked - now

    def _turn_away(self, reason: str, wait_s: float) -> TurnedAway:
        self.turned_away[reason] += 1
        return TurnedAway(reason, min(max(wait_s, WAIT_LEAST_S), WAIT_MOST_S))
