r"""Pooling: which logged rows and which rounds of a policy estimate the same cells.

``E[Y | do(x), c]`` is the mean of ``E[Y | do(x), c, w]`` over ``w``. Where neither selection
(Rule 1) nor how the treatments came about (Rule 2) matters given ``w``, logged rows are draws of
these inner means just as rounds are. The weights of ``w`` come from factors
``P(w_j | do(x), c, w_1 .. w_(j-1))``, the best source of each first:

========  ========================================================================================
rows      rows of the log, or of an external table, are draws of the factor
tilt      rows show it up to weights by its own values, which all pools share: ``w`` alone selects
rounds    it is learned from rounds alone
========  ========================================================================================

What a distribution does not depend on is dropped by the do-calculus, so that arms and contexts
share it. Identification is not enough: a formula may weight rows, and weighted rows are not draws.
Graph and levels choose the variables, never the counts; counts may only refuse to pool.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from boundit.bounds.caveats import LIMITS
from boundit.bounds.evidence import SUCCESS, Evidence
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.names import Nodes, join_names, sort_names
from boundit.counts.named_array import Floats
from boundit.estimand.derivation import (
    Question,
    Step,
    find_selection_walk,
    lighten,
    may_ignore_selection,
    may_observe_treatments,
)
from boundit.estimand.query import EffectQuery
from boundit.estimand.substitutes import shortlist
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.results.bound import Key
from boundit.results.fused_plan import Factor, FusedPlan, NoFusedPlan

MAX_VARIABLES = 3  # as many as a chain has by default
MAX_LEAVES = 64  # combinations of their levels for one arm and context
MAX_PLACES = 2**18  # such combinations for all arms and contexts
MAX_SETS, MIN_SETS = 200, 10  # sets of variables that are tried: on a small graph, on any
MAX_DISTRIBUTIONS = 400  # distributions that are looked at on a small graph
SMALL_GRAPH = 40  # nodes and edges; on a larger graph less is tried
DENIAL = 20.0  # how much likelier rows must be for a pool to be split
POLICY = "the policy that learns"

Rank: TypeAlias = tuple[int, int, int, tuple[str, ...]]


def plan_pooling(
    evidence: Evidence, keys: Sequence[Key], *, hidden: Nodes = frozenset()
) -> FusedPlan | NoFusedPlan:
    """Plan the cells in which logged rows and rounds of a policy count together.

    Parameters
    ----------
    evidence : Evidence
        The counts that bounds were made from; nothing else is read.
    keys : sequence of (arm, context)
        All combinations of levels, in order.
    hidden : set of str
        Variables of which selection may have left one value.

    Returns
    -------
    FusedPlan or NoFusedPlan
        The plan, or why there is none.
    """
    table, query = evidence.log.table, evidence.query
    if table.exact:
        return NoFusedPlan("an exact distribution has no rows to count; pass a log of rows")
    if lost := hidden.intersection(query.outcomes + query.treatments + query.context):
        return NoFusedPlan(
            f"selection may have left one value of {join_names(lost)} in the log"
        )
    if evidence.is_clustered:
        return NoFusedPlan("rows of a cluster are not independent draws")
    selected = evidence.graph.selection is not None
    others = [counts.table for counts in evidence.population] if selected else []
    external = [other for other in others if not other.exact]
    reader = RowReader(
        evidence.graph,
        query,
        adaptive=table.adaptive,
        tables=[other.names for other in external],
    )
    search = PoolingSearch(
        reader, table.names - hidden, table.n_levels, len(keys), evidence.workspace.budget
    )
    scheme = search.find()
    if scheme is None:
        return NoFusedPlan(search.explain_none())
    try:
        found = _count_scheme(scheme, reader, evidence, keys)
    except LIMITS:
        return NoFusedPlan("memory or time did not suffice to count it")
    if len(external) == len(others):
        return found
    unread = "an external table that is an exact distribution has no rows, and is not counted"
    return replace(found, reasons=(*found.reasons, unread))


def draw_policy(graph: CausalGraph, treatments: Sequence[str]) -> CausalGraph:
    """Draw a policy into a graph, as a cause of the treatments and of nothing else."""
    return CausalGraph.of(
        [*graph.nodes, POLICY],
        directed=[*graph.directed, *((POLICY, name) for name in treatments)],
        bidirected=graph.bidirected,
        selection=graph.selection,
    )


# What rows show of one distribution


@dataclass(frozen=True, slots=True)
class Pooled:
    """``P(of | do(x), c, before)`` as asked, with all arms and contexts, and as lightened.

    Arms and contexts that agree in what is left, ``given``, share it.
    """

    asked: Question
    light: Question
    steps: tuple[Step, ...]

    @property
    def of(self) -> Nodes:
        """The variables whose distribution it is."""
        return self.asked.outcomes

    @property
    def given(self) -> Nodes:
        """The treatments, contexts and variables before that it depends on."""
        return self.light.treatments | self.light.context

    def __str__(self) -> str:
        why = f" ({'; '.join(map(str, self.steps))})" if self.steps else ""
        return f"{self.light} depends on {join_names(self.given) or 'nothing'}{why}"


class RowReader:
    """Tells which distributions under the arms of a query logged rows are draws of.

    ``adaptive``: a policy learned while it wrote the log, so that selection may have changed with
    the treatments. ``tables`` are the variables of external tables of rows.
    """

    def __init__(
        self,
        graph: CausalGraph,
        query: EffectQuery,
        *,
        adaptive: bool = False,
        tables: Iterable[Nodes] = (),
    ) -> None:
        self.graph, self.query, self.adaptive = graph, query, adaptive
        self.tables = tuple(tables)
        self.found = dict[tuple[Nodes, Nodes], Pooled]()
        self._draws = dict[Pooled, bool]()

    def find(self, of: Nodes, before: Nodes = frozenset()) -> Pooled:
        """Find what ``P(of | do(x), c, before)`` depends on; each is looked at once."""
        if (of, before) not in self.found:
            context = before.union(self.query.context)
            asked = Question(of, frozenset(self.query.treatments), context)
            self.found[of, before] = Pooled(asked, *lighten(self.graph, asked))
        return self.found[of, before]

    def are_draws(self, distribution: Pooled) -> bool:
        """Whether logged rows are draws of a distribution, given what it depends on.

        Given all arms and contexts or given those that matter: a test may pass for one alone.
        """
        if distribution not in self._draws:
            self._draws[distribution] = self._shows(distribution.asked) or self._shows(
                distribution.light
            )
        return self._draws[distribution]

    def list_deniable(self, distribution: Pooled) -> tuple[str, ...]:
        """What it does not depend on by the graph, where logged rows could deny that.

        They could if they are draws given all arms and contexts too.
        """
        dropped = (
            distribution.asked.treatments | distribution.asked.context
        ) - distribution.given
        return tuple(sort_names(dropped)) if dropped and self._shows(distribution.asked) else ()

    def _shows(self, asked: Question) -> bool:
        """Rule 1 for selection, then Rule 2; it holds under every policy that wrote the rows."""
        return may_ignore_selection(self.graph, asked) and may_observe_treatments(
            self.graph, replace(asked, selected=True)
        )

    def _may_observe(self, distribution: Pooled) -> bool:
        """Whether treatments may be observed in the population (Rule 2)."""
        return any(
            may_observe_treatments(self.graph, form)
            for form in (distribution.asked, distribution.light)
        )

    @cached_property
    def _with_policy(self) -> CausalGraph:
        return draw_policy(self.graph, self.query.treatments)

    def has_tilt(self, distribution: Pooled) -> bool:
        """Whether rows show a distribution up to weights by its own values, alike in all pools.

        ``P(w | x, c, S=1)`` is then ``P(w | do(x), c)`` times ``P(S=1 | w)``, up to a constant:
        selection depends on what the distribution depends on through ``w`` alone.
        """
        if (
            not distribution.given
            or self.graph.selection is None
            or not self._may_observe(distribution)
        ):
            return False
        if (
            open_walk(
                self.graph, distribution.given, self.graph.selection, given=distribution.of
            )
            is not None
        ):
            return False
        given = distribution.given | {self.graph.selection}
        return not self.adaptive or not open_walk(
            self._with_policy, distribution.of, POLICY, given=given
        )

    def find_tables(self, distribution: Pooled) -> list[int]:
        """List the external tables whose rows are draws of a distribution, by their numbers."""
        held = [
            i
            for i, table in enumerate(self.tables)
            if distribution.of | distribution.given <= table
        ]
        return held if held and self._may_observe(distribution) else []

    def explain_refusal(self, distribution: Pooled) -> str:
        """Say why logged rows are not draws of a distribution."""
        of, light = join_names(distribution.of), distribution.light
        if walk := find_selection_walk(self.graph, light):
            return f"selection depends on {of} by {' '.join(walk)}"
        return f"what made {join_names(light.treatments)} come about in the log depends on {of}"


# Schemes: the variables and their factors, before anything is counted


class WeightSource(IntEnum):
    """Where the weights of a factor come from, the best first."""

    ROWS = 0
    TILT = 1
    ROUNDS = 2


@dataclass(frozen=True, slots=True)
class SchemeFactor:
    """The variables of one factor in order, their distribution, and the source of weights.

    ``tables`` are the external tables whose rows are draws of it, where logged rows are not.
    """

    variables: tuple[str, ...]
    distribution: Pooled
    source: WeightSource
    tables: tuple[int, ...] = ()

    def explain(self, refusal: str) -> str:
        """Say where weights come from; ``refusal`` says why logged rows are not draws."""
        distribution = self.distribution.light
        if self.source is WeightSource.ROWS:
            rows = "rows of an external table" if self.tables else "rows of the log"
            why = f"{rows} are draws of {distribution}"
        elif self.source is WeightSource.TILT:
            why = (
                f"rows of the log show {distribution} up to one tilt by "
                f"{join_names(self.variables)}, which all pools share: {refusal}, and not by "
                f"{join_names(self.distribution.given)}"
            )
        else:
            why = f"{distribution} is learned from rounds alone: {refusal}"
        return f"{why}; {self.distribution}"


@dataclass(frozen=True, slots=True)
class Scheme:
    """Factors in turn, and the distribution of the outcome given all their cells."""

    outcome: Pooled
    factors: tuple[SchemeFactor, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of all factors, in order."""
        return tuple(name for factor in self.factors for name in factor.variables)

    @property
    def drawn(self) -> list[Pooled]:
        """The distributions that logged rows are draws of."""
        rows = [each for each in self.factors if each.source is WeightSource.ROWS]
        return [self.outcome, *(each.distribution for each in rows if not each.tables)]

    def rank(self, levels: Mapping[str, int]) -> Rank:
        """Rank by the worst source of weights, then by how many means and weights it has."""
        source = max((factor.source for factor in self.factors), default=WeightSource.ROWS)
        unknown = prod(levels[name] for name in self.outcome.given)
        for factor in self.factors:
            cells = prod(levels[name] for name in factor.variables)
            unknown += prod(levels[name] for name in factor.distribution.given) * (cells - 1)
        return source, unknown, len(self.factors), self.variables

    def list_reasons(self, n_external: int) -> list[str]:
        """Say why logged cells are those of rounds, and what must hold of both."""
        outcome, given = join_names(self.outcome.of), join_names(self.outcome.given)
        where = f"with the same {given}" if given else "whatever else they hold"
        left = n_external - len({i for factor in self.factors for i in factor.tables})
        reasons = [
            f"rows and rounds {where} have one mean of {outcome}: neither selection (Rule 1) "
            f"nor what made the arm come about (Rule 2) depends on {outcome} there",
            str(self.outcome),
            "a round counts if its arm depends on context, past and randomization alone",
        ]
        if left > 0:
            reasons.append(
                f"{left} external table{'s' if left > 1 else ''} of rows: not counted, as the "
                "weights come from rows of the log or from rounds"
            )
        return reasons


@dataclass
class PoolingSearch:
    """Finds the best scheme over some variables: all ways to go over sets that pass.

    ``levels`` says how many values each has, ``n_keys`` how many arms and contexts there are.
    """

    reader: RowReader
    names: Nodes
    levels: Mapping[str, int]
    n_keys: int
    budget: TimeBudget = FOR_EVER
    best: Scheme | None = field(default=None, init=False)
    _rank: Rank | None = field(default=None, init=False)

    def find(self) -> Scheme | None:
        """Find the best scheme; what was found when time or work runs out holds as well."""
        for chosen in self._list_sets():
            if self.budget.is_over() or len(self.reader.found) > self._scale(MAX_DISTRIBUTIONS):
                break
            outcome = self.reader.find(frozenset(self.reader.query.outcomes), chosen)
            if self.reader.are_draws(outcome):
                self._extend(Scheme(outcome), chosen)
        return self.best

    def _scale(self, most: int) -> int:
        """Scale a limit of work down for a large graph, on which every test takes longer."""
        graph = self.reader.graph
        size = len(graph.nodes) + len(graph.directed) + len(graph.bidirected)
        return most if size <= SMALL_GRAPH else most * SMALL_GRAPH // size

    def _list_sets(self) -> Iterator[Nodes]:
        """Sets of variables, those with the fewest combinations of levels first.

        Only ancestors of the query's variables and of selection can help.
        """
        graph, query = self.reader.graph, self.reader.query
        named = frozenset(query.outcomes + query.treatments + query.context)
        causes = graph.ancestors(named | ({graph.selection} if graph.selection else set()))
        usable = frozenset(
            name
            for name in (causes & graph.observed & self.names) - named
            if self.levels[name] <= MAX_LEAVES
        )
        pool = shortlist(
            graph,
            usable,
            outcomes=frozenset(query.outcomes),
            treatments=frozenset(query.treatments),
            context=frozenset(query.context),
            max_size=MAX_VARIABLES,
            max_sets=max(MIN_SETS, self._scale(MAX_SETS)),
        )
        found = list[tuple[int, int, tuple[str, ...]]]()
        for size in range(MAX_VARIABLES + 1):
            for some in combinations(pool, size):
                leaves = prod(self.levels[name] for name in some)
                if leaves <= MAX_LEAVES and leaves * self.n_keys <= MAX_PLACES:
                    found.append((leaves, size, some))
        found.sort(key=lambda each: each[:2])
        return (frozenset(some) for *_, some in found)

    def _extend(self, scheme: Scheme, left: Nodes) -> None:
        """Go over the variables left in every way that may beat the best scheme so far."""
        rank = scheme.rank(self.levels)
        if self._rank is not None and rank >= self._rank:
            return
        if not left:
            self.best, self._rank = scheme, rank
        before = frozenset(scheme.variables)
        for size in range(1, len(left) + 1):
            for some in combinations(sort_names(left), size):
                factors = (*scheme.factors, self.make_factor(some, before))
                self._extend(replace(scheme, factors=factors), left.difference(some))

    def make_factor(self, variables: tuple[str, ...], before: Nodes) -> SchemeFactor:
        """Find where the weights of some variables given others come from."""
        distribution = self.reader.find(frozenset(variables), before)
        if self.reader.are_draws(distribution):
            return SchemeFactor(variables, distribution, WeightSource.ROWS)
        if tables := self.reader.find_tables(distribution):
            return SchemeFactor(variables, distribution, WeightSource.ROWS, tuple(tables))
        tilted = self.reader.has_tilt(distribution)
        return SchemeFactor(
            variables, distribution, WeightSource.TILT if tilted else WeightSource.ROUNDS
        )

    def explain_none(self) -> str:
        """Say why there is no scheme: memory, time, or what rows show of the outcome."""
        if self.n_keys > MAX_PLACES:
            return f"{self.n_keys:,} pairs of arm and context have too many cells to count in"
        if self.budget.is_over():
            return "the time was over before one was found"
        query, outcomes = self.reader.query, frozenset(self.reader.query.outcomes)
        why = self.reader.explain_refusal(self.reader.find(outcomes))
        others = self.names.difference(query.treatments, query.context, outcomes)
        words = f", and given {join_names(others)} rows are no better" if others else ""
        return f"rows of the log are not draws of {join_names(outcomes)} under an arm: {why}{words}"


# Counts of a scheme


def _count_scheme(
    scheme: Scheme, reader: RowReader, evidence: Evidence, keys: Sequence[Key]
) -> FusedPlan:
    """Count the cells and factors of a scheme for all arms and contexts."""
    (outcome,), log = reader.query.outcomes, evidence.log
    denied = _find_denied(scheme.outcome, (outcome,), reader, evidence)
    given = tuple(sort_names(scheme.outcome.given.union(denied)))
    counted = log.marginalize(frozenset((*given, outcome))).align((*given, outcome))
    n = np.rint(log.table.marginalize(frozenset(given)).align(given).reshape(-1))
    reasons = scheme.list_reasons(len(reader.tables))
    if denied:
        reasons.append(_describe_denied(scheme.outcome, denied))
    return FusedPlan(
        tuple(keys),
        tuple(_count_factor(scheme, i, reader, evidence) for i in range(len(scheme.factors))),
        _place(given, scheme.variables, evidence),
        tuple(n.astype(np.int64).tolist()),
        tuple(np.clip(counted.reshape(-1, 2)[:, SUCCESS], 0, n).tolist()),
        tuple(reasons),
        2 ** sum(len(reader.list_deniable(each)) for each in scheme.drawn),
    )


def _count_factor(scheme: Scheme, i: int, reader: RowReader, evidence: Evidence) -> Factor:
    """Count the pools of one factor for all arms and contexts, and the rows of each."""
    factor, levels = scheme.factors[i], evidence.log.table.levels
    distribution, names = factor.distribution, factor.variables
    denied = (
        _find_denied(distribution, names, reader, evidence)
        if distribution in scheme.drawn
        else ()
    )
    given = tuple(sort_names(distribution.given.union(denied)))
    external = [counts.table for counts in evidence.population if not counts.table.exact]
    tables = [external[j] for j in factor.tables] or [evidence.log.table]
    table = max(tables, key=lambda each: each.rows)
    cells = tuple(product(*(levels[name] for name in names)))
    rows = np.rint(table.marginalize(distribution.of.union(given)).align((*given, *names)))
    counts = rows.astype(np.int64).reshape(-1, len(cells))
    has_rows = factor.source is WeightSource.ROWS
    # With one pool a tilt may be anything, and rows say nothing.
    tilted = factor.source is WeightSource.TILT and len(counts) > 1
    words = factor.explain(reader.explain_refusal(distribution))
    return Factor(
        names,
        cells,
        _place(
            given, [name for each in scheme.factors[:i] for name in each.variables], evidence
        ),
        _list_rows(counts if has_rows else np.zeros_like(counts)),
        _list_rows(counts) if tilted else None,
        f"{words}; {_describe_denied(distribution, denied)}" if denied else words,
    )


def _place(
    given: Sequence[str], before: Sequence[str], evidence: Evidence
) -> tuple[tuple[int, ...], ...]:
    """Number what is ``given``, for each arm and context and each combination of ``before``."""
    order = (*evidence.query.treatments, *evidence.query.context, *before)
    shape = [len(evidence.log.table.levels[name]) for name in order]
    found = np.zeros([1] * len(order), dtype=np.int64)
    for name in given:
        at = order.index(name)
        own = np.arange(shape[at]).reshape([-1 if i == at else 1 for i in range(len(order))])
        found = found * shape[at] + own
    n_keys = prod(shape[: len(order) - len(before)])
    return _list_rows(np.broadcast_to(found, shape).reshape(n_keys, -1))


def _list_rows(numbers: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, numbers.tolist()))


def _find_denied(
    distribution: Pooled, cells: tuple[str, ...], reader: RowReader, evidence: Evidence
) -> tuple[str, ...]:
    """Find what a distribution depends on by logged rows, though not by the graph."""
    dropped, given = reader.list_deniable(distribution), tuple(sort_names(distribution.given))
    if not dropped:
        return ()
    order = (*given, *dropped, *cells)
    rows = evidence.log.marginalize(frozenset(order)).align(order)
    kept = rows.shape[: len(given) + len(dropped)]
    found = find_denied(rows.reshape(*kept, -1), len(given))
    return tuple(dropped[i - len(given)] for i in found)


def _describe_denied(distribution: Pooled, denied: Sequence[str]) -> str:
    names = join_names(denied)
    return (
        f"rows of the log deny that {distribution.light} does not depend on {names}: "
        f"what differs in {names} is not pooled, and graph or log cannot be right"
    )


def find_denied(counts: Floats, n_given: int) -> tuple[int, ...]:
    """Find the axes on which the distribution of the last one depends, though the graph denies it.

    The first ``n_given`` axes are what it depends on by the graph. An axis is added as long as
    some alone makes rows much likelier (the Bayes factor of uniform priors), then all the rest
    if they do together. What is not pooled is right under the graph too, and costs only rows.

    >>> find_denied(np.array([[[90.0, 10.0], [20.0, 80.0]]]), 1)
    (1,)
    >>> find_denied(np.array([[[90.0, 10.0], [85.0, 15.0]]]), 1)
    ()
    """
    rest, kept = list(range(n_given, counts.ndim - 1)), list(range(n_given))
    needed = np.log(DENIAL * (len(rest) + 1))
    while rest:
        found = {axis: weigh_split(counts, kept, [axis]) for axis in rest}
        best = max(found, key=found.__getitem__)
        if found[best] < needed:
            break
        kept.append(best)
        rest.remove(best)
    if rest and weigh_split(counts, kept, rest) >= needed:
        kept += rest
    return tuple(sorted(kept[n_given:]))


def weigh_split(counts: Floats, kept: Sequence[int], added: Sequence[int]) -> float:
    """Log of how much likelier rows are if a distribution depends on further axes."""

    def average(axes: Sequence[int]) -> float:  # the Dirichlet-multinomial likelihood
        others = tuple(i for i in range(counts.ndim - 1) if i not in axes)
        n_cells = counts.shape[-1]
        added = counts.sum(axis=others).reshape(-1, n_cells)
        found = gammaln(added + 1.0).sum() + len(added) * gammaln(n_cells)
        return float(found - gammaln(added.sum(axis=1) + n_cells).sum())

    return average((*kept, *added)) - average(kept)
