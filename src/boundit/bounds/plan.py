"""Which rules a profile tries, decided by the graph alone, before any row is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal, TypeAlias

from boundit.bounds.candidate import (
    Candidate,
    from_chain,
    from_natural,
    from_reweighted,
    from_stage,
    from_substitution,
    from_sum,
    from_types,
)
from boundit.bounds.rules import chain as chains
from boundit.bounds.rules.factorization import Factorization, factorization
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.rules.natural import NaturalReweighted, natural_reweighted
from boundit.bounds.rules.nested_chain import NestedChain, staged
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_types import TypesReweighted, types_reweighted
from boundit.bounds.rules.substitution import Substitution
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.bounds.time_budget import TimeBudget
from boundit.estimand.criteria.substitutes import find_substitutes
from boundit.estimand.language.expression import Expression, P
from boundit.estimand.language.simplify import simplify
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.message import Message, Note, Option
from boundit.terms.names import Nodes, sort_names

Profile: TypeAlias = Literal["sound", "paper"]
MOST_TABLES = 3
"""Up to how many unbiased tables every combination of them is tried."""


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """The rules to try, and what a reader should know of how they were chosen.

    ``graph`` is what they hold on; without it nothing is said of what can be learned online.
    """

    candidates: tuple[Candidate, ...]
    notes: tuple[Note, ...] = ()
    clock: TimeBudget = field(default_factory=lambda: TimeBudget(None))
    graph: CausalGraph | None = None

    @classmethod
    def of(
        cls,
        candidates: Iterable[Candidate],
        *notes: Note,
        clock: TimeBudget | None = None,
        graph: CausalGraph | None = None,
    ) -> "BoundPlan":
        """Number rules that go by one name but claim different formulas."""
        named = list[Candidate]()
        for candidate in candidates:
            same = [c for c in named if c.rule.name.split(" #")[0] == candidate.rule.name]
            if all(c.rule.claim != candidate.rule.claim for c in same):
                name = candidate.rule.name + (f" #{len(same) + 1}" if same else "")
                named.append(replace(candidate, rule=replace(candidate.rule, name=name)))
        return cls(tuple(named), notes, clock or TimeBudget(None), graph)


def sound_plan(
    graph: CausalGraph,
    query: EffectQuery,
    tables: Iterable[Nodes],
    *,
    max_condition: int,
    time_limit: float | None,
    facts: SelectionFacts = NOTHING_KNOWN,
) -> BoundPlan:
    """Exact recovery, conditioning, guarded substitutes and sequences; and Theorem 3's sum.

    Where no formula is found, programs and chains within chains are tried too, and the log is
    reweighted by what is known of selection. They get as many seconds again as the search.

    What the log alone gives is tried beside what it gives with the tables, and with some of
    them, so that more information never widens a bound: with all of them another formula may
    be found, and that may ask for cells that nobody saw.
    """
    searching = TimeBudget(time_limit)
    found: dict[chains.Chain, None] = {}
    sums: dict[Factorization, None] = {}
    stages: dict[NestedChain, None] = {}
    weighed = dict[ReweightedChain, None]()
    naturals = dict[NaturalReweighted, None]()
    typed = dict[TypesReweighted, None]()
    for external in _some_of(tables) if graph.selection else [()]:
        planner = chains.ChainSearch(graph, query, external)
        chained = list(planner.chains(longest=max_condition, budget=searching))
        found |= dict.fromkeys(chained)
        sums |= dict.fromkeys(_sound_sums(graph, query, external))
        formula = any(all(link.weights for link in chain.links) for chain in chained)
        if not formula:
            rules = staged(planner, longest=max_condition, budget=searching)
            stages |= dict.fromkeys(rules)
            typed |= dict.fromkeys(types_reweighted(graph, query, facts, external))
        weigher = ReweightedChainSearch(graph, query, facts, external)
        weighed |= dict.fromkeys(weigher.chains(longest=max_condition, budget=searching))
        if natural := natural_reweighted(graph, query, facts, external):
            naturals[natural] = None
    clock = TimeBudget(time_limit)
    candidates = [
        *(from_chain(chain, graph, query) for chain in found),
        *map(from_sum, sums),
        *(from_stage(stage, query, clock) for stage in stages),
        *(from_reweighted(chain, graph, query, clock) for chain in weighed),
        *(from_natural(natural, query, clock) for natural in naturals),
        *(from_types(types, query, clock) for types in typed),
    ]
    late = searching.is_over()
    limit = Option("time_limit", time_limit)
    note = Message("the search for rules stopped at ", limit, " s; what it found holds")
    return BoundPlan.of(candidates, *((note,) if late else ()), clock=clock, graph=graph)


def paper_plan(
    graph: CausalGraph, query: EffectQuery, tables: Iterable[Nodes], *, max_condition: int
) -> BoundPlan:
    """BCE as printed (Algorithm 1): Theorem 3, and Theorem 4 with FindRSI unguarded."""
    context, held = frozenset(query.context), tuple(tables)
    base: Expression | None = None
    notes = ["profile 'paper' follows the printed method, whose bounds can miss the truth"]
    if context:
        external = any(context <= table for table in held)
        base = P(context, logged=graph.selection is not None and not external)
        if base.logged:
            notes.append("P(context) was read from the selected rows, not the population")
    found = find_substitutes(
        graph,
        outcomes=query.outcomes,
        treatments=query.treatments,
        context=query.context,
        form="paper",
        tables=held,
        max_size=max_condition,
        max_sets=chains.MOST_SETS,
    )
    substitutions = [Substitution(query, substitute, base) for substitute in found]
    return BoundPlan.of(
        [
            from_sum(factorization(graph, query, base)),
            *map(from_substitution, substitutions),
        ],
        *notes,
    )


def _some_of(tables: Iterable[Nodes]) -> list[tuple[Nodes, ...]]:
    """List the sets of tables to try, none first and all last, whatever order they came in."""
    held = sorted({table for table in tables if table}, key=sort_names)
    sizes = range(len(held) + 1) if len(held) <= MOST_TABLES else (0, 1, len(held))
    return [chosen for size in sizes for chosen in combinations(held, size)]


def _sound_sums(
    graph: CausalGraph, query: EffectQuery, tables: tuple[Nodes, ...]
) -> list[Factorization]:
    """Theorem 3's sum, which holds when ``P(c)`` is that of the population."""
    base: Expression | None = None
    if query.context:
        found = Solver(graph, tables).solve(Question(frozenset(query.context)))
        if found.expression is None:
            return []
        base = simplify(found.expression)
    sums = factorization(graph, query, base)
    (outcome,) = query.outcomes
    known = any(outcome in part and answer for part, answer in sums.factors)
    return [sums] if known else []
