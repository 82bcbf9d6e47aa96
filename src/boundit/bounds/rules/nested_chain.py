"""Chains that end in something bracketed: a program, or a chain for a lighter question.

A chain of variables ``w`` ends in ``P(y | do(x), c, w)``. Where that has no formula, the
do-calculus may make it a lighter question, ``P(y | do(x'), b)``, and there

- a response-type program brackets it (``boundit.bounds.rules.response_program``), or
- a treatment has become irrelevant (the arm of a front door, once its mediator is given), so
  that its natural value may be conditioned on like any other variable: a chain within.

Either way the ends go back through the outer chain as ever.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import assert_never, final

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.binary_reward import SUCCESS
from boundit.bounds.numbers import LEFT_OUT, UNFINISHED, Ends, Numbers
from boundit.bounds.proof import EndProof, Place
from boundit.bounds.rules.chain import (
    ChainLink,
    ChainSearch,
    KnownFormula,
    average_over_links,
    name_links,
)
from boundit.bounds.rules.claims import enclose, sum_over, take_extremes
from boundit.bounds.rules.find_response_programs import SearchBudget, find_response_programs
from boundit.bounds.rules.response_program import (
    ProgramEnds,
    ProgramLayout,
    ResponseProgram,
    solve_program,
)
from boundit.bounds.rules.rule import BoundRule
from boundit.counts.named_array import Floats, NamedArray
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.notation import make_sentence
from boundit.estimand.query import EffectQuery
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.solver import Solver
from boundit.terms.bound import RuleRecord, StepRecord
from boundit.terms.formula import Sentence
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names, sort_names

MOST_NESTED = 24
"""How many of these rules are tried, those with the fewest variables first."""
_CHAINS = 6  # what looking for chains within costs, counted in programs


@dataclass(frozen=True)
class NestedChain(BoundRule):
    """A chain, and what brackets its last factor, the answer to the lighter ``asked``."""

    query: EffectQuery
    links: tuple[ChainLink, ...]
    asked: Question
    inner: "ResponseProgram | KnownFormula | NestedChain"

    @property
    def formulas(self) -> tuple[Expression, ...]:
        """The formulas read off counts: known laws of links, and what bounds the reward."""
        own = tuple(link.weights.expression for link in self.links if link.weights)
        match self.inner:
            case KnownFormula(expression, _):
                return (expression, *own)
            case ResponseProgram() | NestedChain():
                return self.inner.formulas + own
            case _:
                assert_never(self.inner)

    @property
    def range_variables(self) -> Nodes:
        """The variables of all links and of the program at the end, besides the outcome.

        All their levels must be known.
        """
        variables = frozenset(link.variable for link in self.all_links)
        if isinstance(self.core, ResponseProgram):
            variables |= frozenset(self.core.inside + self.core.varied) - {self.outcome}
        return variables

    @property
    def extremes(self) -> Nodes:
        """The variables of all links where no law is known and the chain ends in a formula.

        Only the least and greatest number over them count then, so that a confidence costs
        less.
        """
        known = any(link.weights for link in self.all_links)
        if known or isinstance(self.core, ResponseProgram):
            return frozenset()
        return frozenset(link.variable for link in self.all_links)

    @property
    def all_links(self) -> tuple[ChainLink, ...]:
        """The links of this chain, then those of the chain within it, if there is one."""
        within = self.inner.all_links if isinstance(self.inner, NestedChain) else ()
        return self.links + within

    @property
    def core(self) -> ResponseProgram | KnownFormula:
        """What bounds the reward at the end of the innermost chain.

        It is a formula, or a linear program over response types.
        """
        return self.inner.core if isinstance(self.inner, NestedChain) else self.inner

    @property
    def n_unknown(self) -> int:
        """How many laws are unknown: those of links, and that of types if a program ends it."""
        unknown = sum(link.weights is None for link in self.all_links)
        return unknown + isinstance(self.core, ResponseProgram)

    @property
    def shared_program(self) -> ResponseProgram | None:
        """The response-type program whose one law of types answers for all arms, or None.

        None where links come first, and for natural bounds, which say no more of two arms than
        of each.
        """
        core = self.inner
        if self.links or not isinstance(core, ResponseProgram) or core.is_natural:
            return None
        return core

    @property
    def array_variables(self) -> Nodes:
        """The variables at each level of which the rule keeps a number, besides the query's."""
        return frozenset(link.variable for link in self.all_links)

    def write_record(self) -> RuleRecord:
        """Write the rule's name, its claim as a nested formula, and the steps that prove it.

        A bound table keeps the record and explains its ends by it.
        """
        shown, steps = _write_claim(self)
        if not self.links and self.asked == _make_question(self.query):
            steps = steps[1:]  # nothing became lighter
        name = [name_links(self.links)] if self.links else []
        name += [name_links(self.inner.links)] if isinstance(self.inner, NestedChain) else []
        name += [_name_program(self.core)] if isinstance(self.core, ResponseProgram) else []
        claim = Sentence.of(self.query.formula, " lies between ", shown)
        return RuleRecord(", then ".join(name), claim, steps)

    def find_ends(self, numbers: Numbers, budget: TimeBudget = FOR_EVER) -> Ends:
        """Bound every arm and context: first the reward, then backwards over the links.

        A formula, a program or an inner chain bounds the reward given the links (the chain's
        variables).
        """
        return self.find_ends_over(self.axes, numbers, budget)

    def find_ends_over(self, axes: Sequence[str], numbers: Numbers, budget: TimeBudget) -> Ends:
        """Bound the chain at every level of ``axes``, the variables that are given before it."""
        order = (*axes, *(link.variable for link in self.links))
        match self.inner:
            case ResponseProgram() as program:
                return self._find_program_ends(program, axes, numbers, budget)
            case KnownFormula(expression, _):
                low, high = numbers.read_ends(expression, (*order, self.outcome))
                ends = Ends(low[..., SUCCESS].clip(0, 1), high[..., SUCCESS].clip(0, 1))
                return average_over_links(self.links, ends, numbers, axes=axes)
            case NestedChain() as chain:
                own = sort_names(self.asked.treatments | self.asked.context)
                within = chain.find_ends_over(own, numbers, budget)
                ends = Ends(
                    _move_axes(within.lower, own, order), _move_axes(within.upper, own, order)
                )
                empty = self._spread_empty(within.empty, own, axes, numbers)
                back = average_over_links(self.links, ends, numbers, axes=axes)
                return Ends(back.lower, back.upper, empty, None, within.notes)
            case _:
                assert_never(self.inner)

    def _find_program_ends(
        self,
        program: ResponseProgram,
        axes: Sequence[str],
        numbers: Numbers,
        budget: TimeBudget,
    ) -> Ends:
        """Bound the chain by the response-type program at its end, averaged over its links.

        The program bounds the reward at each level of the links (the chain's variables).
        """
        order = (*axes, *(link.variable for link in self.links))
        found = solve_program(ProgramLayout(program, numbers.levels), numbers, budget)
        ends = Ends(
            _move_axes(found.lower, found.axes, order),
            _move_axes(found.upper, found.axes, order),
        )
        back = average_over_links(self.links, ends, numbers, axes=axes)
        notes = [UNFINISHED] * found.unfinished + [LEFT_OUT] * found.left_out
        proof = None if self.links else partial(_look_up_proof, found, tuple(axes))
        empty = self._spread_empty(found.empty, found.axes, axes, numbers)
        return Ends(back.lower, back.upper, empty, proof, tuple(notes))

    def _spread_empty(
        self,
        empty: NDArray[np.bool_] | None,
        own: Sequence[str],
        axes: Sequence[str],
        numbers: Numbers,
    ) -> NDArray[np.bool_] | None:
        """Tell for each row over ``axes`` whether some program behind it has no feasible point.

        No model of the graph fits the numbers there. ``empty`` says so over the program's
        ``own`` axes.
        """
        if empty is None or not empty.any():
            return None
        order = (*axes, *(link.variable for link in self.links))
        moved = _move_axes(empty.astype(np.float64), own, order)
        over = tuple(range(len(axes), len(order)))
        shape = [numbers.levels[axis] for axis in axes]
        return np.broadcast_to(moved.max(axis=over) > 0, shape)


def _make_question(query: EffectQuery) -> Question:
    """Turn a query, whose variables are in order, into a question, whose variables are sets."""
    treatments, context = frozenset(query.treatments), frozenset(query.context)
    return Question(frozenset(query.outcomes), treatments, context)


def _name_program(program: ResponseProgram) -> str:
    """Name a response-type program in tables, by its variables with types and instruments."""
    if program.is_natural:
        return f"natural bounds of {join_names(program.inside)}"
    across = f" across {join_names(program.varied)}" if program.varied else ""
    return f"program over {join_names(program.inside)}{across}"


def _write_claim(rule: NestedChain) -> tuple[Sentence, tuple[StepRecord, ...]]:
    """Write what a nested chain claims, as a formula, and the steps that prove it.

    The steps of its inner chain come first.
    """
    inner = rule.inner
    if isinstance(inner, NestedChain):
        shown, steps = _write_claim(inner)
    elif isinstance(inner, KnownFormula):
        shown, steps = make_sentence(inner.expression), inner.steps
    else:
        every = f" at every {join_names(inner.varied)}" if inner.varied else ""
        law, steps = make_sentence(inner.law), inner.steps
        asked = Sentence.of("the least and the greatest ", rule.asked.formula)
        shown = Sentence.of(asked, " that agree with ", law, every)
    for link in reversed(rule.links):
        if link.weights is None:
            shown = take_extremes([link.variable], enclose(shown))
        else:
            shown = sum_over([link.variable], make_sentence(link.weights.expression), shown)
            steps += link.weights.prefix_steps(link.variable)
    question = Sentence.of("by the do-calculus the question is ", rule.asked.formula)
    return shown, (StepRecord(question), *steps)


def find_nested_chains(
    search: ChainSearch, *, longest: int, budget: TimeBudget = FOR_EVER
) -> Iterator[NestedChain]:
    """Yield chains that end in a program or in a chain within, those of fewest variables first.

    They serve queries whose reward has no formula: a chain goes over variables one after
    another, and a response-type program, or another chain for a question with fewer actions and
    conditions, bounds what is left.

    >>> from boundit.bounds.rules.chain import ChainSearch
    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> front_door = parse("X -> M -> Y; X <-> Y; M -> [S]")
    >>> search = ChainSearch(front_door, parse_query("Y | do(X)"))
    >>> for found in find_nested_chains(search, longest=2):
    ...     print([link.variable for link in found.all_links], found.asked)
    ['M', 'X'] P(Y | do(M))
    """
    within = _NestedSearch(search, budget)
    found = 0
    for links, light in _find_open_ends(search, longest, budget):
        if found >= MOST_NESTED or budget.is_over():
            search.is_cut = True
            return
        inner: list[ResponseProgram | NestedChain] = [*within.find_programs(light)]
        if not search.x <= light.treatments:
            inner += within.find_chains(light, longest - len(links))
        found += len(inner)
        yield from (NestedChain(search.query, links, light, each) for each in inner)
        search.is_cut |= within.is_spent


def _find_open_ends(
    search: ChainSearch, longest: int, budget: TimeBudget
) -> Iterator[tuple[tuple[ChainLink, ...], Question]]:
    """Yield the links and the open question of chains whose reward has no formula.

    The question is the law ``P(y | do(x), c, w)`` of the reward given the links ``w``, without
    the actions and conditions that the do-calculus drops.
    """
    pool = search.choose_variables(longest)
    for size in range(min(longest, len(pool)) + 1):
        for chosen in combinations(pool, size):
            if budget.is_over():
                return
            given = frozenset(chosen)
            if search.recover_law(min(search.y), given) is not None:
                continue
            whole = Question(search.y, search.x, search.c | given)
            light, _ = search.solver.lighten(whole)
            # A variable that the light question does not name adds nothing.
            if given <= light.variables:
                for links in search.find_orders(chosen):
                    yield links, light


@final
class _NestedSearch:
    """The programs and inner chains of one search; each light question is looked at once."""

    def __init__(self, search: ChainSearch, budget: TimeBudget) -> None:
        self.search, self._budget = search, budget
        self._solver = Solver(search.graph, search.tables)
        self._effort = SearchBudget(search.graph)
        self._programs: dict[Question, list[ResponseProgram]] = {}
        self._chains: dict[tuple[Question, int], list[NestedChain]] = {}

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left to spend on further programs and chains."""
        return self._effort.is_spent

    def find_programs(self, light: Question) -> list[ResponseProgram]:
        """List the response-type programs that bound the answer to a question.

        The do-calculus has dropped what it can of the question. Each is searched once.
        """
        if light not in self._programs:
            graph = self.search.graph
            self._programs[light] = [
                *find_response_programs(
                    graph, light, self._solver, self._effort, budget=self._budget
                )
            ]
        return self._programs[light]

    def find_chains(self, light: Question, longest: int) -> list[NestedChain]:
        """List the inner chains that bound the answer to a question at the end of a chain.

        They go over a treatment that the question, lighter than the query, no longer names.
        Each question is searched once.
        """
        if (light, longest) not in self._chains:
            found = self._search_within(light, longest) if self._effort.spend(_CHAINS) else ()
            self._chains[light, longest] = [*found]
        return self._chains[light, longest]

    def _search_within(self, light: Question, longest: int) -> Iterator[NestedChain]:
        """Yield the inner chains for a question, each ending in a formula or in a program."""
        search, lost = self.search, self.search.x - light.variables
        treatments, context = (
            tuple(sort_names(light.treatments)),
            tuple(sort_names(light.context)),
        )
        asked = EffectQuery(tuple(light.outcomes), treatments, context)
        inner = ChainSearch(search.graph, asked, search.tables)
        search.is_cut |= len(inner.usable) > longest
        for chain in inner.find_chains(longest=longest, budget=self._budget):
            if lost.intersection(chain.variables):
                yield NestedChain(search.query, chain.links, light, chain.reward)
        for links, lighter in _find_open_ends(inner, longest, self._budget):
            if lost & frozenset(link.variable for link in links):
                yield from (
                    NestedChain(search.query, links, lighter, each)
                    for each in self.find_programs(lighter)
                )


def _look_up_proof(
    found: ProgramEnds,
    axes: tuple[str, ...],
    place: Place,
    upper: bool,  # noqa: FBT001
) -> EndProof | None:
    """Look up the sum of observed probabilities by which a program proved an end of a row."""
    levels = dict(zip(axes, place, strict=True))
    return found.find_proof(tuple(levels[axis] for axis in found.axes), upper=upper)


def _move_axes(values: Floats, axes: Sequence[str], order: Sequence[str]) -> Floats:
    """Transpose an array from its own ``axes`` to ``order``, with length 1 on axes it lacks."""
    return NamedArray(tuple(axes), values).align(order)
