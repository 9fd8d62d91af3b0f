"""The background check: what is saved against what the log says, and versions against each other."""
