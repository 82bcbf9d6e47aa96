"""Graphs in the formats of other programs: read into drafts, and written."""
