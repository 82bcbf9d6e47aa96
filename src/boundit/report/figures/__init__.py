"""Figures drawn with matplotlib: intervals, curves, sensitivity."""
