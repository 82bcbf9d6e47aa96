"""What can be bounded? A graph, a query and counts in; a ``BoundTable`` with reasons out."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
