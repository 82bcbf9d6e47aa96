"""Compiled loops on arrays: how each algorithm scores, draws and learns."""
