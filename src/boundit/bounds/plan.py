"""Which rules bound a query: found by the graph, chosen by graph and levels, never by outcomes.

Counts must play no part in the choice, or a confidence would not hold.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from boundit.bounds.caveats import note_columns, note_refused
from boundit.bounds.confounding_limits import NO_LIMITS, ConfoundingLimits
from boundit.bounds.inference.base import Rule
from boundit.bounds.program.rule import find_program
from boundit.bounds.request import Profile
from boundit.bounds.search import find_chains
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.message import Note
from boundit.core.names import Nodes
from boundit.counts.errors import TooLarge
from boundit.counts.memory import Workspace
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.separation import open_walk
from boundit.results.bound import RuleRecord

FEW_COLUMNS = 12
"""Up to so many columns a log is counted for all rules, whatever their levels."""
RANKED_COLUMNS, MANY_COLUMNS = 16, 24
"""How many columns are counted at most beyond the best rule, with and without a confidence."""
MOST_RULES = 3


@dataclass(frozen=True)
class BoundPlan:
    """The rules to try for a query, and what a reader should know of the choice.

    ``hidden`` are variables that no rule may read: selection may have left one value of them.
    ``complete``: no limit cut the search, so that what its rules leave open is left by the graph.
    """

    graph: CausalGraph
    query: EffectQuery
    profile: str
    rules: tuple[Rule, ...]
    notes: tuple[Note, ...] = ()
    hidden: Nodes = frozenset()
    complete: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether all rules are proved: what they contradict is the graph or stated facts."""
        return self.profile == "sound"

    @property
    def needs(self) -> Nodes:
        """The variables that are counted; arms and contexts always."""
        own = frozenset(self.query.treatments + self.query.context)
        return own.union(*(rule.needs for rule in self.rules))

    @cached_property
    def records(self) -> dict[Rule, RuleRecord]:
        """The record of each rule under a name that no other rule has."""
        return record_rules(self.rules)

    def keep(self, rules: Iterable[Rule], *notes: Note) -> "BoundPlan":
        """The same plan with some of its rules and more notes."""
        kept = set(rules)
        return replace(
            self,
            rules=tuple(rule for rule in self.rules if rule in kept),
            notes=(*self.notes, *notes),
        )

    def list_left_out(self, after: "BoundPlan") -> list[str]:
        """The names of rules that another plan does not have."""
        return [record.name for rule, record in self.records.items() if rule not in after.rules]


def record_rules(rules: Iterable[Rule]) -> dict[Rule, RuleRecord]:
    """The record of each rule, numbered where several have one name."""
    found, seen = dict[Rule, RuleRecord](), dict[str, int]()
    for rule in rules:
        record = rule.reason
        n = seen[record.name] = seen.get(record.name, 0) + 1
        found[rule] = record if n == 1 else replace(record, name=f"{record.name} #{n}")
    return found


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
    """Choose the rules of a profile for a query; ``tables`` are measured without selection."""
    tables = tuple(tables)
    if profile == "paper":
        from boundit.bounds.paper import plan_paper  # noqa: PLC0415

        return BoundPlan(
            graph,
            query,
            profile,
            *plan_paper(graph, query, tables, max_condition=max_condition),
        )
    found = find_chains(
        graph,
        query,
        tables,
        max_condition=max_condition,
        facts=facts,
        limits=limits,
        budget=budget,
    )
    rules: tuple[Rule, ...] = found.rules
    if not any(rule.is_identified for rule in rules):
        program = find_program(graph, query, tables, facts)
        rules += (program,) if program is not None else ()
    return BoundPlan(graph, query, profile, rules, found.notes, complete=found.complete)


def choose_columns(plan: BoundPlan, levels: Mapping[str, int], *, confident: bool) -> BoundPlan:
    """Keep the rules of a large plan that the log is counted for.

    The best ones are kept whatever they need, others while few columns are needed in all.
    """
    ranked = sorted(plan.rules, key=lambda rule: rule.rank(levels))
    kept = ranked[: MOST_RULES if confident else 1]
    needed = Nodes().union(*(rule.needs for rule in kept))
    for rule in ranked[len(kept) :]:
        if len(needed | rule.needs) <= (RANKED_COLUMNS if confident else MANY_COLUMNS):
            kept, needed = [*kept, rule], needed | rule.needs
    chosen = plan.keep(kept)
    gone = plan.list_left_out(chosen)
    if not gone or plan.complete:
        return chosen
    return replace(chosen, notes=(*plan.notes, note_columns(gone)))


def drop_too_large(
    plan: BoundPlan, levels: Mapping[str, int], workspace: Workspace
) -> BoundPlan:
    """Drop rules with a table that would not fit into memory, before anything is counted."""
    kept, refused = list[Rule](), dict[str, BaseException]()
    for rule in plan.rules:
        try:
            for term in rule.terms:
                workspace.require_cells(prod(levels[name] for name in term.free), term.free)
        except TooLarge as error:
            refused[plan.records[rule].name] = error
        else:
            kept.append(rule)
    return plan.keep(kept, *note_refused(refused))


def keep_smallest(plan: BoundPlan, n_rules: int) -> BoundPlan:
    """Keep the rules that need the fewest columns."""
    return plan.keep(sorted(plan.rules, key=lambda r: (len(r.needs), r.n_unknown))[:n_rules])


def drop_hidden(
    plan: BoundPlan, levels: Mapping[str, int], unselected: Iterable[Iterable[str]] = ()
) -> BoundPlan:
    """Drop the rules that read a variable whose other levels selection may have filtered out."""
    found = find_hidden(plan.graph, plan.query, levels, map(tuple, unselected))
    if not found:
        return plan
    hidden = plan.hidden | found
    return replace(
        plan.keep(rule for rule in plan.rules if not rule.needs & hidden), hidden=hidden
    )


def find_hidden(
    graph: CausalGraph,
    query: EffectQuery,
    levels: Mapping[str, int],
    unselected: Iterable[Collection[str]] = (),
) -> Nodes:
    """Find the variables with one level whose other levels selection may have filtered out.

    ``levels`` says how many there are, ``unselected`` which variables each external table has.
    A cause of selection is one, and so is what goes with selection in any way, but for what is
    asked about: rules take that as it was logged. No rule can reckon with levels that were not
    declared: one that reads such a variable would take the part of the population that was kept
    for all of it. An unselected table that has the variable shows all its levels.
    """
    if graph.selection is None:
        return frozenset()
    single = {name for name, n in levels.items() if n == 1 and name in graph.observed}
    single = single.difference(*unselected)
    asked = {*query.outcomes, *query.treatments, *query.context}
    return frozenset(
        name
        for name in single
        if name in graph.selecting()
        or (name not in asked and open_walk(graph, name, graph.selection) is not None)
    )
