"""Does the log contradict the graph? A graph and a log in; a ``CheckReport`` out."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
