"""Intervals of one share or one mean, from the counts of a cell."""
