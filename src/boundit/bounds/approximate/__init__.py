"""Approximate ends: influence functions and the normal law of large logs."""
