r"""Chains: sequential bounds along an order of variables.

By the chain rule, in any order of variables ``w_1, ..., w_m``,

.. math:: P(y \mid do(x), c) = \sum_{w_1} P(w_1 \mid do(x), c) \cdots
          \sum_{w_m} P(w_m \mid do(x), c, w_{<m}) \; P(y \mid do(x), c, w)

The last factor must be known. Each of the others is known, and then its expectation is taken,
or it is not, and then the sum lies between the least and the greatest term. Going backwards
from ``y`` this gives both ends. With no variables it is exact recovery; with none
of the weights known it is the conditioning bound, and where ``P(y | do(x), c, w)`` is
``P(y | do(x, w), c)`` it is the paper's substitute intervention with its guard.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from typing import final

import numpy as np

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.numbers import Ends, Numbers, evaluate_formula
from boundit.bounds.proof import Place
from boundit.bounds.rules.claims import sum_over, take_extremes
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.formulas.evaluate import Evaluator
from boundit.counts.named_array import Floats
from boundit.estimand.criteria.relevance import shortlist
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.language.simplify import simplify
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.derivation import Identification
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.smaller import SmallerSearch
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names

MOST_SETS = 200
"""How many sets of variables are tried; on wide graphs the most relevant variables are."""
WIDE = 25
"""With more nodes, a law is read off the log even when there is no work left to solve it."""


@dataclass(frozen=True, slots=True)
class KnownFormula:
    """A formula and why it holds."""

    expression: Expression
    steps: tuple[StepRecord, ...]

    def prefix_steps(self, variable: str) -> tuple[StepRecord, ...]:
        """Return the formula's proof steps with "for W: " put before each, W the ``variable``.

        Explanations of chains then say which variable's law a step is about.
        """
        return tuple(step.prefix(f"for {variable}: ") for step in self.steps)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One variable of a chain, and its law given what comes before it if that is known."""

    variable: str
    weights: KnownFormula | None


@dataclass(frozen=True)
class Chain(BoundRule):
    """An order of variables with a known reward at the end."""

    query: EffectQuery
    links: tuple[ChainLink, ...]
    reward: KnownFormula
    called: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables summed or minimised over, one link each, in the chain's order."""
        return tuple(link.variable for link in self.links)

    @property
    def name(self) -> str:
        """The rule's name in tables, such as "conditioning on W"."""
        return name_links(self.links) if self.called is None else self.called

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: that of the reward, and the known laws of the links."""
        weights = (link.weights.expression for link in self.links if link.weights)
        return (self.reward.expression, *weights)

    @property
    def range_variables(self) -> Nodes:
        """The chain's own variables, besides the query's: all their levels must be known."""
        return frozenset(self.variables)

    @property
    def n_unknown(self) -> int:
        """How many of the chain's variables have a law of which nothing is known."""
        return sum(link.weights is None for link in self.links)

    @property
    def extremes(self) -> Nodes:
        """All the chain's variables where no law of them is known, as in a conditioning bound.

        Only the least and greatest reward over them count then, so that a confidence costs
        less.
        """
        return frozenset() if any(link.weights for link in self.links) else self.range_variables

    @property
    def array_variables(self) -> Nodes:
        """The variables at each level of which the rule keeps a number, besides the query's."""
        return self.range_variables

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim as a nested formula, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """
        shown = write_links(self.links, make_sentence(self.reward.expression))
        verb = " is " if all(link.weights for link in self.links) else " lies between "
        steps = list(self.reward.steps)
        for link in self.links:
            if link.weights:
                steps += link.weights.prefix_steps(link.variable)
        claim = Sentence.of(self.query.formula, verb, shown)
        return RuleRecord(self.name, claim, tuple(steps))

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context, backwards from the reward: known means, else the worst.

        The induction over the chain's variables ``w``: if ``L <= P(y | do(x), c, w_<=j) <= U``
        then the expectation of L over the true law of ``w_j`` is at most that of the middle,
        and is at least the least expectation over all laws that the numbers allow. Where they
        say nothing, that is the least L.
        """
        del budget  # it solves no program
        order = (*self.axes, *self.variables, self.outcome)
        low, high = numbers.read_ends(self.reward.expression, order)
        ends = Ends(low[..., SUCCESS].clip(0, 1), high[..., SUCCESS].clip(0, 1))
        return average_over_links(self.links, ends, numbers, axes=self.axes)

    def list_cells(
        self, evaluator: Evaluator, place: Place
    ) -> Iterator[tuple[dict[str, int], float]]:
        """Yield the mean rewards that a row's ends were made from, one for each cell.

        A row is an arm and context, a cell one combination of levels of the chain's variables;
        these levels come with it.
        """
        order = (*self.axes, *self.variables)
        wanted = (*order, self.outcome)
        found = evaluate_formula(self.reward.expression, evaluator, wanted).align(wanted)
        shape = [evaluator.levels[name] for name in order]
        at = np.broadcast_to(found[..., SUCCESS], shape)[place]
        return (
            (dict(zip(self.variables, index, strict=True)), float(value))
            for index, value in np.ndenumerate(at)
        )


def name_links(links: Sequence[ChainLink]) -> str:
    """Name a rule by its links (the variables of a chain): those of known law, and those not."""
    unknown = [link.variable for link in links if link.weights is None]
    known = [link.variable for link in links if link.weights is not None]
    if not links:
        return "exact recovery"
    if not unknown:
        return f"recovery through {', '.join(known)}"
    if not known:
        return f"conditioning on {join_names(unknown)}"
    everyone = ", ".join(link.variable for link in links)
    return f"sequence {everyone}, unknown {', '.join(unknown)}"


def write_links(links: Sequence[ChainLink], shown: Sentence) -> Sentence:
    """Write what a chain claims: a sum or min/max over each link, around the reward's formula.

    A link, one variable of the chain, gets a sum if its law is known, else a min/max; ``shown``
    is the reward's formula.
    """
    for link in reversed(links):
        if link.weights is None:
            shown = take_extremes([link.variable], shown)
        else:
            shown = sum_over([link.variable], make_sentence(link.weights.expression), shown)
    return shown


@final
class ChainSearch:
    """Finds the chains of one question on one graph, with some unbiased tables."""

    def __init__(
        self, graph: CausalGraph, query: EffectQuery, tables: Iterable[Nodes] = ()
    ) -> None:
        self.graph, self.query = graph, query
        self.y, self.x = frozenset(query.outcomes), frozenset(query.treatments)
        self.c = frozenset(query.context)
        self.tables = tuple(tables)
        self.solver = Solver(graph, self.tables)
        self._smaller = SmallerSearch(graph, self.solver)
        self._known: dict[tuple[str, Nodes], KnownFormula | None] = {}
        self._answered: list[Nodes] = []
        self.is_cut = False
        """Whether a count kept rules from being found, here or in a search that goes on."""

    def find_chains(self, *, longest: int, budget: TimeBudget = FOR_EVER) -> Iterator[Chain]:
        """Yield every chain of at most ``longest`` variables for the query, shortest first.

        A chain bounds the reward by going over variables one after another: a mean where a
        variable's law has a formula, else the worst level. Of orders that know the same laws
        only the first is kept. What was yielded before the ``budget`` is spent holds all the
        same.
        """
        pool = self.choose_variables(longest)
        for size in range(min(longest, len(pool)) + 1):
            for chosen in combinations(pool, size):
                if budget.is_over():
                    return
                yield from self._find_over(chosen)

    def find_wider(self, *, longest: int, budget: TimeBudget = FOR_EVER) -> Iterator[Chain]:
        """Yield chains of more than ``longest`` variables, of the first size that has any.

        One order for each set, causes first, and no more sets than of few variables.
        """
        pool = self.choose_variables(len(self.usable))
        places = {node: i for i, node in enumerate(self.graph.order)}
        for size in range(longest + 1, len(pool) + 1):
            found = False
            for chosen in combinations(sorted(pool, key=places.__getitem__), size):
                if budget.is_over():
                    return
                reward = self.recover_law(min(self.y), frozenset(chosen))
                if reward is not None:
                    found = True
                    yield Chain(self.query, self.draw_links(chosen), reward)
            if found:
                return

    def draw_links(self, order: tuple[str, ...]) -> tuple[ChainLink, ...]:
        """Make a link of each variable: with its law given those before it, if that is known."""
        return tuple(
            ChainLink(node, self.recover_law(node, frozenset(order[:i])))
            for i, node in enumerate(order)
        )

    @cached_property
    def usable(self) -> Nodes:
        """The variables that chains may go over: causes of the query's and of selection."""
        named = self.y | self.x | self.c
        selection = {self.graph.selection} - {None}
        return self.graph.ancestors(named.union(selection)) & self.graph.observed - named  # type: ignore[arg-type]

    def choose_variables(self, longest: int) -> list[str]:
        """Choose the variables chains may go over: on wide graphs only the most relevant."""
        return shortlist(
            self.graph,
            self.usable,
            outcomes=self.y,
            treatments=self.x,
            context=self.c,
            max_size=longest,
            max_sets=MOST_SETS,
        )

    def _find_over(self, chosen: tuple[str, ...]) -> Iterator[Chain]:
        """Yield the chains over the variables ``chosen``; none unless the reward has a formula.

        It must have one given the arm, the context and all of them.
        """
        given = frozenset(chosen)
        reward = self.recover_law(min(self.y), given) or self._read_off_reward(given)
        if reward is not None:
            self._answered.append(given)
            yield from (Chain(self.query, links, reward) for links in self.find_orders(chosen))

    def find_orders(self, chosen: tuple[str, ...]) -> Iterator[tuple[ChainLink, ...]]:
        """Yield the variables ``chosen`` as links, in each order that knows other laws.

        A link is a variable and the formula of its law given those before it, if there is one.
        """
        seen = set[tuple[tuple[str, Nodes], ...]]()
        for order in permutations(chosen):
            links = self.draw_links(order)
            # Neighbouring unknowns may change places: the least over both is the same.
            known = tuple(
                (link.variable, frozenset(order[:i]))
                for i, link in enumerate(links)
                if link.weights is not None
            )
            if known not in seen:
                seen.add(known)
                yield links

    def recover_law(self, node: str, before: Nodes) -> KnownFormula | None:
        """Recover a formula for ``P(node | do(x), c, before)``; None when there is none.

        Formulas are in terms of the log and the tables. Each law is looked for once.
        """
        key = (node, before)
        if key not in self._known:
            asked = Question(frozenset((node,)), self.x, self.c | before)
            found = self._smaller.find_smaller(asked, self.solver.solve(asked))
            self._known[key] = _keep_formula(found)
        return self._known[key]

    def recover_seen_law(self, node: str, given: Nodes) -> KnownFormula | None:
        """Recover a formula for ``P(node | given)``, where nothing is set by hand.

        None where selection leaves no formula. Reading it off the log takes no work of the
        solver, which may have none left on a wide graph.
        """
        asked = Question(frozenset((node,)), frozenset(), given)
        found = self.solver.read_off(asked) or self.solver.solve(asked)
        return _keep_formula(self._smaller.find_smaller(asked, found))

    def _read_off_reward(self, given: Nodes) -> KnownFormula | None:
        """Read the reward's law given some variables off the log or a table, if they show it.

        Only on a wide graph, where the solver has no work left to look for a formula, and only
        if no part of these variables gave a formula before: that bounds as well.
        """
        wide = len(self.graph.nodes) > WIDE and self.solver.is_spent
        if not wide or any(before <= given for before in self._answered):
            return None
        found = self.solver.read_off(Question(self.y, self.x, self.c | given))
        self._known[min(self.y), given] = _keep_formula(found)
        return self._known[min(self.y), given]


def _keep_formula(found: Identification) -> KnownFormula | None:
    """Keep of a recovery the formula in its simplest form and its steps; None without one."""
    if found.expression is None:
        return None
    steps = tuple(step.record for step in found.steps)
    return KnownFormula(simplify(found.expression), steps)


def average_over_links(
    links: Sequence[ChainLink], ends: Ends, numbers: Numbers, *, axes: Sequence[str]
) -> Ends:
    """Turn ends for every level of a chain's variables into ends for every row of ``axes``.

    The last variable goes first: one of known law is averaged over, of an unknown one the worst
    level is taken.
    """
    order = (*axes, *(link.variable for link in links))
    lower, upper = ends.lower, ends.upper
    for place in reversed(range(len(axes), len(order))):
        link = links[place - len(axes)]
        if link.weights is None:
            lower, upper = lower.min(axis=place), upper.max(axis=place)
        else:
            weights = numbers.read_ends(link.weights.expression, order[: place + 1])
            lower, upper = find_least_mean(*weights, lower), -find_least_mean(*weights, -upper)
    shape = [numbers.levels[axis] for axis in axes]
    return Ends(np.broadcast_to(lower, shape), np.broadcast_to(upper, shape))


def find_least_mean(low: Floats, high: Floats, values: Floats) -> Floats:
    """Find the least expectation of ``values``, along the last axis, over laws between bounds.

    Every level gets its least weight ``low``, and what is left goes to the smallest values
    first, up to ``high``.

    >>> low, high = np.array([0.2, 0.1, 0.0]), np.array([0.6, 1.0, 1.0])
    >>> float(find_least_mean(low, high, np.array([0.0, 1.0, 0.5])).round(3))
    0.25
    """
    weights, ordered = find_lowest_law(low, high, values)
    return np.asarray((weights * ordered).sum(axis=-1) / weights.sum(axis=-1))


def find_lowest_law(low: Floats, high: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Find the law between bounds that puts most on small ``values``, along the last axis.

    What comes out are its weights and the values, smallest first: no law between the bounds has
    more weight on values up to any of them.
    """
    low, high, values = np.broadcast_arrays(low.clip(0, 1), high.clip(0, 1), values)
    order = values.argsort(axis=-1)
    low, high, values = (np.take_along_axis(a, order, axis=-1) for a in (low, high, values))
    left = np.maximum(1 - low.sum(axis=-1, keepdims=True), 0)
    room = (high - low).clip(0)
    before = room.cumsum(axis=-1) - room
    weights = low + np.minimum(room, (left - before).clip(0))
    # Bounds that leave no law between them: share out, the missing rest to the smallest value.
    weights[..., :1] += (1 - weights.sum(axis=-1, keepdims=True)).clip(0)
    return weights, values
