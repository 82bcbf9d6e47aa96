"""How much better one arm can be than another when both share something unknown."""
