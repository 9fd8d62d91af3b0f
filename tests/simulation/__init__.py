"""Deterministic simulation: the server's own actors on a mock clock, with faults from one integer seed."""
