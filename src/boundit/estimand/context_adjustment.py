r"""Adjustment for an effect in a context: ``P(y | do(x), c)`` from the selected log.

Adjusting for the joint effect of ``Y`` and ``C`` fails as soon as a context causes a treatment,
as contexts do wherever treatments were chosen by them. At each context on its own, the effect
is

.. math:: P(y \mid do(x), c) = \sum_z P(y \mid x, c, z, S{=}1)\, P(z \mid c, S{=}1)

if the treatments cause neither ``C`` nor ``Z``, and (a) ``(Y _||_ S | X, C, Z)`` in the graph
cut into ``X``, (b) ``(Y _||_ X | C, Z, S)`` in the graph cut out of ``X``, and (c)
``(Z _||_ S | C)`` or else an unselected table over ``Z`` and ``C`` supplies the weights.

*Why.* The treatments leave the distribution of what they do not cause as it is:
``P(z | do(x), c) = P(z | c)``, and (c) drops ``S = 1`` from it. In the other factor, (a) puts
``S = 1`` in by Rule 1, (b) turns the intervention into an observation by Rule 2.

Since selection causes nothing, (a) and (b) together are one separation, namely
``(Y _||_ X, S | C, Z)`` in the graph cut out of ``X``: a minimal ``Z`` is found in linear time.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from boundit.core.names import Names, Nodes, join_names, sort_names
from boundit.core.verdict import Verdict
from boundit.estimand.expression import Expression, P, Product, Sum
from boundit.estimand.query import read_roles
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import find_connected_nodes, open_walk
from boundit.graph.separators import list_minimal_separators, list_separators, minimal_separator

CRITERION = "adjustment in context"


class ContextAdjustment(NamedTuple):
    """Covariates, and the table their weights come from: empty means the log."""

    covariates: Nodes
    table: Nodes


def adjusts_in_context(
    graph: CausalGraph,
    *,
    covariates: Names,
    treatments: Names,
    outcomes: Names,
    context: Names = (),
    table: Names = (),
) -> Verdict:
    """Judge whether the covariates give ``P(outcomes | do(treatments), context)`` by averaging.

    The verdict says yes or no, and on a no which path is left open.

    ``table`` are the variables of one unselected table; it counts if it holds every covariate
    and context. A no does not mean that the effect cannot be known in other ways.

    >>> from boundit.graph.text import parse
    >>> graph = parse("C -> X -> Y; C -> Y; C -> [S]")
    >>> print(adjusts_in_context(
    ...     graph, covariates=(), treatments="X", outcomes="Y", context="C"))
    yes, by adjustment in context: selection and treatment assignment are separated from Y
    """
    roles = {"a covariate": covariates, "a treatment": treatments, "an outcome": outcomes}
    z, x, y, c = read_roles(graph, roles | {"context": context})
    measured = graph.require(table)

    def refused(condition: str, reason: str, witness: tuple[str, ...]) -> Verdict:
        clause = f"{CRITERION}{condition}"
        return Verdict(holds=False, clause=clause, reason=reason, witness=witness)

    if caused := (z | c) & graph.descendants(x):
        return refused(
            "", f"the treatments cause {join_names(caused)}", tuple(sort_names(caused))
        )
    s = frozenset((graph.selection,)) if graph.selection else frozenset()
    if walk := open_walk(graph.without_edges_into(x), y, s, given=x | c | z):
        return refused(" (a)", "selection depends on the outcome", walk)
    if walk := open_walk(graph.without_edges_out_of(x), y, x, given=c | z | s):
        return refused(" (b)", "a back-door path stays open", walk)
    if not z | c <= measured and (walk := open_walk(graph, z, s, given=c)):
        return refused(" (c)", "selection depends on a covariate", walk)
    reason = f"selection and treatment assignment are separated from {join_names(y)}"
    return Verdict(holds=True, clause=CRITERION, reason=reason)


def find_context_adjustment(
    graph: CausalGraph,
    *,
    treatments: Names,
    outcomes: Names,
    context: Names = (),
    tables: Iterable[Names] = (),
) -> ContextAdjustment | None:
    """Find covariates that give an effect in a context, none to spare; None when none will do.

    They are averaged over at each context: ``P(y | x, c, z, S=1)`` with weights ``P(z | c)``.
    Weights come from the log where they can, otherwise from the first of the unselected
    ``tables``, each a set of variables, that serves.

    >>> from boundit.graph.text import parse
    >>> graph = parse("C -> X -> Y; C -> Y; Z -> X; Z -> Y; Z -> [S]")
    >>> roles = {"treatments": "X", "outcomes": "Y", "context": "C"}
    >>> find_context_adjustment(graph, **roles) is None
    True
    >>> sorted(find_context_adjustment(graph, **roles, tables=[{"C", "Z"}]).covariates)
    ['Z']
    """
    roles = {"a treatment": treatments, "an outcome": outcomes, "context": context}
    x, y, c = read_roles(graph, roles)
    for behind, s, usable, table in _list_weight_sources(graph, x, y, c, tables):
        found = minimal_separator(behind, y, x | s, include=c, within=usable)
        if found is not None:
            return ContextAdjustment(found - c, table)
    return None


def list_context_adjustments(
    graph: CausalGraph,
    *,
    treatments: Names,
    outcomes: Names,
    context: Names,
    external: Names = (),
    within: Names | None = None,
    include: Names = (),
    minimal: bool = False,
) -> Iterator[ContextAdjustment]:
    """List the covariates that give an effect in a context, each with its source of weights.

    ``external`` are the variables of one unselected table, ``within`` those one may adjust for,
    ``include`` those one must.
    """
    roles = {"a treatment": treatments, "an outcome": outcomes, "context": context}
    x, y, c = read_roles(graph, roles)
    (allowed,) = read_roles(graph, {"allowed": graph.observed if within is None else within})
    (forced,) = read_roles(graph, {"included": include})
    tables = [graph.require(external)]
    listed = list_minimal_separators if minimal else list_separators

    def search() -> Iterator[ContextAdjustment]:
        seen = set[Nodes]()
        for behind, s, usable, table in _list_weight_sources(graph, x, y, c, tables):
            if not forced <= usable | c:
                continue
            within = (usable & allowed) | c | forced
            for found in listed(behind, y, x | s, include=c | forced, within=within):
                covariates = found - c
                if covariates not in seen:
                    seen.add(covariates)
                    yield ContextAdjustment(covariates, table)

    return search()


def write_context_adjustment(
    adjustment: ContextAdjustment, *, treatments: Nodes, outcomes: Nodes, context: Nodes
) -> Expression:
    """Write the formula of an adjustment in context: at each context an average over Z.

    >>> x, y, nothing = frozenset("X"), frozenset("Y"), frozenset()
    >>> plain = ContextAdjustment(covariates=nothing, table=nothing)
    >>> write_context_adjustment(plain, treatments=x, outcomes=y, context=nothing) == P(y, x)
    True
    """
    z, table = adjustment
    inner = P(outcomes, treatments | context | z)
    return Sum(z, Product((inner, P(z, context, logged=not table)))) if z else inner


def _list_weight_sources(
    graph: CausalGraph, x: Nodes, y: Nodes, c: Nodes, tables: Iterable[Names]
) -> Iterator[tuple[CausalGraph, Nodes, Nodes, Nodes]]:
    """List where the weights ``P(z | c)`` can come from: the log (an empty table), then tables.

    Each comes with the graph cut out of the treatments, selection, and the covariates that can
    be weighed.
    """
    caused = graph.descendants(x)
    if c & caused:
        return
    s = frozenset((graph.selection,)) if graph.selection else frozenset()
    behind, free = graph.without_edges_out_of(x), graph.observed - caused - y - c
    yield behind, s, free - find_connected_nodes(graph, s, given=c), frozenset()
    for table in map(graph.require, tables):
        if s and c <= table:
            yield behind, s, free & table, table
