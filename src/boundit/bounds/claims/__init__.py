"""Exact claims: one end of one row each, however many cells the row is a sum of."""
