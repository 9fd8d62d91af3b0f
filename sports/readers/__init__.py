"""Readers of foreign match files; outside every wheel."""
