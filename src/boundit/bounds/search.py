r"""Which chains bound a query, by the graph alone: one search over orders of variables.

For every small set of variables in every order, each link gets the best distribution that there
is: known (recovered), else reweighted (Rule 2 lets actions be read as conditions), else unknown.
The outcome given all of them is known, reweighted, tilted (a limit on confounding is stated) or
natural. What the log alone gives is tried beside what it gives with external tables, so that more
information never widens a bound; and where nothing is identified, the query is also asked in finer
contexts, so that an interval is not wider than the hull of its contexts'.

The search stops at counts, which are the same on every machine, or at a time limit; the plan says
which limit cut it. While nothing is found it widens to larger sets by itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain as concatenate
from itertools import combinations, islice, permutations

from boundit.bounds.chain import (
    Chain,
    Distribution,
    Known,
    Link,
    Meet,
    Natural,
    Reweighted,
    Tilted,
    Unknown,
    drop_idle,
)
from boundit.bounds.confounding_limits import (
    NO_LIMITS,
    ConfoundingLimits,
    describe_limit,
    name_edge,
)
from boundit.bounds.population import Reweighting
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.core.formula import Sentence, StepRecord, Term, name_variables
from boundit.core.long_work import FOR_EVER, TimeBudget
from boundit.core.message import Caveat, Note, Option
from boundit.core.names import Nodes, join_names, sort_names
from boundit.estimand.derivation import Question, may_observe_treatments, state_rule_2
from boundit.estimand.expression import simplify
from boundit.estimand.query import EffectQuery
from boundit.estimand.smaller import SmallerSearch
from boundit.estimand.solver import WORK, Solver
from boundit.estimand.substitutes import shortlist
from boundit.graph.causal_graph import CausalGraph, Edge
from boundit.graph.separation import find_boundary, open_walk
from boundit.graph.separators import smallest_separator

MAX_CONDITION = 3  # how many variables a chain goes over, unless the caller says otherwise
MAX_SETS = 200  # on wide graphs only the most relevant variables are combined
MAX_TABLES = 3  # up to so many external tables every combination is tried
MAX_REWEIGHTED = 6  # chains that reweight: each needs programs
MAX_NATURAL = 24
MAX_TILTED = 2  # sets of covariates for one limited edge
MAX_MEMBERS = 24  # chains of a finer context of which the best is taken
FINER_WORK = 80  # nodes that are looked at for finer contexts, a graph's nodes for each
UNKNOWN = Unknown()
COUNTED = Caveat(
    "rules beyond the count of sets and formulas that are searched; they may narrow these "
    "intervals, and a graph of fewer variables is searched further",
    kind="skipped",
    code="search-limit",
)


@dataclass(frozen=True)
class Plan:
    """The rules for a query by the graph alone, caveats on the search, and whether it was cut.

    ``complete``: no limit cut the search, so that what its rules leave open is left by the graph.
    """

    rules: tuple[Chain, ...]
    notes: tuple[Note, ...] = ()
    complete: bool = True


def find_chains(
    graph: CausalGraph,
    query: EffectQuery,
    tables: Iterable[Nodes] = (),
    *,
    max_condition: int | None = None,
    facts: SelectionFacts = NOTHING_KNOWN,
    limits: ConfoundingLimits = NO_LIMITS,
    budget: TimeBudget = FOR_EVER,
) -> Plan:
    """Find the chains that bound a query, each once.

    Parameters
    ----------
    graph, query
        What is asked, and of which graph.
    tables
        The variables of each external table, measured without selection.
    max_condition
        How many variables a chain goes over; the search goes beyond while it finds nothing.
    facts, limits
        What is stated of selection and of confounding.
    budget
        When to stop, whatever was found.

    Returns
    -------
    Plan
        Rules differ by what they are (links and distributions), not by their names.
    """
    longest = MAX_CONDITION if max_condition is None else max_condition
    held = sorted({table for table in tables if table}, key=sort_names)
    sizes: Iterable[int] = (
        range(len(held) + 1) if len(held) <= MAX_TABLES else (0, 1, len(held))
    )
    some = [chosen for size in sizes for chosen in combinations(held, size)]
    formulas = [Formulas(graph, chosen) for chosen in (some if graph.selection else [()])]
    search = _PlanSearch(formulas, longest, facts, limits, budget)
    chains, notes = search.find(query), list[Note]()
    if budget.is_over():
        limit = Option("time_limit", budget.limit)
        notes.append(
            Caveat(
                "part of the search for rules, because ",
                limit,
                " s was reached. The intervals are valid, but may be wider than necessary.",
                kind="skipped",
                code="time-limit",
            )
        )
    if not any(chain.is_identified for chain in chains):
        n_usable = len(search.ask(query)[-1].usable)
        if n_usable > longest:
            most = Option("max_condition", longest)
            more = f" of {n_usable} variables; they may narrow these intervals"
            notes.append(
                Caveat(
                    "rules over more than ", most, more, kind="skipped", code="max-condition"
                )
            )
        if search.is_cut or any(each.solver.is_spent for each in formulas):
            notes.append(COUNTED)
    complete = not notes
    notes += note_limits(search.ask(query)[-1], chains) if limits else ()
    return Plan(tuple(chains), tuple(notes), complete)


class Formulas:
    """Formulas for questions on one graph with some external tables, each looked for once."""

    def __init__(self, graph: CausalGraph, tables: Sequence[Nodes] = ()) -> None:
        self.graph, self.tables = graph, tuple(tables)
        self.solver = Solver(graph, self.tables, work=2 * WORK)  # for several contexts
        self._smaller = SmallerSearch(graph, self.solver)
        self._known: dict[Question, Known | None] = {}
        self.reweight = cache(partial(Reweighting.of, graph, tables=self.tables))
        """Reweights some variables, and those of the tables, by what is known of selection."""

    @cached_property
    def selecting(self) -> Nodes:
        """The observed variables that shield selection from all others."""
        return find_boundary(self.graph, str(self.graph.selection), given=self.graph.observed)

    def recover(self, asked: Question) -> Known | None:
        """A formula for a question in terms of the log and the tables, in its simplest form."""
        if asked not in self._known:
            found = self.solver.solve(asked)
            if found.expression is None and (self.solver.is_spent or not asked.treatments):
                found = self.solver.read_off(asked)  # which takes no work
            found = self._smaller.find_smaller(asked, found)
            self._known[asked] = None
            if found.expression is not None:
                steps = tuple(step.record for step in found.steps)
                self._known[asked] = Known(simplify(found.expression), steps)
        return self._known[asked]


class _PlanSearch:
    """Chains of a query with every choice of tables, and of finer contexts."""

    def __init__(
        self,
        formulas: Sequence[Formulas],
        longest: int,
        facts: SelectionFacts,
        limits: ConfoundingLimits,
        budget: TimeBudget,
    ) -> None:
        self.formulas, self.longest, self.facts = formulas, longest, facts
        self.limits, self.budget, self.graph = limits, budget, formulas[0].graph
        self.is_cut = False

    def ask(self, query: EffectQuery) -> "list[ChainSearch]":
        """One search for each choice of tables, that of all of them last."""
        return [
            ChainSearch(formulas, query, self.facts, self.limits, self.budget)
            for formulas in self.formulas
        ]

    def find(self, query: EffectQuery) -> list[Chain]:
        """Find the chains of a query; where it is not identified, in finer contexts too."""
        chains = self._find_in(query)
        if any(chain.is_identified for chain in chains):
            return chains
        plans = dict[Nodes, list[Chain]]()
        for context in self._list_contexts(query):  # the finest first
            if self.budget.is_over():
                break
            finer = replace(query, context=query.context + context)
            found = self._find_in(finer)
            plans[frozenset(context)] = self._go_over(finer, frozenset(context), plans, found)
        return self._go_over(query, frozenset(), plans, chains)

    def _find_in(self, query: EffectQuery) -> list[Chain]:
        """Find the chains of a query as it stands; wider ones where none says anything."""
        searches = self.ask(query)
        found = [search.find(self.longest) for search in searches]
        plain = concatenate.from_iterable(first for first, _ in found)
        others = concatenate.from_iterable(second for _, second in found)
        chains = list(dict.fromkeys((*plain, *others)))
        if all(map(_is_idle, chains)):
            chains += searches[-1].find_wider(self.longest)
        self.is_cut |= any(search.is_cut for search in searches)
        return chains

    def _list_contexts(self, query: EffectQuery) -> list[tuple[str, ...]]:
        """What a query's contexts may be made finer by: variables that no treatment affects.

        Sets of few of them while the count lasts, and all that matter together.
        """
        graph, named = self.graph, frozenset(query.variables)
        x = frozenset(query.treatments)
        early = graph.observed - graph.descendants(x) - named
        most = FINER_WORK // len(graph.nodes)
        pool = shortlist(
            graph,
            early,
            outcomes=frozenset(query.outcomes),
            treatments=x,
            context=frozenset(query.context),
            max_size=1,
            max_sets=1 + most,
        )
        sets = concatenate.from_iterable(
            combinations(pool, size) for size in range(1, len(pool) + 1)
        )
        every = tuple(sort_names(early & self.ask(query)[-1].usable))
        found = [*islice(sets, most), *([every] if every else [])]
        return sorted(dict.fromkeys(found), key=len, reverse=True)

    def _go_over(
        self,
        query: EffectQuery,
        own: Nodes,
        plans: dict[Nodes, list[Chain]],
        chains: list[Chain],
    ) -> list[Chain]:
        """Add to a query's chains those of finer contexts, whose variables are first links.

        The mean in a coarse context lies between those in finer ones. With the best of all chains
        in every finer context (``Meet``) no hull of theirs is narrower.
        """
        if any(chain.is_identified for chain in chains):
            return chains
        found, search = list(chains), self.ask(query)[-1]
        finer = [names for names in plans if own < names]
        for names in finer:
            within = plans[names]
            read = frozenset[str]().union(*(chain.needs for chain in within))
            if any(own < other < names for other in finer) or not read & (names - own):
                continue  # a context between the two has it, or nothing there reads it
            exact = [chain for chain in within if chain.is_identified]
            if not exact and len(within) > MAX_MEMBERS:
                within = sorted(within, key=lambda c: (c.n_unknown, len(c.needs)))[:MAX_MEMBERS]
                self.is_cut = True
            links = search.draw(tuple(v for v in self.graph.order if v in names - own))
            if len(members := exact or within) == 1:
                found.append(Chain(query, drop_idle((*links, *members[0].links))))
            elif members:
                last = Link(query.outcomes, Meet(tuple(members)))
                found.append(Chain(query, (*links, last)))
        return list(dict.fromkeys(found))


class ChainSearch:
    """The chains of one query on one graph, with some external tables.

    ``is_cut``: a count kept chains from being found.
    """

    def __init__(
        self,
        formulas: Formulas,
        query: EffectQuery,
        facts: SelectionFacts = NOTHING_KNOWN,
        limits: ConfoundingLimits = NO_LIMITS,
        budget: TimeBudget = FOR_EVER,
    ) -> None:
        self.formulas, self.graph, self.tables = formulas, formulas.graph, formulas.tables
        self.query, self.facts, self.limits, self.budget = query, facts, limits, budget
        (self.y,) = query.outcomes
        self.x, self.c = frozenset(query.treatments), frozenset(query.context)
        self._reweighted: dict[tuple[Nodes, Nodes], Reweighted | None] = {}
        self.is_cut = False

    # What is known of one distribution

    def known(self, node: str, before: Nodes) -> Known | None:
        """``P(node | do(x), c, before)``, if it is recovered."""
        return self.formulas.recover(Question(frozenset((node,)), self.x, self.c | before))

    def reweighted(self, members: Nodes, before: Nodes) -> Reweighted | None:
        """``P(members | do(x), c, before)`` of the population, where Rule 2 reads it so."""
        key = members, before
        if key not in self._reweighted:
            asked = Question(members, self.x, self.c | before)
            light, moves = self.formulas.solver.lighten(asked)
            found = None
            if may_observe_treatments(self.graph, light):
                given = find_boundary(
                    self.graph, members, given=light.treatments | light.context
                )
                term = Term(
                    "P", name_variables(members, bare=True), name_variables(given, bare=True)
                )
                seen = Sentence.of(asked.formula, " is ", term, " of the population")
                moves += (state_rule_2(self.graph, light, seen),)
                found = self.read_population(members, given, tuple(m.record for m in moves))
            self._reweighted[key] = found
        return self._reweighted[key]

    def read_population(
        self, members: Nodes, given: Nodes, steps: tuple[StepRecord, ...] = ()
    ) -> Reweighted:
        """``P(members | given)`` of the population, reweighted by what shields all selection."""
        every = members | given | self.formulas.selecting
        found = self.formulas.reweight(every, self.facts)
        return Reweighted(given, found, steps + explain_shield(self.graph, found))

    # Orders of variables

    @cached_property
    def usable(self) -> Nodes:
        """The variables that chains may go over: causes of the query's and of selection."""
        named = self.x | self.c | {self.y}
        roots = named | ({self.graph.selection} if self.graph.selection else set())
        return self.graph.ancestors(roots) & self.graph.observed - named

    def choose_variables(self, longest: int) -> list[str]:
        """The variables to combine: on wide graphs only the most relevant."""
        pool = shortlist(
            self.graph,
            self.usable,
            outcomes=frozenset((self.y,)),
            treatments=self.x,
            context=self.c,
            max_size=longest,
            max_sets=MAX_SETS,
        )
        self.is_cut |= len(pool) < len(self.usable)
        return pool

    def list_sets(self, longest: int) -> Iterator[tuple[str, ...]]:
        """Sets of variables that a chain may go over, smallest first, until time is over."""
        pool = self.choose_variables(longest)
        for size in range(min(longest, len(pool)) + 1):
            for chosen in combinations(pool, size):
                if self.budget.is_over():
                    return
                yield chosen

    def list_orders(self, chosen: Sequence[str]) -> Iterator[tuple[Link, ...]]:
        """Known and unknown links in each order that knows other distributions."""
        seen = set[frozenset[tuple[str, Nodes]]]()
        for order in permutations(chosen):
            known = [self.known(v, frozenset(order[:i])) for i, v in enumerate(order)]
            # Neighbouring unknowns may change places: the least over both is the same.
            key = frozenset(
                (v, frozenset(order[:i])) for i, v in enumerate(order) if known[i] is not None
            )
            if key not in seen:
                seen.add(key)
                pairs = zip(order, known, strict=True)
                yield tuple(Link((v,), found or UNKNOWN) for v, found in pairs)

    def draw(self, order: tuple[str, ...], earlier: tuple[str, ...] = ()) -> tuple[Link, ...]:
        """A link for each variable: known, else reweighted, else unknown."""
        links = list[Link]()
        for place, node in enumerate(order):
            before = frozenset(earlier + order[:place])
            found: Distribution | None = self.known(node, before)
            if found is None and self.graph.selection is not None:
                found = self.reweighted(frozenset((node,)), before)
            links.append(Link((node,), found or UNKNOWN))
        return tuple(links)

    def find(self, longest: int) -> tuple[list[Chain], list[Chain]]:
        """Chains without and with a reweighting, a natural or a tilted outcome."""
        plain, others = list[Chain](), list[Chain]()
        lost = list[tuple[str, ...]]()
        for chosen in self.list_sets(longest):
            outcome = self.known(self.y, frozenset(chosen))
            if outcome is None:
                lost.append(chosen)
                continue
            plain += (self._make(links, outcome) for links in self.list_orders(chosen))
        others += self._find_reweighted(longest)
        if not any(chain.is_identified for chain in plain):
            others += self._find_nested(lost, longest)
            others += self._find_natural(lost)
            if self.limits:
                others += self._find_tilted(longest)
        return plain, others

    def find_wider(self, longest: int) -> Iterator[Chain]:
        """Chains of more than ``longest`` variables, of the first size that has any.

        One order for each set, causes first, and no more sets than of few variables.
        """
        pool = self.choose_variables(len(self.usable))
        order = [node for node in self.graph.order if node in pool]
        for size in range(longest + 1, len(order) + 1):
            found = False
            for chosen in combinations(order, size):
                if self.budget.is_over():
                    return
                if (outcome := self.known(self.y, frozenset(chosen))) is not None:
                    found = True
                    known = (self.known(v, frozenset(chosen[:i])) for i, v in enumerate(chosen))
                    pairs = zip(chosen, known, strict=True)
                    yield self._make(
                        (Link((v,), distribution or UNKNOWN) for v, distribution in pairs),
                        outcome,
                    )
            if found:
                return

    def _make(self, links: Iterable[Link], outcome: Distribution) -> Chain:
        return Chain(self.query, drop_idle((*links, Link((self.y,), outcome))))

    # Reweighted chains

    def _find_reweighted(self, longest: int) -> list[Chain]:
        """The best chains with a reweighted run of variables, or a reweighted outcome."""
        if self.graph.selection is None or self.known(self.y, frozenset()):
            return []  # nothing to reweight, or nothing left to learn by it
        found, whole = dict[object, Chain](), list[Nodes]()
        for chosen in self.list_sets(longest):
            drawn = frozenset(chosen)
            if self.known(self.y, drawn) is None:
                drawn |= {self.y}
            if any(fewer < drawn for fewer in whole):
                continue  # a chain over fewer variables leaves none of them unknown
            for order in permutations(chosen):
                for chain in self._reweight(order):
                    found.setdefault(_reweighting_key(chain), chain)
                    if not _count_unknown(chain):
                        whole.append(_list_drawn(chain))
        best = list[Chain]()
        for chain in sorted(found.values(), key=_reweighting_rank):
            leaner = any(
                _list_drawn(one) < _list_drawn(chain)
                and _count_unknown(one) <= _count_unknown(chain)
                for one in best
            )
            if leaner:
                continue
            if len(best) == MAX_REWEIGHTED:
                self.is_cut = True
                break
            best.append(chain)
        return [variant for chain in best for variant in self._list_variants(chain)]

    def _reweight(self, order: tuple[str, ...]) -> Iterator[Chain]:
        outcome = self.known(self.y, frozenset(order))
        if outcome is None:
            if found := self.reweighted(frozenset((self.y,)), frozenset(order)):
                yield self._make(self.draw(order), found)
            return
        for start, end in combinations(range(len(order) + 1), 2):
            before, inside, after = order[:start], order[start:end], order[end:]
            if all(self.known(v, frozenset(order[: start + i])) for i, v in enumerate(inside)):
                continue  # recovered, so it needs no reweighting
            if found := self.reweighted(frozenset(inside), frozenset(before)):
                block = Link(tuple(sort_names(inside)), found)
                rest = self.draw(after, before + inside)
                yield self._make((*self.draw(before), block, *rest), outcome)

    def _list_variants(self, chain: Chain) -> Iterator[Chain]:
        """A chain, and again reweighted by fewer variables: it reads fewer cells.

        Their shields differ, so that either may be the narrower.
        """
        yield chain
        links = list[Link]()
        for link in chain.links:
            found = link.distribution
            if isinstance(found, Reweighted):
                own = Reweighting.of(self.graph, found.given.union(link.variables), self.facts)
                if len(own.shield) <= len(found.reweighting.shield):
                    found = replace(found, reweighting=own)
            links.append(Link(link.variables, found))
        if tuple(links) != chain.links:
            yield replace(chain, links=tuple(links))

    # Treatments that became irrelevant, natural and tilted outcomes

    def _find_nested(self, lost: Iterable[tuple[str, ...]], longest: int) -> Iterator[Chain]:
        """Chains in which a treatment that became irrelevant is drawn as it came.

        Given some links the question may no longer name an arm (that of a front door, once its
        mediator is given): its natural value, ``X'``, is then a variable like any other.
        """
        n_found = 0
        for chosen in lost:
            given = frozenset(chosen)
            asked = Question(frozenset((self.y,)), self.x, self.c | given)
            light, _ = self.formulas.solver.lighten(asked)
            gone = self.x - light.variables
            if not gone or not given <= light.variables:
                continue
            treatments, context = map(sort_names, (light.treatments, light.context))
            query = EffectQuery((self.y,), tuple(treatments), tuple(context))
            inner = ChainSearch(self.formulas, query, budget=self.budget)
            renamed = tuple(
                (v, f"{v}'") for v in sort_names((self.x | self.c) - light.variables)
            )
            for more in inner.list_sets(longest - len(chosen)):
                outcome = (
                    inner.known(self.y, frozenset(more)) if gone.intersection(more) else None
                )
                if outcome is None:
                    continue
                if n_found >= MAX_NATURAL:
                    self.is_cut = True
                    return
                for first in self.list_orders(chosen):
                    for second in inner.list_orders(more):
                        n_found += 1
                        later = (*second, Link((self.y,), outcome))
                        links = (*first, *(rename(link, renamed) for link in later))
                        yield Chain(self.query, drop_idle(links))

    def _find_natural(self, lost: Iterable[tuple[str, ...]]) -> list[Chain]:
        """Chains whose outcome has no formula: the arms are taken as they came (Manski)."""
        found = list[Chain]()
        for chosen in lost:
            if self.budget.is_over():
                break
            given = frozenset(chosen)
            whole = Question(frozenset((self.y,)), self.x, self.c | given)
            light, steps = self.formulas.solver.lighten(whole)
            if not given <= light.variables:
                continue  # a variable that the lighter question does not name adds nothing
            taken = list(self._take_arms(light, tuple(step.record for step in steps)))
            if not chosen:  # what the lighter question dropped may still say who got the arm
                taken += self._take_arms(whole, ())
            if taken and len(found) >= MAX_NATURAL:
                self.is_cut = True
                break
            for each in dict.fromkeys(taken):
                found += (self._make(links, each) for links in self.list_orders(chosen))
        return found

    def _take_arms(self, asked: Question, steps: tuple[StepRecord, ...]) -> Iterator[Natural]:
        """The fewest arms taken as they came, whose joint distribution with y is known."""
        # Let A be the arms taken, R those set, Q those seen, and g the context. If
        #   (1) (Y _||_ Q | A, R, g) without edges into A and R and out of Q (Rule 2 for Y), and
        #   (2) no descendant of A is in g or Q, in the graph without edges into R alone,
        # then E[f(Y) | do(a, r, q), g] = E[f(Y_a) | q, g] under do(r), and f(Y_a) = f(Y) where
        # A = a. Proof: (1) gives E[f(Y) | do(a, r), q, g]. In the model under do(r), by (2)
        # setting A changes neither Q nor g: the units that are given are the same, so this is
        # E[f(Y_a) | q, g]. Where A = a nothing was changed (consistency). Q may be an effect of
        # R, and edges into Q must stay: it is seen, so that an effect of A on it counts.
        reweight = self.graph.selection is not None and bool(self.facts or self.tables)
        own_arms = sort_names(asked.treatments & self.x)  # others were set by Rule 2
        for size in range(1, len(own_arms) + 1):
            any_found = False
            for taken in combinations(own_arms, size):
                arms, rest = frozenset(taken), asked.treatments.difference(taken)
                for seen in dict.fromkeys((frozenset[str](), rest)):
                    if not self._may_take(arms, rest - seen, seen, asked.context):
                        continue
                    members, given = arms | {self.y}, asked.context | seen
                    joint: Known | Reweighted | None
                    joint = self.formulas.recover(Question(members, rest - seen, given))
                    if joint is None and reweight and seen == rest:
                        own = find_boundary(self.graph, members, given=given)
                        joint = self.read_population(members, own)
                    if joint is not None:
                        any_found = True
                        names = join_names(taken)
                        said = (
                            f"consistency: rows whose {names} came as the arm show its outcome; "
                            "of the others nothing is known"
                        )
                        yield Natural(taken, joint, (*steps, StepRecord(said), *joint.steps))
            if any_found:
                return

    def _may_take(self, arms: Nodes, set_: Nodes, seen: Nodes, given: Nodes) -> bool:
        """Whether ``arms`` may be taken as they came, with others set and others seen."""
        cut = self.graph.without_edges_into(set_) if set_ else self.graph
        if cut.descendants(arms) & (given | seen):
            return False
        return not seen or self._may_see(self.y, seen, arms | set_, given)

    def _may_see(self, target: str, seen: Nodes, done: Nodes, given: Nodes) -> bool:
        """Whether treatments may be observed instead of set, for one variable (Rule 2)."""
        known = seen | done | given
        return not seen & find_boundary(self.graph, target, given=known, into=done, out_of=seen)

    def _find_tilted(self, longest: int) -> Iterator[Chain]:
        """Chains over covariates that leave nothing open between arm and target but a limited edge.

        The target is the outcome, or a variable on its way given which the outcome is known. What
        holds whatever is known of selection is tried too: facts never widen a bound.
        """
        for facts in dict.fromkeys((self.facts, NOTHING_KNOWN)):
            search = ChainSearch(self.formulas, self.query, facts, self.limits, self.budget)
            for edge, limit in self.limits.entries:
                for arm, target in (edge, edge[::-1]):
                    late = self.graph.descendants(self.x | {target})
                    if arm in self.x and target not in self.x | self.c and not self.c & late:
                        yield from search.tilt(arm, target, limit, longest)

    def tilt(self, arm: str, target: str, limit: float, longest: int) -> Iterator[Chain]:
        """Chains with the fewest covariates; one of unknown distribution keeps no other out."""
        late = self.graph.descendants(self.x | {target})
        kept: dict[bool, list[Nodes]] = {False: [], True: []}
        separator = self._find_separator(arm, target)
        first = [] if separator is None else [tuple(sort_names(separator - self.c))]
        for chosen in (*(s for s in first if len(s) <= longest), *self.list_sets(longest)):
            own = frozenset(chosen)
            if own & late or any(before <= own for before in kept[True]):
                continue
            if (chain := self._tilt(arm, target, limit, chosen)) is None:
                continue
            same = kept[chain.n_unknown == 0]
            if not any(before <= own for before in same):
                if len(same) == MAX_TILTED:
                    self.is_cut = True
                    continue
                same.append(own)
                yield chain

    def _tilt(
        self, arm: str, target: str, limit: float, chosen: tuple[str, ...]
    ) -> Chain | None:
        given, rest = self.c.union(chosen), self.x - {arm}
        done = frozenset((arm,))
        if rest and (
            self.graph.descendants(arm) & rest or not self._may_see(target, rest, done, given)
        ):
            return None
        if self._find_fault(arm, target, given | rest) is not None:
            return None
        propensity = self._observe((arm,), given | rest)
        observed = self._observe((target,), given | self.x)
        after = None
        if target != self.y:
            after = self.known(self.y, frozenset((*chosen, target)))
        if propensity is None or observed is None or (target != self.y and after is None):
            return None
        known = [
            self.formulas.recover(
                Question(frozenset((v,)), frozenset(), self.c.union(chosen[:i]))
            )
            for i, v in enumerate(chosen)
        ]
        links = tuple(
            Link((v,), distribution or UNKNOWN)
            for v, distribution in zip(chosen, known, strict=True)
        )
        if not all(known) and (block := self._observe(chosen, self.c)):
            links = (Link(tuple(sort_names(chosen)), block),)
        edge = (arm, target) if arm <= target else (target, arm)
        by = f" by {join_names(given)}" if given else ""
        step = StepRecord(
            f"without {name_edge(edge)}, {arm} and {target} are separated{by} "
            f"once the edges out of {arm} are cut"
        )
        said = describe_limit(arm, edge, limit)
        tilted = Tilted(arm, limit, propensity, observed, edge, said, (step,))
        if after is None:
            return self._make(links, tilted)
        return self._make((*links, Link((target,), tilted)), after)

    def _cut(self, arm: str, target: str) -> CausalGraph:
        """The graph without the limited edge, and without edges out of its treatment."""
        edge = (arm, target) if arm <= target else (target, arm)
        rest = CausalGraph.of(
            self.graph.nodes,
            directed=self.graph.directed,
            bidirected=self.graph.bidirected - {edge},
            selection=self.graph.selection,
        )
        return rest.without_edges_out_of(arm)

    def _find_separator(self, arm: str, target: str) -> Nodes | None:
        """The fewest covariates that leave nothing open but the limited edge."""
        late = self.graph.descendants(self.x | {target})
        pool = self.graph.observed - late - self.x - {self.y}
        return smallest_separator(
            self._cut(arm, target), arm, target, include=self.c, within=pool
        )

    def _find_fault(self, arm: str, target: str, given: Nodes) -> str | None:
        """Why a limit says nothing of an arm and its target; None where all conditions hold."""
        walk = open_walk(self._cut(arm, target), arm, target, given=given - {target})
        if walk is not None:
            return f"{' '.join(walk)} is open besides it"
        # A limit is stated given all that was observed before the arm; that it holds given less
        # asks that what is left out is independent of the hidden cause.
        early = self.graph.observed - self.graph.descendants({arm, target}) - given
        links = self.graph.links
        if shared := early.intersection(links[arm].siblings, links[target].siblings):
            return f"{join_names(shared)} may share the hidden cause of {arm} and {target}"
        return None

    def _observe(self, members: tuple[str, ...], given: Nodes) -> Known | Reweighted | None:
        """``P(members | given)`` with nothing set: a formula, or the population's."""
        own = frozenset(members)
        asked = Question(own, frozenset(), given)
        if len(own) == 1 and (known := self.formulas.recover(asked)):
            return known
        if self.graph.selection is None or not own or not (self.facts or self.tables):
            return None
        return self.read_population(own, find_boundary(self.graph, own, given=given))

    def explain_unused(self, edge: Edge) -> str:
        """Say why a limit on an edge is of no use for the query."""
        arms, targets = sort_names(self.x & {*edge}), sort_names({*edge} - self.x)
        if not arms:
            return f"neither {edge[0]} nor {edge[1]} is a treatment"
        if not targets:
            return "both are treatments"
        (arm,), (target,) = arms, targets
        if target in self.c:
            return f"{target} is a context"
        if late := self.graph.descendants(self.x | {target}) & self.c:
            return f"the context {join_names(late)} is an effect of {target}"
        rest = self.c.union(self.x - {arm})
        fault = self._find_fault(arm, target, rest - self.graph.descendants(arm))
        if fault is not None:
            found = self._find_separator(arm, target) if "is open" in fault else None
            more = f", and {join_names(found - self.c)} would close it" if found else ""
            return fault + more
        if self._observe((arm,), self.c) is None:
            return f"selection hides the distribution of {arm}"
        if self._observe((target,), self.x | self.c) is None:
            return f"selection hides the distribution of {target} given {arm}"
        return "a formula that the rule needs was not found"


def note_limits(search: ChainSearch, chains: Iterable[Chain]) -> Iterator[Note]:
    """Yield a caveat for every limit on confounding: what it assumes, or why it is of no use."""
    every = [one for chain in chains for one in chain.unfold()]
    tilted = [link.distribution for chain in every for link in chain.links]
    used = {(each.edge, each.arm) for each in tilted if isinstance(each, Tilted)}
    for edge, limit in search.limits.entries:
        if arms := sort_names({arm for own, arm in used if own == edge}):
            said = "; ".join(describe_limit(arm, edge, limit) for arm in arms)
            yield Caveat(said, kind="assumes", code="confounding-limit")
        else:
            identified = any(chain.is_identified for chain in every)
            why = f"{search.query} has a formula without it"
            if not identified:
                why = search.explain_unused(edge)
            yield Caveat(
                f"the limit {limit:g} on {name_edge(edge)} was not used: {why}",
                code="unused-limit",
            )


def rename(link: Link, renamed: tuple[tuple[str, str], ...]) -> Link:
    """Call some treatments of a link by the names of their natural values."""
    found = link.distribution
    if isinstance(found, Known):
        own = tuple(pair for pair in renamed if pair[0] in found.expression.free)
        found = replace(found, renamed=own)
    names = dict(renamed)
    return Link(tuple(names.get(v, v) for v in link.variables), found)


def explain_shield(graph: CausalGraph, reweighting: Reweighting) -> tuple[StepRecord, ...]:
    """The step that the shield separates selection from all other variables."""
    known = sort_names(reweighting.shield)
    others = sort_names(reweighting.variables - reweighting.shield)
    if not known or not others:
        return ()
    said = (
        f"Rule 1: given {join_names(known)}, selection is independent of {join_names(others)}"
    )
    return (StepRecord(said, ((str(graph.selection),), tuple(others)), tuple(known)),)


def _is_idle(chain: Chain) -> bool:
    """Whether a chain leaves the whole range: it reweights the outcome itself, freely."""
    found = chain.last.reweightings
    return any(each.is_free and chain.outcome in each.shield for each in found)


def _count_unknown(chain: Chain) -> int:
    return sum(len(link.variables) for link in chain.links if link.is_unknown)


def _reweighting_key(chain: Chain) -> object:
    """Equal for chains that reweight in the same way, whatever their order."""
    known = frozenset(
        link.variables for link in chain.links[:-1] if isinstance(link.distribution, Known)
    )
    blocks = frozenset(
        (frozenset(link.variables), link.distribution.given)
        for link in chain.links
        if isinstance(link.distribution, Reweighted)
    )
    return _list_drawn(chain), known, blocks


def _list_drawn(chain: Chain) -> Nodes:
    """The variables that a chain goes over: the outcome too, unless it is known given them."""
    known = isinstance(chain.links[-1].distribution, Known)
    return frozenset(chain.variables[:-1] if known else chain.variables)


def _reweighting_rank(chain: Chain) -> tuple[int, int, int, bool]:
    last = isinstance(chain.links[-1].distribution, Reweighted)
    blocks = sum(isinstance(link.distribution, Reweighted) for link in chain.links)
    return _count_unknown(chain), len(_list_drawn(chain)), blocks, last
