"""Policies with and without bounds, played in worlds whose truth is known."""
