"""The sport of the simulation: small, fast, and of a kind where every event depends on those before it."""

from scorebox_duel.sport import SPORT

__all__ = ["SPORT"]
