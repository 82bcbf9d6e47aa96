"""Which rules rest on a limit on hidden confounding, by the graph alone.

The edge that a limit is on must be all that is open between a treatment and what it is
confounded with, its target: without the edge, some covariates ``z`` and the context separate
the two once the arrows out of the treatment are cut. Nothing that is given is an effect of a
treatment. A limit is stated given all that was observed before the treatment; that it holds
given less asks that what is left out tells nothing of the unseen cause, so that no variable
left out may share unseen causes with both.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf
from typing import final

from boundit.bounds.confounding.laws import Law
from boundit.bounds.confounding.limited_rule import LimitedConfounding, TakenTreatment
from boundit.bounds.confounding.limits import ConfoundingLimits, describe_limit, name_edge
from boundit.bounds.lp.reweighting import ReweightedBlock, Reweighting
from boundit.bounds.rules.chain import ChainLink, ChainSearch
from boundit.bounds.rules.rule import BoundRule
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.graph.boundary import find_boundary
from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.graph.separation import open_walk
from boundit.graph.separators import smallest_separator
from boundit.terms.bound import StepRecord
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.message import Note
from boundit.terms.names import Nodes, join_names, sort_names

MOST_COVARIATES = 2
"""How many sets of covariates are kept for a target, the smallest ones."""


@final
class LimitedSearch:
    """Finds the rules that limits on confounding allow, for one question on one graph."""

    def __init__(
        self,
        search: ChainSearch,
        limits: ConfoundingLimits,
        facts: SelectionFacts = NOTHING_KNOWN,
    ) -> None:
        self.search, self.limits, self.facts = search, limits, facts
        self.graph, self.query = search.graph, search.query
        (self.y,) = search.query.outcomes
        self.x, self.c = search.x, search.c

    def find_rules(
        self, *, longest: int, budget: TimeBudget = FOR_EVER
    ) -> list[LimitedConfounding]:
        """List the rules for every target that a limited edge joins to a treatment.

        Covariates are at most ``longest``, fewest first, and none that others are part of.
        """
        targets = sort_names(
            end
            for edge, _ in self.limits.entries
            for end in edge
            if self.x.intersection(edge) and end not in self.x | self.c
        )
        return [
            rule
            for target in dict.fromkeys(targets)
            for rule in self._find_for(target, longest, budget)
        ]

    def _find_for(
        self, target: str, longest: int, budget: TimeBudget
    ) -> Iterator[LimitedConfounding]:
        """Yield the rules for one target, those of the smallest sets of covariates.

        Where the law of a covariate is unknown its worst level counts; such a rule stands in no
        other's way.
        """
        late = self.graph.descendants(self.x | {target})
        if self.c & late:
            return
        known, unknown = list[Nodes](), list[Nodes]()
        for chosen in self._list_covariates(target, late, longest):
            if budget.is_over() or len(known) == MOST_COVARIATES:
                return
            own = frozenset(chosen)
            if any(before <= own for before in known):
                continue
            if (rule := self._make_rule(target, chosen)) is None:
                continue
            found = unknown if rule.n_unknown else known
            if len(found) < MOST_COVARIATES and not any(before <= own for before in found):
                found.append(own)
                yield rule

    def _list_covariates(
        self, target: str, late: Nodes, longest: int
    ) -> Iterator[tuple[str, ...]]:
        """List sets of covariates to try, fewest first, none of them ``late``.

        Of wide graphs not all are listed; one that separates is, if it is small enough.
        """
        pool = [name for name in self.search.choose_variables(longest) if name not in late]
        separators = [
            tuple(sort_names(found - self.c))
            for arm in sort_names(self.x)
            if self.limits.find(arm, target)
            and (found := self._find_separator(arm, target)) is not None
        ]
        for size in range(longest + 1):
            yield from (found for found in separators if len(found) == size)
            yield from combinations(pool, size)

    def _find_separator(self, treatment: str, target: str) -> Nodes | None:
        """Find the fewest covariates that leave nothing open but the edge of a limit.

        The context is among them. None where there are none.
        """
        late = self.graph.descendants(self.x | {target})
        return smallest_separator(
            self._cut(treatment, target),
            treatment,
            target,
            include=self.c,
            within=self.graph.observed - late - self.x - {self.y},
        )

    def _cut(self, treatment: str, target: str) -> CausalGraph:
        """Cut the edge of a limit, and the arrows out of its treatment."""
        edge = (treatment, target) if treatment <= target else (target, treatment)
        rest = CausalGraph.of(
            self.graph.nodes,
            directed=self.graph.directed,
            bidirected=self.graph.bidirected - {edge},
            selection=self.graph.selection,
        )
        return rest.without_edges_out_of(treatment)

    def _make_rule(self, target: str, covariates: tuple[str, ...]) -> LimitedConfounding | None:
        """Make the rule with some covariates; None where a condition or a formula is missing."""
        given = self.c.union(covariates)
        taken = self._choose_taken(target, given)
        law = self._find_law((target,), self.x | given) if taken else None
        if not taken or law is None:
            return None
        reward = None
        if target != self.y:
            reward = self.search.recover_law(self.y, frozenset((*covariates, target)))
            if reward is None:
                return None
        links = self._weigh_covariates(covariates)
        steps = tuple(self._write_step(each, target, given) for each in taken)
        return LimitedConfounding(self.query, links, target, law, taken, reward, steps)

    def _choose_taken(self, target: str, given: Nodes) -> tuple[TakenTreatment, ...] | None:
        """Choose the fewest treatments that are taken as they came; the rest may be seen.

        None where no choice has a limit that is of use, and laws with formulas. A target other
        than the reward takes one treatment alone.
        """
        most = len(self.x) if target == self.y else 1
        for size in range(1, most + 1):
            for chosen in combinations(self._order(self.x), size):
                done = frozenset(chosen)
                rest = self.x - done
                if self.graph.descendants(done) & rest:
                    continue
                if rest and not self._may_be_seen(target, rest, done=done, given=given):
                    continue
                return self._take(chosen, target, given | rest)
        return None

    def _order(self, names: Nodes) -> list[str]:
        """List variables with causes before effects."""
        return [name for name in self.graph.order if name in names]

    def _may_be_seen(self, target: str, seen: Nodes, *, done: Nodes, given: Nodes) -> bool:
        """Tell whether treatments may be observed instead of set, for the target (Rule 2)."""
        known = seen | done | given
        return not seen & find_boundary(self.graph, target, given=known, into=done, out_of=seen)

    def _take(
        self, chosen: Sequence[str], target: str, given: Nodes
    ) -> tuple[TakenTreatment, ...] | None:
        """Take treatments one after another, each with its law and, where it counts, its limit.

        None where no limit counts, or some law has no formula.
        """
        limits = [
            self._find_limit(name, target, given.union(chosen[:i]), chosen[i + 1 :])
            for i, name in enumerate(chosen)
        ]
        if not any(limits):
            return None
        taken = list[TakenTreatment]()
        for place, (name, limit) in enumerate(zip(chosen, limits, strict=True)):
            law = self._find_law((name,), given.union(chosen[:place]))
            if law is None:
                return None
            edge = ((name, target) if name <= target else (target, name)) if limit else None
            taken.append(TakenTreatment(name, law, edge, limit or inf))
        return tuple(taken)

    def _find_limit(
        self, treatment: str, target: str, given: Nodes, later: Sequence[str]
    ) -> float | None:
        """Find the limit on a treatment and its target, if it counts given some variables."""
        limit = self.limits.find(treatment, target)
        if limit is None or self._find_fault(treatment, target, given, later):
            return None
        return limit

    def _find_fault(
        self, treatment: str, target: str, given: Nodes, later: Sequence[str]
    ) -> str | None:
        """Find why a limit says nothing of a treatment and its target, given some variables.

        ``later`` treatments are set by hand. None where all conditions hold.
        """
        cut = self._cut(treatment, target).without_edges_into(later)
        walk = open_walk(cut, treatment, target, given=given.union(later) - {target})
        if walk is not None:
            return f"{' '.join(walk)} is open besides it"
        early = self.graph.observed - self.graph.descendants({treatment, target}) - given
        links = self.graph.links
        shared = early.intersection(links[treatment].siblings, links[target].siblings)
        if shared:
            names = join_names(shared)
            return f"{names} may share the unseen cause of {treatment} and {target}"
        return None

    def _find_law(self, members: tuple[str, ...], given: Nodes) -> Law | None:
        """Find the population's law of variables as they came: a formula, or a reweighted log.

        None where selection hides it and nothing is known of selection.
        """
        if len(members) == 1 and (known := self.search.recover_seen_law(members[0], given)):
            return known
        if not (self.facts or self.search.tables):
            return None
        graph, own = self.graph, frozenset(members)
        relevant = find_boundary(graph, own, given=given)
        steering = find_boundary(graph, str(graph.selection), given=graph.observed)
        law = Reweighting.from_graph(
            graph, own | relevant | steering, self.facts, self.search.tables
        )
        return ReweightedBlock(tuple(sort_names(own)), relevant, law)

    def _weigh_covariates(
        self, covariates: tuple[str, ...]
    ) -> tuple[ChainLink | ReweightedBlock, ...]:
        """Give each covariate its law given the context and those before.

        Where some have no formula, all are one block of a reweighted log; if nothing is known
        of selection, their laws are unknown.
        """
        laws = [
            self.search.recover_seen_law(name, self.c.union(covariates[:i]))
            for i, name in enumerate(covariates)
        ]
        if not all(laws):
            block = self._find_law(tuple(sort_names(covariates)), self.c)
            if isinstance(block, ReweightedBlock):
                return (block,)
        return tuple(ChainLink(name, law) for name, law in zip(covariates, laws, strict=True))

    def _write_step(self, taken: TakenTreatment, target: str, given: Nodes) -> StepRecord:
        """Write why the limited edge is all that is open, as a step of the rule's record."""
        if taken.edge is None:
            return StepRecord(f"of those with another {taken.name} nothing is assumed")
        by = f" by {join_names(given)}" if given else ""
        return StepRecord(
            f"without {name_edge(taken.edge)}, {taken.name} and {target} are separated{by} "
            f"once the arrows out of {taken.name} are cut"
        )

    def explain_unused(self, edge: Edge) -> str:
        """Say why a limit on an edge is of no use for the question."""
        arms = sort_names(self.x.intersection(edge))
        targets = sort_names(frozenset(edge) - self.x)
        if not arms:
            return f"neither {edge[0]} nor {edge[1]} is a treatment"
        if not targets:
            return "both are treatments"
        (arm,), (target,) = arms, targets
        if target in self.c:
            return f"{target} is a context"
        late = self.graph.descendants(self.x | {target}) & self.c
        if late:
            return f"the context {join_names(late)} is an effect of {target}"
        rest = self.c.union(self.x - {arm})
        fault = self._find_fault(arm, target, rest - self.graph.descendants(arm), ())
        if fault is not None:
            found = self._find_separator(arm, target) if "is open" in fault else None
            more = f", and {join_names(found - self.c)} would close it" if found else ""
            return fault + more
        if self.search.recover_seen_law(arm, self.c) is None:
            return f"selection hides the law of {arm}"
        if self.search.recover_seen_law(target, self.x | self.c) is None:
            return f"selection hides the law of {target} given {arm}"
        return "a formula that the rule needs was not found"


def note_limits(
    search: ChainSearch, limits: ConfoundingLimits, rules: Sequence[BoundRule]
) -> Iterator[Note]:
    """Yield a caveat for every limit: what it assumes, or why it is of no use."""
    limited = [rule for rule in rules if isinstance(rule, LimitedConfounding)]
    known = any(not (r.n_unknown or r.reweightings) for r in rules if r not in limited)
    for edge, limit in limits.entries:
        names = _list_limited(limited, edge)
        if names:
            said = "; ".join(describe_limit(name, edge, limit) for name in names)
            yield f"given that {said}"
        else:
            why = f"{search.query} has a formula without it"
            if not known:
                why = LimitedSearch(search, limits).explain_unused(edge)
            yield f"the limit {limit:g} on {name_edge(edge)} was not used: {why}"


def _list_limited(rules: Sequence[LimitedConfounding], edge: Edge) -> list[str]:
    """List the treatments for which rules use the limit on an edge."""
    taken = (each for rule in rules for each in rule.taken)
    return sort_names({each.name for each in taken if each.edge == edge})
