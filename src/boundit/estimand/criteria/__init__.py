"""Graphical criteria that answer with a verdict: adjustment, exchange."""
