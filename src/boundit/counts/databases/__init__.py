"""Logs in databases: one GROUP BY over a user's own connection."""
