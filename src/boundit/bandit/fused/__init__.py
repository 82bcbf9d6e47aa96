"""Fused: rows of the log and rewards counted in the same cells."""
