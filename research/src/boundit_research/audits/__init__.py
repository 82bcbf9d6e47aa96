"""Our own claims tried on models whose truth is known."""
