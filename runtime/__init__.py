"""What every actor stands on; knows nothing of matches."""
