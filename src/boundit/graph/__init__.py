"""What do we assume? Text, edges or a networkx graph in; a ``CausalGraph`` out."""

from boundit.core.public_names import attach_names

__getattr__, __dir__, __all__ = attach_names(__name__, __file__)
