"""Worlds that fit a log: models drawn from those that a graph and a log allow."""
