"""Which rules a profile tries, decided by the graph alone, before any row is read."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Literal, TypeAlias

from boundit.bounds.confounding.find_limited import LimitedSearch, note_limits
from boundit.bounds.confounding.limited_rule import LimitedConfounding
from boundit.bounds.confounding.limits import NO_LIMITS, ConfoundingLimits
from boundit.bounds.rules.chain import MOST_SETS, Chain, ChainSearch
from boundit.bounds.rules.factorization import factorize_effect, find_factorizations
from boundit.bounds.rules.find_reweighted import ReweightedChainSearch
from boundit.bounds.rules.natural import find_natural_bounds
from boundit.bounds.rules.nested_chain import NestedChain, find_nested_chains
from boundit.bounds.rules.reweighted_chain import ReweightedChain
from boundit.bounds.rules.reweighted_nested_chain import find_reweighted_nested_chains
from boundit.bounds.rules.reweighted_types import find_reweighted_types
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.rules.substitution import Substitution
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.estimand.criteria.relevance import shortlist
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
MAY_NARROW = "rules of more may narrow these intervals"
COUNTED = (
    "the search for rules stopped at its count of sets and formulas; others may narrow these "
    "intervals, and a graph of fewer variables is searched further"
)
MOST_FINER = 40
"""How many rules for finer contexts are kept, those with the fewest unknown laws."""
FINER_WORK = 80
"""How many nodes may be looked at for single contexts, a graph's nodes for each."""
LinkedRule: TypeAlias = Chain | NestedChain | ReweightedChain


@dataclass(frozen=True, slots=True)
class PlannedRule:
    """A rule, and what is written of it under a name that no other rule of the plan has."""

    record: RuleRecord
    rule: BoundRule


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """The rules to try for a query on a graph, and what a reader should know of the choice.

    ``hidden`` are variables that no rule may read: selection may have left one value of them.
    """

    graph: CausalGraph
    query: EffectQuery
    profile: str
    rules: tuple[PlannedRule, ...]
    notes: tuple[Note, ...] = ()
    hidden: Nodes = frozenset()
    complete: bool = False
    """Whether no limit cut the search: what its rules leave open is left by the graph."""

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

        Rules with the same name and claim are one.
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

        What they contradict can then only be the graph or stated facts.
        """
        return self.profile == "sound"

    @property
    def needs(self) -> Nodes:
        """The variables whose counts or levels its rules read; arms and contexts always."""
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
    """
    tables = tuple(tables)
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
    """
    search = ChainSearch(graph, query, tables)
    find = partial(_find_all, graph, tables, facts, limits, max_condition, budget)
    rules, cut = find(query, search)
    if not any(map(_is_formula, rules)):
        tried = frozenset[str]()
        if not cut or COUNTED not in cut:
            tried = frozenset(search.choose_variables(max_condition))
        over = list[LinkedRule]()
        for context in _list_contexts(search):
            if budget.is_over():
                break
            finer = replace(query, context=query.context + context)
            within, _ = find(finer, ChainSearch(graph, finer, tables))
            over += _go_over(search, context, within)
        new = [
            rule
            for rule in dict.fromkeys(over)
            if rule not in rules
            and not (len(names := _list_linked(rule)) <= max_condition and names <= tried)
        ]
        new.sort(key=lambda rule: (rule.n_unknown, len(rule.needs)))
        rules += new[:MOST_FINER]
        if len(new) > MOST_FINER and COUNTED not in cut:
            cut += (COUNTED,)
    late = budget.is_over()
    limit = Option("time_limit", budget.limit)
    note = Message("the search for rules stopped at ", limit, " s; what it found holds")
    notes = (note,) if late else ()
    said = note_limits(ChainSearch(graph, query, tables), limits, list(rules)) if limits else ()
    plan = BoundPlan.of(graph, query, "sound", dict.fromkeys(rules), *notes, *cut, *said)
    return replace(plan, complete=not (late or cut))


def _find_all(
    graph: CausalGraph,
    tables: Iterable[Nodes],
    facts: SelectionFacts,
    limits: ConfoundingLimits,
    max_condition: int,
    budget: TimeBudget,
    query: EffectQuery,
    whole: ChainSearch,
) -> tuple[list[BoundRule], tuple[Note, ...]]:
    """Find the rules of every kind, with every choice of tables, and notes on what cut that."""
    searches = [
        ChainSearch(graph, query, some)
        for some in (_choose_tables(tables) if graph.selection else [()])
    ]
    found = [_find_rules(each, facts, limits, max_condition, budget) for each in searches]
    by_kind = (rule for kind in zip(*found, strict=True) for rules in kind for rule in rules)
    rules = list(dict.fromkeys(by_kind))
    if any(map(_is_formula, rules)):
        return rules, ()
    if all(map(_is_idle, rules)):
        rules += whole.find_wider(longest=max_condition, budget=budget)
    return rules, tuple(_name_limits([*searches, whole], max_condition))


def _name_limits(searches: Sequence[ChainSearch], max_condition: int) -> Iterator[Note]:
    """Yield a caveat for each limit that cut the search for rules."""
    n_usable = max(len(search.usable) for search in searches)
    if n_usable > max_condition:
        limit = Option("max_condition", max_condition)
        yield Message(
            "rules go over at most ", limit, f" of {n_usable} variables; ", MAY_NARROW
        )
    if any(search.is_cut or search.solver.is_spent for search in searches):
        yield COUNTED


def _is_formula(rule: BoundRule) -> bool:
    """Tell whether a rule is an exact formula: no other can say more."""
    return isinstance(rule, Chain) and not rule.n_unknown


def _is_idle(rule: BoundRule) -> bool:
    """Tell whether a rule leaves the whole range: it reweights the reward itself, freely."""
    return any(
        rule.outcome in each.steering and not each.facts and not each.tables
        for each in rule.reweightings
    )


def _list_contexts(search: ChainSearch) -> Iterator[tuple[str, ...]]:
    """Yield what a query's contexts may be made finer by, so that no finer answer is narrower.

    All variables that no treatment moves; of a query without contexts also each alone. The mean
    in a coarse context lies between those in finer ones.
    """
    graph = search.graph
    late = graph.descendants(search.x) | search.y | search.x | search.c
    early = graph.observed - late
    if not search.c:
        chosen = shortlist(
            graph,
            early,
            outcomes=search.y,
            treatments=search.x,
            context=search.c,
            max_size=1,
            max_sets=1 + FINER_WORK // len(graph.nodes),
        )
        yield from ((node,) for node in chosen)
    every = tuple(node for node in graph.order if node in early & search.usable)
    if len(every) + len(search.c) > 1:
        yield every


def _go_over(
    search: ChainSearch, context: tuple[str, ...], within: Iterable[BoundRule]
) -> Iterator[LinkedRule]:
    """Make of rules for a finer context rules for the query: with the contexts as first links.

    Each gets its law, or its worst level counts; one that a rule does not read tells it
    nothing.
    """
    for rule in within:
        if isinstance(rule, LinkedRule):
            read, inner = rule.needs, rule
            while isinstance(inner, NestedChain):  # asked of, though no term may read it
                read |= inner.asked.treatments | inner.asked.context
                inner = inner.inner  # type: ignore[assignment]
            links = search.draw_links(tuple(node for node in context if node in read))
            yield replace(rule, query=search.query, links=(*links, *rule.links))  # type: ignore[arg-type]


def _list_linked(rule: LinkedRule) -> Nodes:
    """List the variables of a rule's links."""
    if isinstance(rule, NestedChain):
        return frozenset(link.variable for link in rule.all_links)
    return frozenset(rule.variables) - {rule.outcome}


def _find_rules(
    search: ChainSearch,
    facts: SelectionFacts,
    limits: ConfoundingLimits,
    max_condition: int,
    budget: TimeBudget,
) -> tuple[Sequence[BoundRule], ...]:
    """Find the rules of every kind that bound the query from the log and some tables.

    What comes out is a list for each kind: chains, c-factor sums, nested chains, reweighted
    chains, chains of two reweighted laws, natural bounds, response types and limited
    confounding.
    """
    graph, query, tables = search.graph, search.query, search.tables
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
    the conditions that make them hold.
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

    The order in which tables came does not matter.
    """
    held = sorted({table for table in tables if table}, key=sort_names)
    sizes = range(len(held) + 1) if len(held) <= MOST_TABLES else (0, 1, len(held))
    return [chosen for size in sizes for chosen in combinations(held, size)]
