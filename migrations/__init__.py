"""The database schema, as SQL."""
