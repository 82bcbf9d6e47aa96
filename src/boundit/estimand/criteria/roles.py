"""The parts a variable can play in a question, checked before anything is computed."""

from collections.abc import Mapping
from itertools import combinations

from boundit.estimand.query import refuse_grouped
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.errors import InvalidQuery, OverlappingRoles
from boundit.terms.names import Names, Nodes, sort_names


class NoOutcome(InvalidQuery):
    """A question about nothing."""

    def __init__(self) -> None:
        super().__init__("the question names no outcome; name at least one")


def read_roles(graph: CausalGraph, roles: Mapping[str, Names]) -> tuple[Nodes, ...]:
    """Read the variables of each role (outcome, treatment, ...) as a set of nodes, or refuse.

    Raises UnknownNode for a name the graph does not have, OverlappingRoles for a variable in
    two roles or for the selection node in any, NoOutcome when there is none, and ArmInGroup
    for a treatment whose effects on the rest of its group the graph leaves open.

    >>> graph = CausalGraph.of(directed=[("X", "Y"), ("Y", "S")], selection="S")
    >>> [sorted(part) for part in read_roles(graph, {"an outcome": "Y", "a treatment": ["X"]})]
    [['Y'], ['X']]
    >>> read_roles(graph, {"an outcome": "Y", "a covariate": "S"})
    Traceback (most recent call last):
    ...
    boundit.terms.errors.OverlappingRoles: 'S' is the selection node and a covariate at once; \
it can only be one of them
    """
    parts = {role: graph.require(names) for role, names in roles.items()}
    for role, part in parts.items():
        if graph.selection is not None and graph.selection in part:
            raise OverlappingRoles(graph.selection, "the selection node", role)
    for (role, part), (other_role, other) in combinations(parts.items(), 2):
        if both := part & other:
            raise OverlappingRoles(sort_names(both)[0], role, other_role)
    if not parts.get("an outcome", frozenset("?")):
        raise NoOutcome
    none = frozenset[str]()
    refuse_grouped(graph, parts.get("a treatment", none) | parts.get("exchanged", none))
    return tuple(parts.values())
