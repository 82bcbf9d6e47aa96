r"""Where both biases meet: natural bounds on a reweighted log.

Something unseen moves arm and reward, and rows were selected. Whoever got arm ``x`` by himself
shows what it earns; of everybody else nothing is known. So for some arms ``A``, all else given,

.. math:: E^*[Y\,1(A{=}a) \mid g] \;\le\; E[Y \mid do(a), g]
          \;\le\; E^*[1 - (1 - Y)\,1(A{=}a) \mid g]

where ``g`` are the context and the arms that may as well be seen, none of them caused by ``A``.
Both means are those of the population, which is the log reweighted: their ends are linear
programs over what is known of selection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.lp.fractional import AttainedEnd, Expectation
from boundit.bounds.lp.population import Populations
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.numbers import UNFINISHED, Ends, Numbers
from boundit.bounds.proof import Place, WorstPopulation
from boundit.bounds.rules.claims import write_population_law, write_reweighting
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.selection_facts import SelectionFacts
from boundit.counts.named_array import Floats
from boundit.estimand.language.expression import Expression
from boundit.estimand.query import EffectQuery
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names, sort_names


@dataclass(frozen=True)
class NaturalBounds(BoundRule):
    """Which arms are taken as they came, and the law of these and the reward given the rest."""

    query: EffectQuery
    chosen: Nodes
    block: ReweightedBlock

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The terms that the reweighting reads off the log and the tables."""
        return self.block.reweighting.formulas

    @property
    def range_variables(self) -> Nodes:
        """The variables of the reweighting besides the query's: all their levels must be known."""
        return self.block.reweighting.variables - {self.outcome, *self.axes}

    @property
    def n_unknown(self) -> int:
        """How many treatments are taken as they came in the log, instead of being set."""
        return len(self.chosen)

    @property
    def reweightings(self) -> tuple[Reweighting, ...]:
        """By what the log is reweighted to undo selection, and the facts that limit it.

        It is one entry.
        """
        return (self.block.reweighting,)

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim (Manski's bounds of ``P*``), and the steps.

        ``P*`` is the law of the population. A bound table keeps the record and explains its
        ends by it.
        """
        y, law = self.outcome, self.block.reweighting
        arms, chosen = join_names(self.chosen), sort_names(self.chosen)
        claim = Sentence.of(
            self.query.formula,
            " lies between ",
            write_population_law((y, *chosen), self.block.given),
            " and that plus 1 - ",
            write_population_law(chosen, self.block.given),
            write_reweighting([law.steering], law.statement),
        )
        return RuleRecord(f"natural bounds on {arms}, reweighted", claim, self.block.steps)

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context by two linear programs over populations.

        They go over all populations that the selected log leaves possible; who came with
        another arm may earn anything.
        """
        block = self.block
        expectation = Expectation(Populations(block.reweighting, numbers), block, budget)
        lower, upper = (
            np.empty([numbers.levels[axis] for axis in self.axes]) for _ in range(2)
        )
        if expectation.populations.has_too_many_cells:
            return Ends(np.zeros_like(lower), np.ones_like(upper))
        known = dict[tuple[tuple[str, int], ...], tuple[AttainedEnd, AttainedEnd]]()
        proofs = dict[tuple[Place, bool], WorstPopulation | None]()
        for place in np.ndindex(*lower.shape):
            at = dict(zip(self.axes, place, strict=True))
            given = expectation.select_given(place, self.axes)
            key = tuple(sorted((given | {name: at[name] for name in self.chosen}).items()))
            if key not in known:
                low, high = self._weigh_cells(at, numbers)
                solve = expectation.solve_greatest
                known[key] = solve(-low, given), solve(high, given)
            least, most = known[key]
            lower[place], upper[place] = -least.end, most.end
            proofs[place, False], proofs[place, True] = least.population, most.population
        notes = (UNFINISHED,) if expectation.late else ()
        return Ends(
            lower, upper, proof=lambda place, end: proofs.get((place, end)), notes=notes
        )

    def _weigh_cells(self, at: dict[str, int], numbers: Numbers) -> tuple[Floats, Floats]:
        """Give each cell of treatments and outcome its worth for the lower and the upper end.

        Who came with the arm ``at`` counts its reward in both; all others count 0 and 1.
        """
        names = self.block.variables
        shape = [2 if name == self.outcome else numbers.levels[name] for name in names]
        low, high = np.zeros(shape), np.ones(shape)
        own = [slice(None) if name == self.outcome else at[name] for name in names]
        reward = np.zeros(2)
        reward[SUCCESS] = 1.0
        low[tuple(own)] = high[tuple(own)] = reward
        return low, high


def find_natural_bounds(
    graph: CausalGraph,
    query: EffectQuery,
    facts: SelectionFacts,
    tables: Sequence[Nodes],
    *,
    budget: TimeBudget = FOR_EVER,
) -> NaturalBounds | None:
    """Find the natural-bounds rule that takes the fewest treatments as they came in the log.

    Natural bounds: who chose the arm shows its reward, all others may earn 0 or 1. None if no
    treatment is confounded with the reward, or nothing is known of selection.

    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> bow = parse("X -> Y; X <-> Y; A -> Y; X -> [S]")
    >>> asked = parse_query("Y | do(X, A)")
    >>> found = find_natural_bounds(bow, asked, SelectionFacts((0.5, 0.5)), ())
    >>> sorted(found.chosen), sorted(found.block.given)
    (['X'], ['A'])
    """
    if graph.selection is None or not (facts or tables):
        return None
    x, c, y = frozenset(query.treatments), frozenset(query.context), frozenset(query.outcomes)
    for size in range(len(x) + 1):
        for arms in map(frozenset, combinations(sort_names(x), size)):
            if budget.is_over():
                return None
            rest = c | (x - arms)
            if not (graph.descendants(arms) & rest if arms else ()) and _may_be_seen(
                graph, y, x - arms, done=arms, given=c
            ):
                return _make_natural_rule(graph, query, arms, facts, tables) if arms else None
    return None


def _may_be_seen(
    graph: CausalGraph, y: Nodes, seen: Nodes, *, done: Nodes, given: Nodes
) -> bool:
    """Tell whether the treatments ``seen`` may be observed instead of set (Rule 2).

    ``done`` are set by hand.
    """
    return not seen & find_boundary(graph, y, given=seen | done | given, into=done, out_of=seen)


def _make_natural_rule(
    graph: CausalGraph,
    query: EffectQuery,
    arms: Nodes,
    facts: SelectionFacts,
    tables: Sequence[Nodes],
) -> NaturalBounds:
    """Make the rule that takes the treatments ``arms`` as they came, given the other ones.

    It gives natural bounds on the reweighted log.
    """
    members = arms.union(query.outcomes)
    given = frozenset(query.context + query.treatments) - arms
    relevant = find_boundary(graph, members, given=given)
    steering = find_boundary(graph, str(graph.selection), given=graph.observed)
    law = Reweighting.from_graph(graph, members | relevant | steering, facts, tables)
    shown = (
        f"whoever got {join_names(arms)} shows what it earns; of the others nothing is known"
    )
    steps = (StepRecord(shown), *law.steps)
    block = ReweightedBlock(tuple(sort_names(members)), relevant, law, steps)
    return NaturalBounds(query, arms, block)
