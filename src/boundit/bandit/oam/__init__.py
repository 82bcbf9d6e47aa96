"""Optimal allocation matching: its program and its policy."""
