"""Words that formats hang on nodes and edges, and what we make of them."""

from collections.abc import Mapping

_NO = frozenset({"", "0", "false", "no", "none", "off"})
HIDDEN_WORDS = frozenset({"latent", "unobserved"})
SELECTED_WORDS = frozenset({"selected"})


def is_flag_set(value: object) -> bool:
    """Read a yes-or-no attribute of a graph file: true, yes, 1 or the bare word mean yes.

    Called by ``is_hidden``, ``is_selected``, ``_is_two_headed`` and ``from_networkx`` for one
    attribute of a node or edge.

    >>> [is_flag_set(value) for value in ("yes", True, "False", 0, None)]
    [True, True, False, False, False]
    """
    return value is not None and str(value).strip().casefold() not in _NO


def is_hidden(attributes: Mapping[str, object]) -> bool:
    """Tell whether a node's attributes make it unobserved; ``observed=no`` does too.

    Called by ``_DotReader.read`` and ``from_networkx`` for every node.
    """
    if "observed" in attributes and not is_flag_set(attributes["observed"]):
        return True
    return any(is_flag_set(attributes.get(word)) for word in HIDDEN_WORDS)


def is_selected(attributes: Mapping[str, object]) -> bool:
    """Tell whether a node's attributes make it the selection node.

    Called by ``_DotReader.read`` and ``from_networkx`` for every node.
    """
    return any(is_flag_set(attributes.get(word)) for word in SELECTED_WORDS)
