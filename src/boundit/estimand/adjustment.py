r"""Covariate adjustment: when a weighted average over covariates is the causal effect.

.. code-block:: text

    criterion           the log                    averages           with weights
    Definition 2        is not selected            P(y | x, z)        P(z)
    Theorem 1 (GACT1)   is selected                P(y | x, z, S=1)   P(z | S=1)
    GACT2               and P(z) is known          P(y | x, z, S=1)   P(z)
    GACT3               and P(zt) is known         P(y | x, z, S=1)   P(z - zt | zt, S=1) P(zt)

``Z`` are the covariates and ``Z^T``, here ``external``, those of them that were also measured
without selection. GACT3 asks of a pair ``(Z, Z^T)`` that (a) no covariate lies in Dpcp, and
that in G_pbd (b) ``(X _||_ Y | Z, S)`` and (c) ``(Y _||_ S | Z^T)``. With ``Z^T`` empty this is
GACT1, with ``Z^T`` all of ``Z`` it is GACT2. These have conditions of their own, by which the
verdict says what fails; the tests show that they agree with GACT3. Without a selection node
(c) is void, and what is left is Definition 2.

Effects in a context have a criterion of their own: adjusting for the joint effect of ``Y`` and
``C`` fails as soon as a context causes a treatment. At each context on its own,

.. math:: P(y \mid do(x), c) = \sum_z P(y \mid x, c, z, S{=}1)\, P(z \mid c, S{=}1)

if the treatments cause neither ``C`` nor ``Z``, and (a) ``(Y _||_ S | X, C, Z)`` in the graph
cut into ``X``, (b) ``(Y _||_ X | C, Z, S)`` in the graph cut out of ``X``, and (c)
``(Z _||_ S | C)`` or else an unselected table over ``Z`` and ``C`` supplies the weights: the
treatments leave ``P(z | c)`` as it is, (a) is Rule 1 and (b) Rule 2 of the do-calculus. Since
selection causes nothing, (a) and (b) are one separation, ``(Y _||_ X, S | C, Z)`` in the graph
cut out of ``X``, so that a minimal ``Z`` is found in linear time.

References
----------
I. Shpitser, T. VanderWeele and J. Robins, On the validity of covariate adjustment for
estimating causal effects, UAI 2010 (Definition 2). J. D. Correa and E. Bareinboim, Causal
effect identification by adjustment under confounding and selection biases, AAAI 2017 (GACT1,
GACT2).
J. D. Correa, J. Tian and E. Bareinboim, Generalized adjustment under confounding and selection
biases, AAAI 2018 (GACT3).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from boundit.core.errors import QueryError
from boundit.core.names import Names, Nodes, join_names, sort_names
from boundit.core.verdict import Verdict
from boundit.estimand.expression import Expression, P, Product, Sum
from boundit.estimand.query import EffectQuery, parse_query, read_roles
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.paths import find_proper_causal_effects, make_back_door_graph
from boundit.graph.read import GraphLike, require_graph
from boundit.graph.separation import find_connected_nodes, open_walk
from boundit.graph.separators import (
    find_needed_nodes,
    find_separator,
    list_minimal_separators,
    list_separators,
    list_sets_between,
    minimal_separator,
)

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


class Adjustment(NamedTuple):
    """The pair ``(Z, Z^T)``: covariates, and those of them measured without selection."""

    covariates: Nodes
    external: Nodes


def is_adjustment_set(
    graph: GraphLike, query: EffectQuery | str, covariates: Names, *, external: Names = ()
) -> Verdict:
    """Judge whether ``covariates`` are an adjustment set for the effect that ``query`` asks for.

    Parameters
    ----------
    graph
        The causal graph.
    query
        The effect, as in ``"Y | do(X)"`` or ``"Y | do(X), C"``.
    covariates
        The variables to adjust for.
    external
        Variables that are also measured without selection; with a context, together.

    Returns
    -------
    Verdict
        Whether it holds, by which criterion, and if not the path that is open.

    Examples
    --------
    >>> graph = "Z -> X -> Y; Z -> Y; Z -> [S]"
    >>> print(is_adjustment_set(graph, "Y | do(X)", "Z", external="Z"))
    yes, by GACT2: every non-causal path is blocked, and selection is separated from the outcome
    >>> print(is_adjustment_set(graph, "Y | do(X)", "Z"))
    no, by Theorem 1 (GACT1) (c): selection depends on the outcome [Y <- Z -> S]
    """
    graph, asked = _read(graph, query)
    roles = {"treatments": asked.treatments, "outcomes": asked.outcomes}
    if asked.context:
        return adjusts_in_context(
            graph, covariates=covariates, **roles, context=asked.context, table=external
        )
    (z,) = read_roles(graph, {"a covariate": covariates})
    part = _AdjustmentSearch.of(graph, **roles, external=external).find_external(z)
    # All that have an unselected distribution count if none of them suffices.
    part = graph.require(external) & z if part is None else part
    return adjusts(graph, covariates=z, **roles, external=part)


def adjustment_sets(
    graph: GraphLike,
    query: EffectQuery | str,
    *,
    external: Names = (),
    include: Names = (),
    within: Names | None = None,
    minimal: bool = True,
) -> Iterator[Adjustment]:
    """List the adjustment sets of the effect that ``query`` asks for.

    Parameters
    ----------
    graph
        The causal graph.
    query
        The effect, as in ``"Y | do(X)"`` or ``"Y | do(X), C"``.
    external
        Variables that are also measured without selection; with a context, together.
    include
        Variables that every set holds.
    within
        Variables that may be adjusted for; all observed ones by default.
    minimal
        Whether sets that hold a smaller one, with ``include``, are left out.

    Yields
    ------
    Adjustment
        ``covariates``, and ``external``, those of them whose distribution is read off the
        external data.

    Examples
    --------
    >>> graph = "A -> B -> X -> Y; A -> Y"
    >>> [sorted(found.covariates) for found in adjustment_sets(graph, "Y | do(X)")]
    [['B'], ['A']]
    >>> sets = adjustment_sets(graph, "Y | do(X)", minimal=False)
    >>> [sorted(found.covariates) for found in sets]
    [['A', 'B'], ['A'], ['B']]
    """
    graph, asked = _read(graph, query)
    roles = {"treatments": asked.treatments, "outcomes": asked.outcomes}
    if asked.context:
        found = list_context_adjustments(
            graph,
            **roles,
            context=asked.context,
            external=external,
            within=within,
            include=include,
            minimal=minimal,
        )
        return (Adjustment(z, z & table) for z, table in found)
    search = _AdjustmentSearch.of(
        graph, **roles, external=external, include=include, within=within
    )
    return search.list_minimal() if minimal else search.list_all()


def _read(graph: GraphLike, query: EffectQuery | str) -> tuple[CausalGraph, EffectQuery]:
    """Read graph and query, and refuse variables that the graph lacks."""
    graph = require_graph(graph)
    asked = parse_query(query) if isinstance(query, str) else query
    asked.require_in(graph)
    return graph, asked


def adjusts(
    graph: GraphLike,
    *,
    covariates: Names,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
) -> Verdict:
    """Judge whether adjusting for ``covariates`` gives ``P(outcomes | do(treatments))``.

    The verdict names the criterion, and if it fails the open path. ``external`` is exactly
    ``Z^T``, the covariates also measured without selection; anything else in it raises
    QueryError. ``write_adjustment`` writes the formula.

    >>> roles = {"covariates": "Z", "treatments": "X", "outcomes": "Y"}
    >>> print(adjusts("Z -> X -> Y; Z -> Y; Z -> [S]", **roles, external="Z"))
    yes, by GACT2: every non-causal path is blocked, and selection is separated from the outcome
    >>> print(adjusts("Z -> X -> Y; Z -> Y; Z -> [S]", **roles))
    no, by Theorem 1 (GACT1) (c): selection depends on the outcome [Y <- Z -> S]
    """
    graph = require_graph(graph)
    (z, zt), x, y = _read_question(graph, covariates, treatments, outcomes, external)
    nothing, s = Nodes(), frozenset((graph.selection,)) if graph.selection else Nodes()
    backdoor = make_back_door_graph(graph, treatments=x, outcomes=y)
    noncausal, depends = "a non-causal path stays open", "selection depends on the outcome"
    # Each separation that the criterion demands, in its order, and what it means if it fails.
    if not s:
        criterion, first = "Definition 2", "i"
        claims = [("ii", backdoor, x, y, z, noncausal)]
    elif not zt:
        criterion, first = "Theorem 1 (GACT1)", "a"
        through = "selection depends on a treatment that is confounded with the outcome"
        behind, selecting = graph.without_edges_out_of(x), x & graph.selecting()
        claims = [
            ("b", backdoor, x, y, z | s, noncausal),
            ("c", graph.without_edges_into(x), y, s, x, depends),
            ("d", behind, selecting, y, nothing, through),
        ]
    elif zt == z:
        criterion, first = "GACT2", "a"
        claims = [("b", backdoor, x, y, z, noncausal), ("c", graph, y, s, x | z, depends)]
    else:
        criterion, first = "GACT3", "a"
        claims = [("b", backdoor, x, y, z | s, noncausal), ("c", backdoor, y, s, zt, depends)]
    if spoiled := z & find_proper_causal_effects(graph, treatments=x, outcomes=y):
        reason = f"{join_names(spoiled)} is affected by a treatment on a causal path"
        witness = tuple(sort_names(spoiled))
        return Verdict(
            holds=False, clause=f"{criterion} ({first})", reason=reason, witness=witness
        )
    for condition, cut, sources, targets, given, reason in claims:
        if walk := open_walk(cut, sources, targets, given=given):
            clause = f"{criterion} ({condition})"
            return Verdict(holds=False, clause=clause, reason=reason, witness=walk)
    reason = "every non-causal path is blocked"
    if s:
        reason += ", and selection is separated from the outcome"
    return Verdict(holds=True, clause=criterion, reason=reason)


def write_adjustment(
    graph: CausalGraph,
    *,
    covariates: Names,
    treatments: Names,
    outcomes: Names,
    external: Names = (),
) -> Expression:
    r"""Write the formula that is the effect if, and only if, ``adjusts`` says yes.

    .. math:: \sum_z P(y \mid x, z, S{=}1)\, P(z \setminus z^T \mid z^T, S{=}1)\, P(z^T)

    Without a selection node every term is read off the log.

    >>> graph = CausalGraph.of(directed=[("Z", "X"), ("Z", "Y"), ("X", "Y")])
    >>> formula = write_adjustment(graph, covariates="Z", treatments="X", outcomes="Y")
    >>> formula == Sum(frozenset("Z"), Product((P(frozenset("Y"), frozenset("XZ")),
    ...                                         P(frozenset("Z")))))
    True
    """
    (z, zt), x, y = _read_question(graph, covariates, treatments, outcomes, external)
    outer = zt if graph.selection else Nodes()
    weights = [P(z - outer, outer)] if z - outer else []
    weights += [P(outer, logged=False)] if outer else []
    return Sum(z, Product((P(y, x | z), *weights))) if z else P(y, x)


def _read_question(
    graph: CausalGraph, covariates: Names, treatments: Names, outcomes: Names, external: Names
) -> tuple[Adjustment, Nodes, Nodes]:
    """Read covariates (and which are external), treatments and outcomes as sets of nodes."""
    z, x, y = read_roles(
        graph,
        {"a covariate": covariates, "a treatment": treatments, "an outcome": outcomes},
    )
    zt = graph.require(external)
    if zt - z:
        held = f"they are {join_names(z)}" if z else "there are none"
        name = sort_names(zt - z)[0]
        message = f"{name!r} is external but not among the covariates; {held}"
        raise QueryError(message, option="external")
    return Adjustment(z, zt), x, y


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
    for (by default all observed ones). No pair that adjusts has a proper subset of the
    covariates found, and of ``Z^T`` none can be spared given those. Time is polynomial.

    >>> graph = "Z -> X -> Y; Z -> Y; Z -> [S]; U -> Y"
    >>> pair = find_adjustment(graph, treatments="X", outcomes="Y", external=["U", "Z"])
    >>> sorted(pair.covariates), sorted(pair.external)
    (['Z'], ['Z'])
    >>> find_adjustment(graph, treatments="X", outcomes="Y") is None
    True
    """
    graph = require_graph(graph)
    return _AdjustmentSearch.of(
        graph, treatments=treatments, outcomes=outcomes, external=external, within=within
    ).find_minimal()


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
    included: Nodes

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        *,
        treatments: Names,
        outcomes: Names,
        external: Names,
        include: Names = (),
        within: Names | None = None,
    ) -> "_AdjustmentSearch":
        """Read the names as sets of nodes, and make the back-door graph."""
        x, y = read_roles(graph, {"a treatment": treatments, "an outcome": outcomes})
        (measured,) = read_roles(graph, {"measured without selection": external})
        (usable,) = read_roles(graph, {"allowed": graph.observed if within is None else within})
        (included,) = read_roles(graph, {"included": include})
        forbidden = x | y | find_proper_causal_effects(graph, treatments=x, outcomes=y)
        return cls(
            make_back_door_graph(graph, treatments=x, outcomes=y),
            x,
            y,
            frozenset((graph.selection,)) if graph.selection else frozenset(),
            Nodes() if included & forbidden else (usable | included) - forbidden,
            measured if graph.selection else frozenset(),
            included,
        )

    def find_external(self, covariates: Nodes) -> Nodes | None:
        """Find a minimal ``Z^T`` among covariates; None when none separates Y from S."""
        usable = covariates & self.measured
        return minimal_separator(self.backdoor, self.outcomes, self.selection, within=usable)

    def find_minimal(self) -> Adjustment | None:
        """Find a pair of which nothing can be spared; None when no covariates adjust."""
        external = self.find_external(self.allowed)
        if external is None:
            return None
        found = minimal_separator(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=external | self.included | self.selection,
            within=self.allowed,
        )
        if found is None:
            return None
        covariates = found - self.selection
        # With another Z^T some covariate may be spared all the same.
        while spare := covariates - self._find_needed(covariates) - self.included:
            covariates -= {sort_names(spare)[0]}
        return Adjustment(covariates, self.find_external(covariates) or frozenset())

    def _find_needed(self, covariates: Nodes) -> Nodes:
        """Find which of these covariates cannot be left out, as the others would not adjust."""
        needed = find_needed_nodes(
            self.backdoor,
            self.treatments,
            self.outcomes,
            include=self.selection,
            within=covariates,
        )
        return (needed or Nodes()) | self._find_needed_external(covariates & self.measured)

    def _find_needed_external(self, external: Nodes) -> Nodes:
        """Find which of these cannot be left out, as the others would not separate Y from S."""
        ends = self.outcomes, self.selection
        return find_needed_nodes(self.backdoor, *ends, within=external) or Nodes()

    def list_minimal(self) -> Iterator[Adjustment]:
        """List every pair of which nothing can be spared, besides what is included.

        In such a pair ``Z^T`` is a minimal separator of Y and S, and ``Z`` a minimal one of X
        and Y among those that hold it. Not all of these are minimal: another ``Z^T`` in ``Z`` may
        need fewer covariates.
        """
        x, y, s = self.treatments, self.outcomes, self.selection
        if not self.included <= self.allowed:
            return
        usable = self.allowed & self.measured
        for external in list_minimal_separators(self.backdoor, y, s, within=usable):
            for found in list_minimal_separators(
                self.backdoor, x, y, include=external | self.included | s, within=self.allowed
            ):
                covariates = found - s
                spare = covariates - self._find_needed(covariates) - self.included
                if not external or not spare:
                    yield Adjustment(covariates, external)

    def list_all(self) -> Iterator[Adjustment]:
        """List every pair that adjusts once, with polynomial delay, widest covariates first."""

        def find_widest(forced: Nodes, allowed: Nodes) -> Nodes | None:
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

        ends = self.outcomes, self.selection
        if not self.included <= self.allowed:
            return
        for covariates in list_sets_between(self.included, self.allowed, find_widest):
            usable = covariates & self.measured
            for external in list_separators(self.backdoor, *ends, within=usable):
                yield Adjustment(covariates, external)
