"""From a scorer's tap to 'accepted'."""
