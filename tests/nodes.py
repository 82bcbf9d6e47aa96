"""Sets of variables, as tests write them."""

from boundit.core.names import Nodes


def make_nodes(*names: str) -> Nodes:
    """Collect names into a set: ``make_nodes("X", "Y")``."""
    return frozenset(names)
