"""Chaos: a real server, real scorers and watchers, and faults from a seed; checkers look throughout."""
