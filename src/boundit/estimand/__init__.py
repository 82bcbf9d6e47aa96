"""What can be known exactly? A graph and a query in; a formula, or why there is none, out."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
