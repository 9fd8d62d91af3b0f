"""Tests of the readers of foreign match files."""
