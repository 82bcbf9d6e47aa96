"""Frozen values and errors that every room may use, and nothing that depends on a room."""
