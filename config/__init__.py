"""Settings, composition root and the CLI."""
