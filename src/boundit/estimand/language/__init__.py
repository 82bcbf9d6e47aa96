"""Formulas: their parts, their algebra, and how they are written."""
