"""The numbers of formulas, read off counts."""
