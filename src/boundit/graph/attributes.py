"""Words that formats hang on nodes and edges, and what we make of them."""

from collections.abc import Iterable, Mapping

from boundit.graph.groups import NodeGroup

_NO = frozenset({"", "0", "false", "no", "none", "off"})
HIDDEN_WORDS = frozenset({"latent", "unobserved"})
SELECTED_WORDS = frozenset({"selected"})
RELATED, INDEPENDENT = "related", "independent"
"""Attributes of a node that name its group, by how members may be related."""


def name_groups(groups: Iterable[NodeGroup]) -> dict[str, tuple[str, str]]:
    """Find for each member the attribute that names its group, and the group's name."""
    return {
        member: (INDEPENDENT if group.independent else RELATED, group.name)
        for group in groups
        for member in group.members
    }


def is_flag_set(value: object) -> bool:
    """Read a yes-or-no attribute of a graph file: true, yes, 1 or the bare word mean yes.

    >>> [is_flag_set(value) for value in ("yes", True, "False", 0, None)]
    [True, True, False, False, False]
    """
    return value is not None and str(value).strip().casefold() not in _NO


def is_hidden(attributes: Mapping[str, object]) -> bool:
    """Tell whether a node's attributes make it unobserved; ``observed=no`` does too."""
    if "observed" in attributes and not is_flag_set(attributes["observed"]):
        return True
    return any(is_flag_set(attributes.get(word)) for word in HIDDEN_WORDS)


def is_selected(attributes: Mapping[str, object]) -> bool:
    """Tell whether a node's attributes make it the selection node."""
    return any(is_flag_set(attributes.get(word)) for word in SELECTED_WORDS)
