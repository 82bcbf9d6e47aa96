"""Decisions from bounds: choice, comparison, off-policy evaluation, sensitivity, suggestions."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
