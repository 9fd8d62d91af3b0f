"""Cricket by the Laws and the playing conditions: T20, one-day, first-class, The Hundred, super overs."""

from scorebox_contract import EventSport
from scorebox_cricket.sport import Cricket

SPORT: EventSport = Cricket()

__all__ = ["SPORT", "Cricket"]
