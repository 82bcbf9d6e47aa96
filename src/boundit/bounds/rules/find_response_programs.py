r"""Which response-type programs there are for a question, decided by the graph alone.

When ``P(y | do(x), b)`` has no formula because hidden causes join a treatment to the outcome,
take variables ``E`` around them whose joint law ``P(e | b, z)`` is recovered, at every value of
some instruments ``z``. In the graph of ``E`` given the rest, Identify stops for some c-factors
of the question, within c-components ``T``. Hidden causes choose a response type for every
variable of ``T``; the unknown law of types must reproduce ``Q[T]`` in every scenario, that is
for every value of what acts on ``T`` from outside, and the question is linear in it:

.. math:: P(y \mid do(x), b) = \sum_{d \setminus y} \prod_i Q[D_i] \; Q[wanted]

with the factors that Identify does give as known weights. Missing bidirected edges within ``T``
are not used, so a program is an outer bound; sharp when ``T`` is a bidirected clique and
no other factor is lost.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import final

from boundit.bounds.rules.conditioned_graph import ConditionedGraph, condition_graph
from boundit.bounds.rules.response_program import ResponseProgram
from boundit.estimand.language.algebra import divide, multiply, sum_out
from boundit.estimand.language.expression import Expression
from boundit.estimand.language.law import Law
from boundit.estimand.language.simplify import simplify
from boundit.estimand.recovery.factorize import factorize
from boundit.estimand.recovery.question import Question
from boundit.estimand.recovery.recover_factor import recover_factor
from boundit.estimand.recovery.solver import Solver
from boundit.graph.causal_graph import CausalGraph
from boundit.terms.bound import StepRecord
from boundit.terms.formula import Sentence, make_factor
from boundit.terms.long_work import FOR_EVER, TimeBudget
from boundit.terms.names import Nodes, join_names, sort_names

MOST_SUBSETS = 3
"""Up to how many possible instruments every set of them is tried; of more, each alone."""
MOST_BETWEEN = 4
"""How many variables besides treatments and outcome may have response types."""
WORK = 3_000
"""How many nodes may be looked at to find programs: under a second's worth."""


@final
class SearchBudget:
    """What is left to spend on the programs of one graph."""

    def __init__(self, graph: CausalGraph, work: int = WORK) -> None:
        self.left = work // len(graph.nodes)

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left for another program."""
        return self.left <= 0

    def spend(self, tries: int = 1) -> bool:
        """Take ``tries`` off the programs that may still be tried; False once none are left.

        It keeps the search for response-type programs short on large graphs.
        """
        self.left -= tries
        return self.left >= 0


def find_response_programs(
    graph: CausalGraph,
    asked: Question,
    solver: Solver,
    effort: SearchBudget,
    *,
    budget: TimeBudget = FOR_EVER,
) -> Iterator[ResponseProgram]:
    """Yield the response-type programs that bound the answer to a question, each once.

    Such a linear program goes over the laws of response types (how each variable answers to its
    causes) that reproduce the log. The do-calculus must have dropped what it can of the
    question. As few treatments as possible are left to nature: those that are set by hand
    beforehand have one value in a whole program.

    >>> from boundit.graph.text import parse
    >>> graph = parse("Z -> X -> Y; X <-> Y")
    >>> asked = Question(frozenset("Y"), frozenset("X"))
    >>> for found in find_response_programs(graph, asked, Solver(graph), SearchBudget(graph)):
    ...     print(found.inside, found.arguments, found.varied)
    ('X', 'Y') (('Z',), ('X',)) ('Z',)
    ('X', 'Y') ((), ('X',)) ()
    """
    for n_done in reversed(range(len(asked.treatments))):
        if effort.is_spent or budget.is_over():
            return
        found = dict[object, ResponseProgram]()
        for done in map(frozenset, combinations(sort_names(asked.treatments), n_done)):
            # Choices that differ in instruments without influence come to one scope.
            find_scope, tried = (
                _ScopeSearch(graph, asked, done).find,
                set[tuple[Nodes, Nodes]](),
            )
            for middle, varied in _list_choices(graph, asked, done):
                if not effort.spend() or budget.is_over():
                    break
                scope = find_scope(middle, varied)
                if scope is None or (scope.inside, scope.varied) in tried:
                    continue
                tried.add((scope.inside, scope.varied))
                program = _make_response_program(asked, done, scope, solver)
                if program is not None:
                    found.setdefault((program.inside, program.arguments, done), program)
        yield from found.values()
        if found:
            return


def _list_choices(
    graph: CausalGraph, asked: Question, done: Nodes
) -> Iterator[tuple[Nodes, Nodes]]:
    """Yield pairs of sets for a program: variables with response types, and instruments.

    Of an instrument every level is a scenario of the program; variables in neither set are
    hidden.
    """
    cut = graph.induced(graph.observed).without_edges_into(done)
    left = asked.treatments - done
    late = cut.descendants(left | asked.outcomes)
    causes = cut.ancestors(asked.outcomes | left) - asked.variables
    early = sort_names(graph.observed - asked.variables - late)
    few = len(early) <= MOST_SUBSETS
    for size in range(len(early), -1, -1) if few else (1, 0):
        for chosen in map(frozenset, combinations(early, size)):
            for middle in dict.fromkeys((causes - chosen, causes & late, frozenset[str]())):
                if len(middle) <= MOST_BETWEEN:
                    yield middle, chosen


@dataclass(frozen=True, slots=True)
class _ProgramScope:
    """What a program is over: the variables ``around`` the lost c-factors have types."""

    inside: Nodes
    varied: Nodes
    left: ConditionedGraph
    lost: list[Nodes]
    kept: list[Nodes]
    around: Nodes


@final
class _ScopeSearch:
    """Finds the scopes of one question's programs, with some treatments set beforehand."""

    def __init__(self, graph: CausalGraph, asked: Question, done: Nodes) -> None:
        self.graph, self.asked, self.done = graph, asked, done
        self._found: dict[tuple[Nodes, Nodes], _ProgramScope | None] = {}

    def find(self, middle: Nodes, varied: Nodes) -> _ProgramScope | None:
        """Find which c-factors of the question have no formula, and the variables around them.

        A c-factor is the law of variables that share hidden causes, when all others are set;
        those around get response types, and so do ``middle``. Varied variables (instruments)
        that do not influence these are dropped. None when no program applies. Each pair of sets
        is looked at once.
        """
        key = middle, varied
        if key not in self._found:
            self._found[key] = self._look(middle, varied)
        return self._found[key]

    def _look(self, middle: Nodes, varied: Nodes) -> _ProgramScope | None:
        """Find a scope that was not asked for before; called by ``_ScopeSearch.find``."""
        asked, done = self.asked, self.done
        inside = asked.outcomes | (asked.treatments - done) | middle
        left = condition_graph(
            self.graph, inside=inside, known=asked.context, varied=varied, done=done
        )
        parts = None if left is None else _split_factors(left, asked)
        if left is None or parts is None:
            return None
        lost, kept = parts
        around = _unite(_find_hedge(left.graph, part) for part in lost)
        used = _unite(left.influences[v] for v in around)
        if used != varied:
            return self.find(middle, used)
        return _ProgramScope(inside, varied, left, lost, kept, around)


def _make_response_program(
    asked: Question, done: Nodes, scope: _ProgramScope, solver: Solver
) -> ResponseProgram | None:
    """Make the linear program of a scope: which variables have types, and the instruments.

    ``done`` are the treatments set beforehand. None where the law that it must reproduce has no
    formula.
    """
    left, around, known = scope.left, scope.around, asked.context | scope.varied
    law = solver.solve(Question(scope.inside, done, known))
    if law.expression is None:
        return None
    writer = _LawWriter(solver, law.expression, scope.inside, done, known)
    pieces = left.graph.induced(around).components()
    found = _recover_all((*pieces, *scope.kept), left.graph, writer)
    if found is None:
        return None
    order = tuple(v for v in left.graph.order if v in around)
    arguments = {v: sort_names(left.graph.parents(v) | left.influences[v]) for v in order}
    outer = _unite(map(frozenset, arguments.values())) - around
    whole = law.expression if around == scope.inside else multiply(*found[: len(pieces)])
    wanted = _unite(scope.lost)
    return ResponseProgram(
        asked,
        order,
        tuple(tuple(arguments[v]) for v in order),
        tuple(sort_names(outer)),
        simplify(whole),
        wanted,
        tuple(found[len(pieces) :]),
        tuple(sort_names(_unite(scope.kept))),
        (*(step.record for step in law.steps), *_write_steps(around, outer, wanted)),
    )


def _unite(sets: Iterable[Nodes]) -> Nodes:
    """Unite sets of variables; called by ``_ScopeSearch`` and ``_make_response_program``."""
    return frozenset[str]().union(*sets)


def _recover_all(
    parts: Iterable[Nodes], graph: CausalGraph, writer: "_LawWriter"
) -> list[Expression] | None:
    """Recover a formula for the c-factor ``Q[part]`` of each part; None when one has none."""
    answers = [recover_factor(part, graph, writer.write_law).expression for part in parts]
    found = [simplify(answer) for answer in answers if answer is not None]
    return found if len(found) == len(answers) else None


def _split_factors(
    left: ConditionedGraph, asked: Question
) -> tuple[list[Nodes], list[Nodes]] | None:
    """Split the c-factors of the question into those without a formula and those with one.

    A c-factor is the law of variables that share hidden causes, when all others are set. None
    when all have a formula, or an instrument influences the outcome's side: then no program
    applies.
    """
    whole = factorize(left.graph, outcomes=asked.outcomes, treatments=asked.treatments)
    if any(left.influences[v] for v in whole.relevant):
        return None
    lost = [part for part in whole.parts if _find_hedge(left.graph, part) != part]
    return (lost, [part for part in whole.parts if part not in lost]) if lost else None


def _find_hedge(graph: CausalGraph, target: Nodes) -> Nodes:
    """Find the smallest set of variables that the Identify algorithm reaches for ``target``.

    Identify looks for a formula of the target's c-factor: there is one where it reaches the
    target itself, else it stops at a larger set.
    """
    within = graph.nodes
    while True:
        part = graph.induced(graph.induced(within).ancestors(target))
        home = next(c for c in part.components() if target <= c)
        if home == within:
            return home
        within = home


@dataclass(frozen=True, slots=True)
class _LawWriter:
    """Writes the law of an ancestral part of the inside, given the rest."""

    solver: Solver
    joint: Expression
    inside: Nodes
    done: Nodes
    known: Nodes

    def write_law(self, graph: CausalGraph, late: object = ()) -> Law:  # noqa: ARG002
        """Write the joint law of a graph's variables as a product of conditionals.

        The graph is an ancestral part of that of the variables with types.
        """
        order = graph.order
        return Law(order, lambda node: self.write_conditional(node, order))

    def write_conditional(self, node: str, order: tuple[str, ...]) -> Expression:
        """Write a formula for the law of one variable given those before it in ``order``.

        By a formula of its own, else as a ratio of sums of the joint law.
        """
        before = frozenset(order[: order.index(node)])
        asked = Question(frozenset((node,)), self.done, self.known | before)
        found = self.solver.solve(asked)
        if found.expression is not None:
            return simplify(found.expression)
        upto = sum_out(self.inside - before - {node}, self.joint)
        return divide(upto, sum_out(frozenset((node,)), upto))


def _write_steps(around: Nodes, outer: Nodes, wanted: Nodes) -> tuple[StepRecord, ...]:
    """Write two proof steps: where the Identify algorithm stops, and what types reproduce.

    They end the explanation of a response-type program.
    """
    names = join_names(around)
    every = f" at every value of {join_names(outer)}" if outer else ""
    return (
        StepRecord(Sentence.of("Identify stops for ", make_factor(wanted), f" within {names}")),
        StepRecord(
            Sentence.of(f"response types of {names} reproduce ", make_factor(around), every)
        ),
    )
