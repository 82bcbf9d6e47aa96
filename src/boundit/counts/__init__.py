"""What was logged? Logged rows and a formula in; the formula's numbers out."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
