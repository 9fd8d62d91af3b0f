"""Sports, their contract, and readers of foreign files."""
