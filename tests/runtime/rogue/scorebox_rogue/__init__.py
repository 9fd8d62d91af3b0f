"""A sport that behaves as it is told to: the worst that sport code can do to a worker."""

from scorebox_rogue.sport import SPORT

__all__ = ["SPORT"]
