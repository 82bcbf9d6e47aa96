"""Which covariates to adjust for: one admissible pair, or all of them.

A pair ``(Z, Z^T)`` is admissible when GACT3 holds (``boundit.estimand.criteria.adjustment``):
``Z`` separates treatments from outcomes and ``Z^T``, a part of it, outcomes from selection,
both in G_pbd. Without a selection node the second condition is void, and what is left is
Definition 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from boundit.estimand.criteria.adjustment import Adjustment
from boundit.estimand.criteria.roles import cast
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import back_door_graph, proper_causal_effects
from boundit.graph.separators import (
    find_separator,
    list_between,
    list_separators,
    minimal_separator,
    needed_nodes,
)
from boundit.terms.names import Names, Nodes, sort_names


def find_adjustment(
    graph: CausalGraph,
    *,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
    within: Names | None = None,
) -> Adjustment | None:
    """Find covariates of which none can be spared; None when nothing adjusts.

    ``external`` are all variables measured without selection, ``within`` those one may adjust
    for (by default all observed ones). No admissible pair has a proper subset of the covariates
    found, and of ``Z^T`` none can be spared given those. Time is polynomial.

    >>> from boundit.graph.text import parse
    >>> graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]; U -> Y")
    >>> pair = find_adjustment(graph, treatments="X", outcomes="Y", external=["U", "Z"])
    >>> sorted(pair.covariates), sorted(pair.external)
    (['Z'], ['Z'])
    >>> find_adjustment(graph, treatments="X", outcomes="Y") is None
    True
    """
    return _search(graph, treatments, outcomes, external, within).minimal()


def list_adjustments(
    graph: CausalGraph,
    *,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
    within: Names | None = None,
) -> Iterator[Adjustment]:
    """List every admissible pair once, with polynomial delay, the widest covariates first.

    ``external`` and ``within`` are those of ``find_adjustment``. Names are checked at once.

    >>> graph = CausalGraph.of(directed=[("A", "B"), ("B", "X"), ("A", "Y"), ("X", "Y")])
    >>> for pair in list_adjustments(graph, treatments="X", outcomes="Y"):
    ...     print(sorted(pair.covariates))
    ['A', 'B']
    ['A']
    ['B']
    """
    return _search(graph, treatments, outcomes, external, within).every()


@dataclass(frozen=True, slots=True)
class _AdjustmentSearch:
    """GACT3 as two separator problems in G_pbd that can be solved apart.

    If any pair is admissible with covariates between two sets, then so is the widest one: all
    allowed ancestors for (b), and among them all external ancestors of Y and S for (c).
    """

    backdoor: CausalGraph
    treatments: Nodes
    outcomes: Nodes
    selection: Nodes
    allowed: Nodes
    measured: Nodes

    def widest(self, forced: Nodes, allowed: Nodes) -> Nodes | None:
        """Find covariates between these two sets that belong to an admissible pair."""
        found = find_separator(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=forced | self.selection,
            within=allowed,
        )
        if found is None or self.external(allowed) is None:
            return None
        return found - self.selection

    def external(self, covariates: Nodes) -> Nodes | None:
        """Find a minimal ``Z^T`` among these covariates."""
        usable = covariates & self.measured
        return minimal_separator(self.backdoor, self.outcomes, self.selection, within=usable)

    def minimal(self) -> Adjustment | None:
        external = self.external(self.allowed)
        if external is None:
            return None
        found = minimal_separator(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=external | self.selection,
            within=self.allowed,
        )
        if found is None:
            return None
        covariates = found - self.selection
        # With another Z^T some covariate may be spared all the same.
        while spare := covariates - self.needed(covariates):
            covariates -= {sort_names(spare)[0]}
        return Adjustment(covariates, self.external(covariates) or frozenset())

    def needed(self, covariates: Nodes) -> Nodes:
        """Find the covariates without which the others make no admissible pair."""
        one = needed_nodes(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=self.selection,
            within=covariates,
        )
        usable = covariates & self.measured
        other = needed_nodes(self.backdoor, self.outcomes, self.selection, within=usable)
        return (one or frozenset()) | (other or frozenset())

    def every(self) -> Iterator[Adjustment]:
        """List the covariates of admissible pairs, and every ``Z^T`` that goes with them."""
        for covariates in list_between(frozenset(), self.allowed, self.widest):
            usable = covariates & self.measured
            for external in list_separators(
                self.backdoor, self.outcomes, self.selection, within=usable
            ):
                yield Adjustment(covariates, external)


def _search(
    graph: CausalGraph,
    treatments: Names,
    outcomes: Names,
    external: Names,
    within: Names | None,
) -> _AdjustmentSearch:
    x, y = cast(graph, {"a treatment": treatments, "an outcome": outcomes})
    (measured,) = cast(graph, {"measured without selection": external})
    (usable,) = cast(graph, {"allowed": graph.observed if within is None else within})
    forbidden = x | y | proper_causal_effects(graph, treatments=x, outcomes=y)
    return _AdjustmentSearch(
        back_door_graph(graph, treatments=x, outcomes=y),
        x,
        y,
        frozenset((graph.selection,)) if graph.selection else frozenset(),
        usable - forbidden,
        measured if graph.selection else frozenset(),
    )
