"""Policies behind a store that outlives the process: events, decisions, late rewards, replay.

The public names stand in ``__init__.pyi`` and load their modules when first used, since they
need the packages of the extra ``service``.
"""

from boundit.terms.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
