"""Which rules a profile tries, decided by the graph alone, before any row is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

from boundit.bounds.confounding.find_limited import LimitedSearch, note_limits
from boundit.bounds.confounding.limited_rule import LimitedConfounding
from boundit.bounds.confounding.limits import NO_LIMITS, ConfoundingLimits
from boundit.bounds.rules.chain import MOST_SETS, ChainSearch
from boundit.bounds.rules.factorization import factorize_effect, find_factorizations
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.rules.natural import find_natural_bounds
from boundit.bounds.rules.nested_chain import find_nested_chains
from boundit.bounds.rules.reweighted_nested_chain import find_reweighted_nested_chains
from boundit.bounds.rules.reweighted_types import find_reweighted_types
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.rules.substitution import Substitution
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.estimand.criteria.substitutes import find_substitutes
from boundit.estimand.language.expression import Expression, P
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import RuleRecord
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.message import Message, Note, Option
from boundit.terms.names import Nodes, sort_names

Profile: TypeAlias = Literal["sound", "paper"]
MOST_TABLES = 3
"""Up to how many unbiased tables every combination of them is tried."""


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """A rule, and what is written of it under a name that no other rule of the plan has."""

    record: RuleRecord
    rule: BoundRule


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """The rules to try for a query on a graph, and what a reader should know of the choice."""

    graph: CausalGraph
    query: EffectQuery
    profile: str
    rules: tuple[PlannedRule, ...]
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls,
        graph: CausalGraph,
        query: EffectQuery,
        profile: str,
        rules: Iterable[BoundRule],
        *notes: Note,
    ) -> "BoundPlan":
        """Make a plan of rules: each once, and numbered where several go by one name.

        Rules with the same name and claim are one. Called by ``plan_sound``, ``plan_paper`` and
        the baselines.
        """
        planned = list[PlannedRule]()
        for rule in rules:
            record = rule.write_record()
            same = [p.record for p in planned if p.record.name.split(" #")[0] == record.name]
            if all(other.claim != record.claim for other in same):
                name = record.name + (f" #{len(same) + 1}" if same else "")
                planned.append(PlannedRule(replace(record, name=name), rule))
        return cls(graph, query, profile, tuple(planned), notes)

    @property
    def is_sound(self) -> bool:
        """Whether all its rules are proved, unlike the paper's printed ones and the baselines.

        What they contradict can then only be the graph or stated facts. Read by
        ``intersect_rules`` and ``_bound_contrasts``.
        """
        return self.profile == "sound"

    @property
    def needs(self) -> Nodes:
        """The variables whose counts or levels its rules read; arms and contexts always.

        Read by ``count_for``, which counts these columns of the log.
        """
        own = frozenset(self.query.treatments + self.query.context)
        return own.union(*(planned.rule.needs for planned in self.rules))


def plan_bounds(
    graph: CausalGraph,
    query: EffectQuery,
    *,
    profile: Profile = "sound",
    tables: Iterable[Nodes] = (),
    max_condition: int = 3,
    budget: TimeBudget = FOR_EVER,
    facts: SelectionFacts = NOTHING_KNOWN,
    limits: ConfoundingLimits = NO_LIMITS,
) -> BoundPlan:
    """Choose the rules of a profile for a query; ``tables`` are measured without selection.

    ``count_for`` then counts what the plan reads, and ``assemble`` makes a table of both.
    Called by ``plan_request``, and by audits that have exact laws.
    """
    if profile == "paper":
        return plan_paper(graph, query, tables, max_condition=max_condition)
    return plan_sound(
        graph,
        query,
        tables,
        max_condition=max_condition,
        budget=budget,
        facts=facts,
        limits=limits,
    )


def plan_sound(
    graph: CausalGraph,
    query: EffectQuery,
    tables: Iterable[Nodes] = (),
    *,
    max_condition: int = 3,
    budget: TimeBudget = FOR_EVER,
    facts: SelectionFacts = NOTHING_KNOWN,
    limits: ConfoundingLimits = NO_LIMITS,
) -> BoundPlan:
    """Plan every rule that is proved to hold, for ``assemble`` to intersect.

    These are chains (exact formulas, conditioning and substitutes, one variable after another)
    and the sum of c-factors of Theorem 3, if its reward has a formula. Where no formula
    is found, programs and chains within chains are tried too, and the log is reweighted by what
    is known of selection; ``limits`` on hidden confounding allow for a rule more. The search
    ends with the ``budget``.

    What the log alone gives is tried beside what it gives with the tables, and with some of
    them, so that more information never widens a bound: with all of them another formula may
    be found, and that may ask for cells that nobody saw.

    Called by ``plan_bounds`` for profile ``"sound"``.
    """
    found = [
        _find_rules(graph, query, some, facts, limits, max_condition, budget)
        for some in (_choose_tables(tables) if graph.selection else [()])
    ]
    by_kind = (rule for kind in zip(*found, strict=True) for rules in kind for rule in rules)
    rules, late = dict.fromkeys(by_kind), budget.is_over()
    limit = Option("time_limit", budget.limit)
    note = Message("the search for rules stopped at ", limit, " s; what it found holds")
    notes = (note,) if late else ()
    said = note_limits(ChainSearch(graph, query, tables), limits, list(rules)) if limits else ()
    return BoundPlan.of(graph, query, "sound", rules, *notes, *said)


def _find_rules(
    graph: CausalGraph,
    query: EffectQuery,
    tables: tuple[Nodes, ...],
    facts: SelectionFacts,
    limits: ConfoundingLimits,
    max_condition: int,
    budget: TimeBudget,
) -> tuple[Sequence[BoundRule], ...]:
    """Find the rules of every kind that bound the query from the log and some tables.

    What comes out is a list for each kind: chains, c-factor sums, nested chains, reweighted
    chains, chains of two reweighted laws, natural bounds, response types and limited
    confounding. Called by ``plan_sound`` for each choice of tables.
    """
    search = ChainSearch(graph, query, tables)
    chains = list(search.find_chains(longest=max_condition, budget=budget))
    sums = find_factorizations(graph, query, tables, budget=budget)
    has_formula = any(all(link.weights for link in chain.links) for chain in chains)
    nested = (
        []
        if has_formula
        else list(find_nested_chains(search, longest=max_condition, budget=budget))
    )
    types = (
        [] if has_formula else find_reweighted_types(graph, query, facts, tables, budget=budget)
    )
    reweighting = ReweightedChainSearch(graph, query, facts, tables, search=search)
    reweighted = reweighting.find_chains(longest=max_condition, budget=budget)
    joint = (
        []
        if has_formula
        else find_reweighted_nested_chains(search, facts, longest=max_condition, budget=budget)
    )
    natural = find_natural_bounds(graph, query, facts, tables, budget=budget)
    limited = list[LimitedConfounding]()
    if limits and not has_formula:
        # What holds whatever is known of selection is tried too: facts never widen a bound.
        for known in dict.fromkeys((facts, NOTHING_KNOWN)):
            limiting = LimitedSearch(search, limits, known)
            limited += limiting.find_rules(longest=max_condition, budget=budget)
    by_law = [natural] if natural else []
    return chains, sums, nested, reweighted, joint, by_law, types, limited


def plan_paper(
    graph: CausalGraph, query: EffectQuery, tables: Iterable[Nodes], *, max_condition: int
) -> BoundPlan:
    """Plan the paper's bounds (BCE, Algorithm 1) as printed, which can miss the truth.

    The rules are Theorem 3's sum of c-factors, and Theorem 4's substitutes by FindRSI without
    the conditions that make them hold. Called by ``plan_bounds`` for profile ``"paper"``.
    """
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
        max_sets=MOST_SETS,
    )
    substitutions = [Substitution(query, substitute, base) for substitute in found]
    rules = [factorize_effect(graph, query, base), *substitutions]
    return BoundPlan.of(graph, query, "paper", rules, *notes)


def _choose_tables(tables: Iterable[Nodes]) -> list[tuple[Nodes, ...]]:
    """List the sets of external tables to try, none first and all last.

    The order in which tables came does not matter. Called by ``plan_sound``, which looks for
    rules with each set.
    """
    held = sorted({table for table in tables if table}, key=sort_names)
    sizes = range(len(held) + 1) if len(held) <= MOST_TABLES else (0, 1, len(held))
    return [chosen for size in sizes for chosen in combinations(held, size)]
