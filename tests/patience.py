"""How long tests wait for what is to come: long, as only a test that fails waits to the end."""

PATIENCE = 300
"""Seconds, on however slow a machine."""
