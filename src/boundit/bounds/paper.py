r"""The bounds of Huang and Wu (AAAI 2024) as printed, and the two estimates they compare with.

Theorem 3 bounds ``P(y, c | do(x))`` by a sum of products of c-factors, unidentified ones anywhere
in [0, 1]; Theorem 4 by the least and greatest effect of a substitute intervention ``W``:

.. math:: \sum_{D \setminus \{Y, C\}} \prod_i L_{Q[D_i]} \Big/ P_x(c) \le P_x(y \mid c), \qquad
          \max_W \min_{w} P_{x,w}(y, c) / P_x(c) \;\le\; P_x(y \mid c)

and the same with U and max. Both can miss: Theorem 4 lacks the condition under which setting ``W``
equals observing it, and ``P_x(c)`` may be read from selected rows. They are here for comparison.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import ClassVar, Literal

import numpy as np

from boundit.bounds.chain import Axes, Run
from boundit.bounds.evidence import (
    SUCCESS,
    Counts,
    Evidence,
    Probabilities,
    has_two_values,
    settle_outcome_range,
)
from boundit.bounds.population import Reweighting
from boundit.bounds.request import read_bandit_query
from boundit.core.formula import (
    Group,
    Over,
    Part,
    Sentence,
    Sign,
    StepRecord,
    Variable,
    make_factor,
)
from boundit.core.message import Caveat
from boundit.core.names import Nodes, join_names, sort_names
from boundit.counts.formula import (
    Formula,
    Pair,
    ProductTable,
    eliminate,
    multiply_out,
    normalise,
)
from boundit.counts.log import read_log
from boundit.counts.memory import Workspace
from boundit.estimand.adjustment import find_adjustment
from boundit.estimand.expression import Expression, P, Product, Sum, find_variables
from boundit.estimand.factors import factorize, recover_factor
from boundit.estimand.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.estimand.substitutes import Substitute, find_substitutes
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.implications import find_possible_selection
from boundit.graph.read import GraphLike, require_graph
from boundit.results.bound import Bound, RuleRecord
from boundit.results.bound_table import BoundTable
from boundit.results.explanation import RANGE

MAX_SETS = 200  # sets of variables that are tried as substitutes
CP, BIASED = "condition only", "adjust for confounding only"


@dataclass(frozen=True, eq=False)
class PaperRule:
    """Endpoints of ``P(y, c | do(x))``, divided by ``P(c)``, the ``base``.

    ``own`` are the formulas above the line, ``variables`` those that are summed over or set.
    """

    query: EffectQuery
    base: Formula | None
    own: tuple[Formula, ...]
    variables: Axes
    n_unknown: int
    reason: RuleRecord

    reweightings: ClassVar[tuple[Reweighting, ...]] = ()
    assumptions: ClassVar[tuple[str, ...]] = ()
    extremes: ClassVar[Nodes] = frozenset()
    is_identified: ClassVar[bool] = False  # P(c) may be that of selected rows

    @property
    def name(self) -> str:
        """A short name for tables."""
        return self.reason.name

    @property
    def outcome(self) -> str:
        """The one outcome of the query."""
        return self.query.outcomes[0]

    @property
    def axes(self) -> Axes:
        """The axes of the endpoints."""
        return self.query.treatments + self.query.context

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The formulas whose numbers it reads."""
        return self.own if self.base is None else (*self.own, self.base)

    @cached_property
    def terms(self) -> frozenset[P]:
        """The conditional probabilities that it reads."""
        return frozenset[P]().union(*(formula.terms for formula in self.formulas))

    @property
    def needs(self) -> Nodes:
        """The columns that are counted."""
        return frozenset(self.variables).union(*(term.free for term in self.terms))

    def rank(self, levels: Mapping[str, int]) -> tuple[int, int]:
        """Fewest unknown first, then fewest cells."""
        cells = sum(prod(levels[name] for name in term.free) for term in self.terms)
        return self.n_unknown, cells

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of its largest array."""
        return prod(levels[name] for name in (*self.axes, *self.variables))

    def bound(self, run: Run) -> Pair:
        """Both endpoints for every arm and context; what is divided by 0 is anywhere in [0, 1]."""
        low, high = self._bound_joint(run)
        least = most = np.ones(())
        if self.base is not None:
            least, most = run.numbers.read(self.base, self.axes)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = low / most, high / least
        low = np.nan_to_num(low, nan=0.0, posinf=0.0).clip(0, 1)
        high = np.nan_to_num(high, nan=1.0, posinf=1.0).clip(0, 1)
        shape = [run.numbers.levels[axis] for axis in self.axes]
        return np.broadcast_to(low, shape), np.broadcast_to(high, shape)

    def _bound_joint(self, run: Run) -> Pair:
        raise NotImplementedError


class CFactorBound(PaperRule):
    """Theorem 3: a sum of products of c-factors; one unidentified makes the lower endpoint 0.

    The sum counts 1 for each value of an unidentified factor's variables, so that it can pass 1.
    """

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """Count the cells of its largest array: factors are not multiplied out."""
        return prod(levels[name] for name in self.axes)

    def _bound_joint(self, run: Run) -> Pair:
        """Equation 7; a factor is not multiplied out over variables that it does not have."""
        levels, workspace, held = run.numbers.levels, run.numbers.workspace, set[str]()
        tables = [ProductTable((), (np.ones(()), np.ones(())))]
        for formula in self.own:
            free = formula.columns.keys() - formula.summed
            own = tuple(name for name in (*self.axes, *self.variables) if name in free)
            low, high = run.numbers.read(formula, (*own, self.outcome))
            tables.append(ProductTable(own, (low[..., -1], high[..., -1])))  # -1: a success
            held.update(own)
        left = eliminate(tables, held.intersection(self.variables), levels, workspace)
        low, high = multiply_out(left, self.axes, levels, workspace)
        times = prod(levels[name] for name in self.variables if name not in held)
        return (np.zeros(()) if self.n_unknown else low), high * float(times)


class SubstituteBound(PaperRule):
    """Theorem 4: the least and greatest effect over the values of one substitute ``W``."""

    def _bound_joint(self, run: Run) -> Pair:
        """Equation 10, before the division by ``P(c)``, which does not depend on ``W``."""
        order = (*self.axes, *self.variables)
        low, high = run.numbers.read(self.own[0], (*order, self.outcome))
        over = tuple(range(len(self.axes), len(order)))
        return low[..., SUCCESS].min(axis=over), high[..., SUCCESS].max(axis=over)


def plan_paper(
    graph: CausalGraph,
    query: EffectQuery,
    tables: Iterable[Nodes] = (),
    *,
    max_condition: int = 3,
) -> tuple[tuple[PaperRule, ...], tuple[str, ...]]:
    """Plan the bounds of the paper (BCE, Algorithm 1) as printed, which can miss the truth.

    Parameters
    ----------
    graph, query
        The causal graph and the effect to bound.
    tables : iterable of sets
        The variables of each external table.
    max_condition : int
        How many variables a substitute has at most.

    Returns
    -------
    rules, notes
        Theorem 3's rule and one for each substitute of FindRSI; caveats on both.
    """
    context, held = frozenset(query.context), tuple(tables)
    base: Expression | None = None
    notes = [
        Caveat(
            "profile 'paper' follows the printed method, whose bounds can miss the truth",
            kind="critical",
            code="paper",
        )
    ]
    if context:
        external = any(context <= table for table in held)
        base = P(context, logged=graph.selection is not None and not external)
        if base.logged:
            notes.append(
                Caveat(
                    "P(context) was read from the selected rows, not the population",
                    kind="critical",
                    code="paper",
                )
            )
    found = find_substitutes(
        graph,
        outcomes=query.outcomes,
        treatments=query.treatments,
        context=query.context,
        form="paper",
        tables=held,
        max_size=max_condition,
        max_sets=MAX_SETS,
    )
    substitutes = (_substitute(query, each, base) for each in found)
    return (factorize_effect(graph, query, base), *substitutes), tuple(notes)


def factorize_effect(
    graph: CausalGraph, query: EffectQuery, base: Expression | None
) -> CFactorBound:
    """Decompose ``P(y, c | do(x))`` into c-factors and recover each (Algorithm 1, lines 6 to 9).

    Parameters
    ----------
    graph, query
        The causal graph and the effect to bound.
    base : Expression or None
        ``P(c)``, which the sum is divided by; None without a context.

    Returns
    -------
    CFactorBound
        The rule of Theorem 3.
    """
    wanted = frozenset(query.outcomes + query.context)
    whole = factorize(graph, outcomes=wanted, treatments=frozenset(query.treatments))
    factors = [(part, recover_factor(part, graph)) for part in whole.parts]
    summed = tuple(sort_names(whole.summed))
    parts: list[Part] = [_take("sum", summed)] if summed else []
    for _, answer in factors:
        known = answer.expression
        inside = ("0 to 1",) if known is None else make_sentence(known).parts
        parts.append(Group(inside, square=True))
    shown = _divide(Sentence(tuple(part for one in parts for part in (" ", one))[1:]), base)
    claim = Sentence.of(query.formula, " lies within ", shown)
    steps = tuple(
        step.record.prefix(make_factor(part), ": ")
        for part, found in factors
        for step in found.steps
    )
    own = tuple(
        normalise(found.expression) for _, found in factors if found.expression is not None
    )
    record = RuleRecord("c-factor bound", claim, steps)
    below = None if base is None else normalise(base)
    return CFactorBound(query, below, own, summed, len(factors) - len(own), record)


def _substitute(
    query: EffectQuery, found: Substitute, base: Expression | None
) -> SubstituteBound:
    names = tuple(sort_names(found.variables))
    shown = _divide(make_sentence(found.formula), base)
    if names:
        shown = Sentence.of(_take("min/max", names), " ", shown)
    claim = Sentence.of(query.formula, " lies between " if names else " is ", shown)
    name = f"substitute {join_names(names)}" if names else "adjustment"
    record = RuleRecord(name, claim, tuple(StepRecord(str(reason)) for reason in found.reasons))
    below = None if base is None else normalise(base)
    return SubstituteBound(query, below, (normalise(found.formula),), names, len(names), record)


def _take(what: Literal["sum", "min/max"], names: Axes) -> Over:
    return Over(what, tuple(Variable(name, bare=True) for name in names))


def _divide(shown: Sentence, base: Expression | None) -> Sentence:
    return (
        shown if base is None else Sentence.of(shown, " ", Sign("/"), " ", make_sentence(base))
    )


def condition_only(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    outcome_range: tuple[float, float] | None = None,
) -> BoundTable:
    """Estimate each arm by its logged mean in each context (CP): corrects neither bias.

    Parameters
    ----------
    graph, query, log
        As in ``derive_bounds``.
    outcome_range : (float, float), optional
        Least and greatest outcome; needed unless it is 0/1.

    Returns
    -------
    BoundTable
        Intervals without width, and a caveat that they are biased estimates.
    """
    graph = require_graph(graph)
    asked = read_bandit_query(graph, query)
    given = frozenset(asked.treatments + asked.context)
    formula = P(frozenset(asked.outcomes), given, logged=graph.selection is not None)
    return _estimate(graph, asked, log, formula, CP, "neither bias is corrected", outcome_range)


def adjust_for_confounding_only(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    outcome_range: tuple[float, float] | None = None,
) -> BoundTable:
    """Estimate each arm by back-door adjustment (eq. 2) as if every row had been logged (Biased).

    The context plays no part. Where no covariates satisfy Definition 2, the whole range is left.

    Parameters
    ----------
    graph, query, log
        As in ``derive_bounds``.
    outcome_range : (float, float), optional
        Least and greatest outcome; needed unless it is 0/1.

    Returns
    -------
    BoundTable
        Intervals without width, and a caveat that they are biased estimates.
    """
    graph = require_graph(graph)
    asked = read_bandit_query(graph, query)
    everyone = graph.induced(graph.observed)
    found = find_adjustment(everyone, treatments=asked.treatments, outcomes=asked.outcomes)
    if found is None:
        return _estimate(graph, asked, log, None, BIASED, "no covariates adjust", outcome_range)
    logged, z = graph.selection is not None, found.covariates
    inner = P(frozenset(asked.outcomes), frozenset(asked.treatments) | z, logged=logged)
    formula = Sum(z, Product((inner, P(z, logged=logged)))) if z else inner
    why = f"adjusted for {join_names(z) or 'nothing'}; selection is not corrected"
    return _estimate(graph, asked, log, formula, BIASED, why, outcome_range)


def _estimate(
    graph: CausalGraph,
    query: EffectQuery,
    log: object,
    formula: Expression | None,
    profile: str,
    why: str,
    outcome_range: tuple[float, float] | None,
) -> BoundTable:
    """One formula for every arm, as intervals without width; without a formula the whole range."""
    (outcome,), axes = query.outcomes, query.treatments + query.context
    needed = frozenset(axes) | (find_variables(formula) if formula else frozenset())
    table = read_log(log).count(
        sort_names(needed - {outcome}),
        reward=outcome,
        selection=graph.selection,
        unmarked=find_possible_selection(graph, query.outcomes + axes),
    )
    low, high = settle_outcome_range([table], outcome_range)
    counts = Counts(table, outcome, low, high, has_two_values(table, low, high))
    evidence = Evidence(graph, query, counts, (counts,), Workspace.make_default())
    pair, rules = (np.zeros(()), np.ones(())), dict[str, RuleRecord]()
    if formula is not None:
        found = Probabilities(evidence).read(normalise(formula), (*axes, outcome))
        pair = found[0][..., SUCCESS], found[1][..., SUCCESS]
        claim = Sentence.of(query.formula, " is ", make_sentence(formula))
        rules[profile] = RuleRecord(profile, claim, (StepRecord(why),))
    columns = [
        np.broadcast_to(each, evidence.shape).ravel().tolist()
        for each in (
            *(low + (high - low) * end for end in pair),
            table.marginalize(axes).align(axes),
        )
    ]
    levels, n_arms = [table.levels[axis] for axis in axes], len(query.treatments)
    rule = profile if rules else RANGE
    return BoundTable(
        outcome=outcome,
        treatments=query.treatments,
        context=query.context,
        levels=dict(zip(axes, levels, strict=True)),
        outcome_range=(low, high),
        bounds={
            (key[:n_arms], key[n_arms:]): Bound(a, b, a, b, n, rule, rule)
            for key, a, b, n in zip(product(*levels), *columns, strict=True)
        },
        rules=rules,
        profile=profile,
        caveats=(
            Caveat(
                f"this is a biased estimate, not a bound: {why}", kind="critical", code="biased"
            ),
            *map(Caveat.read, table.notes),
        ),
        bins={name: table.bins[name] for name in axes if name in table.bins},
    )
