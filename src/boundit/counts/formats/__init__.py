"""Kinds of files that a log may be in, and what is wrong with one that cannot be read."""
