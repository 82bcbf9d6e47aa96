"""What the bounds say: the table, effects, explanations, choices and the plan of pooling."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
