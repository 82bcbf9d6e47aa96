"""Which covariates to adjust for: one admissible pair, or all of them.

A pair ``(Z, Z^T)`` is admissible when GACT3 holds (``boundit.estimand.criteria.adjustment``):
``Z`` separates treatments from outcomes and ``Z^T``, a part of it, outcomes from selection,
both in G_pbd. Without a selection node the second condition is void, and what is left is
Definition 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from boundit.estimand.criteria.adjustment import Adjustment
from boundit.estimand.criteria.roles import read_roles
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import find_proper_causal_effects, make_back_door_graph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separators import (
    find_needed_nodes,
    find_separator,
    list_separators,
    list_sets_between,
    minimal_separator,
)
from boundit.terms.names import Names, Nodes, sort_names


def find_adjustment(
    graph: GraphLike,
    *,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
    within: Names | None = None,
) -> Adjustment | None:
    """Find covariates to adjust for of which none can be spared; None when no set adjusts.

    ``external`` are all variables measured without selection, ``within`` those one may adjust
    for (by default all observed ones). The answer is a pair: the covariates ``Z``, and ``Z^T``,
    those of them whose unselected law is needed. No pair that adjusts has a proper subset of
    the covariates found, and of ``Z^T`` none can be spared given those. Time is polynomial.
    Users ask it; also called by ``_judge_as_printed`` and ``adjust_for_confounding_only``.

    >>> from boundit.graph.text import parse
    >>> graph = parse("Z -> X -> Y; Z -> Y; Z -> [S]; U -> Y")
    >>> pair = find_adjustment(graph, treatments="X", outcomes="Y", external=["U", "Z"])
    >>> sorted(pair.covariates), sorted(pair.external)
    (['Z'], ['Z'])
    >>> find_adjustment(graph, treatments="X", outcomes="Y") is None
    True
    """
    graph = require_graph(graph)
    return _prepare_search(graph, treatments, outcomes, external, within).find_minimal()


def list_adjustments(
    graph: GraphLike,
    *,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
    within: Names | None = None,
) -> Iterator[Adjustment]:
    """List every pair that adjusts once, with polynomial delay, the widest covariates first.

    A pair is the covariates, and those of them whose unselected law is needed. ``external`` and
    ``within`` are those of ``find_adjustment``. Names are checked at once.

    >>> graph = CausalGraph.of(directed=[("A", "B"), ("B", "X"), ("A", "Y"), ("X", "Y")])
    >>> for pair in list_adjustments(graph, treatments="X", outcomes="Y"):
    ...     print(sorted(pair.covariates))
    ['A', 'B']
    ['A']
    ['B']
    """
    graph = require_graph(graph)
    return _prepare_search(graph, treatments, outcomes, external, within).list_all()


def list_minimal_adjustments(
    graph: GraphLike,
    *,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
    within: Names | None = None,
) -> Iterator[Adjustment]:
    """List every pair of which nothing can be spared; the first comes in polynomial time."""
    graph = require_graph(graph)
    return _prepare_search(graph, treatments, outcomes, external, within).list_minimal()


def find_unselected_part(
    graph: CausalGraph,
    *,
    covariates: Names,
    treatments: Names,
    outcomes: Names,
    external: Names,
) -> Nodes:
    """Find the covariates whose unselected law makes them adjust, all that have one if none do.

    ``external`` are all variables measured without selection.
    """
    (z,) = read_roles(graph, {"a covariate": covariates})
    found = _prepare_search(graph, treatments, outcomes, external, None).find_external(z)
    return graph.require(external) & z if found is None else found


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

    def find_widest(self, forced: Nodes, allowed: Nodes) -> Nodes | None:
        """Find the widest covariates from ``forced`` to ``allowed`` that adjust for the effect.

        ``Z^T`` among them, measured without selection, must part outcomes from selection. None
        when no set in between adjusts.
        """
        found = find_separator(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=forced | self.selection,
            within=allowed,
        )
        if found is None or self.find_external(allowed) is None:
            return None
        return found - self.selection

    def find_external(self, covariates: Nodes) -> Nodes | None:
        """Find a minimal ``Z^T``: covariates whose law must be known without selection.

        They separate outcomes from selection in the back-door graph; None when none do.
        """
        usable = covariates & self.measured
        return minimal_separator(self.backdoor, self.outcomes, self.selection, within=usable)

    def find_minimal(self) -> Adjustment | None:
        """Find a pair (covariates ``Z``, unselected ``Z^T``) that adjusts, with none to spare.

        None when no covariates adjust.
        """
        external = self.find_external(self.allowed)
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
        while spare := covariates - self.find_needed(covariates):
            covariates -= {sort_names(spare)[0]}
        return Adjustment(covariates, self.find_external(covariates) or frozenset())

    def find_needed(self, covariates: Nodes) -> Nodes:
        """Find which of these covariates cannot be left out, as the others would not adjust."""
        one = find_needed_nodes(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=self.selection,
            within=covariates,
        )
        usable = covariates & self.measured
        other = find_needed_nodes(self.backdoor, self.outcomes, self.selection, within=usable)
        return (one or frozenset()) | (other or frozenset())

    def list_minimal(self) -> Iterator[Adjustment]:
        """List every pair of which nothing can be spared."""
        if (first := self.find_minimal()) is None:
            return
        yield first
        for pair in self.list_all():
            spare = pair.covariates - self.find_needed(pair.covariates)
            if pair != first and not spare and not self._can_spare_external(pair):
                yield pair

    def _can_spare_external(self, pair: Adjustment) -> bool:
        """Tell whether fewer covariates with an unselected law would do."""
        needed = find_needed_nodes(
            self.backdoor, self.outcomes, self.selection, within=pair.external
        )
        return bool(pair.external - (needed or frozenset()))

    def list_all(self) -> Iterator[Adjustment]:
        """List every pair that adjusts: covariates, and each ``Z^T`` (unselected part)."""
        for covariates in list_sets_between(frozenset(), self.allowed, self.find_widest):
            usable = covariates & self.measured
            for external in list_separators(
                self.backdoor, self.outcomes, self.selection, within=usable
            ):
                yield Adjustment(covariates, external)


def _prepare_search(
    graph: CausalGraph,
    treatments: Names,
    outcomes: Names,
    external: Names,
    within: Names | None,
) -> _AdjustmentSearch:
    """Read treatments, outcomes and allowed covariates as sets, and make the back-door graph.

    That is the graph without the first edge of every causal path from treatments to outcomes.
    """
    x, y = read_roles(graph, {"a treatment": treatments, "an outcome": outcomes})
    (measured,) = read_roles(graph, {"measured without selection": external})
    (usable,) = read_roles(graph, {"allowed": graph.observed if within is None else within})
    forbidden = x | y | find_proper_causal_effects(graph, treatments=x, outcomes=y)
    return _AdjustmentSearch(
        make_back_door_graph(graph, treatments=x, outcomes=y),
        x,
        y,
        frozenset((graph.selection,)) if graph.selection else frozenset(),
        usable - forbidden,
        measured if graph.selection else frozenset(),
    )
