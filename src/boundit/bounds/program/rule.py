"""The rule: which variables a program is over, its endpoints row by row, and what it rests on."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundit.bounds.chain import Run
from boundit.bounds.program.compile import Compiler, Question, Shares
from boundit.bounds.program.solve import EMPTY, EndpointSearch, Solver
from boundit.bounds.program.types import Variable
from boundit.bounds.selection_facts import NOTHING_KNOWN, SelectionFacts
from boundit.core.formula import Sentence, StepRecord
from boundit.core.names import Nodes, join_names, sort_names
from boundit.core.rounding import ROUNDING
from boundit.counts.formula import Formula, Pair
from boundit.counts.named_array import Floats
from boundit.estimand.expression import P
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph, project
from boundit.results.bound import RuleRecord

MAX_CELLS = 128  # of all variables together; of more, some are projected out
MAX_BOXES = 100  # an endpoint
FIRST_BOXES = 9  # an endpoint that then does not beat the chains' stops there
TABLE_WORK = 160_000  # linear programs of all rows, each times its size
# Sampling error hides what more work would find: what beats the chains' endpoints does so, or
# is near them, in its first box.
SAMPLED_BOXES, SAMPLED_WORK, NEAR_CHAINS = 9, 20_000, 0.02
_BINARY = 2


@dataclass(frozen=True, eq=False)
class ProgramEndpoints:
    """Both endpoints of every row; ``empty`` rows are refuted, ``open`` ones might be narrower."""

    lower: Floats
    upper: Floats
    empty: NDArray[np.bool_]
    open: NDArray[np.bool_]


@dataclass(frozen=True)
class Program:
    """One certified program over the ``kept`` variables of a graph."""

    whole: CausalGraph
    query: EffectQuery
    tables: tuple[Nodes, ...]
    facts: SelectionFacts
    kept: Nodes
    extremes = frozenset[str]()
    reweightings = ()
    is_identified = False

    @property
    def outcome(self) -> str:
        """The variable whose mean is bounded."""
        return self.query.outcomes[0]

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of its endpoints: arms, then contexts."""
        return self.query.treatments + self.query.context

    @cached_property
    def graph(self) -> CausalGraph:
        """The graph that is compiled: of the kept variables, hidden causes turned into arrows."""
        whole = self.whole.without_groups()
        if self.kept == whole.observed:
            return turn_hidden_causes(whole, find_relevant(whole, self.query))
        return project(whole, whole.observed - self.kept)

    @cached_property
    def asked(self) -> EffectQuery:
        """The query without the arms that have no effect on outcome or context."""
        relevant = find_relevant(self.whole, self.query) & self.kept
        return replace(
            self.query, treatments=tuple(x for x in self.query.treatments if x in relevant)
        )

    def fit(self, levels: Mapping[str, int]) -> "Program | None":
        """The same over fewer variables, where these have more levels than two; None if too many.

        What it reads at a confidence (``terms``) is that of the fitted program.
        """
        kept = choose_variables(self.whole, self.query, self.tables, levels)
        if kept == self.kept:
            return self
        return None if kept is None else replace(self, kept=kept)

    # What it reads and rests on, by the graph alone

    @cached_property
    def _dry(self) -> tuple[Compiler, Variable | float]:
        """The program compiled as if every variable had two levels and nothing were known."""
        levels = dict.fromkeys(self.kept, _BINARY)
        compiler = self.compile(Shares(levels, logged=self.graph.selection is not None))
        aim = Question(compiler, self.asked).ask(dict.fromkeys(self.axes, 0))
        return compiler, aim

    def compile(self, shares: Shares) -> Compiler:
        """Write the population and its independences as a program."""
        tables = dict.fromkeys(table & self.kept for table in self.tables if table & self.kept)
        return Compiler(self.graph, shares, self.facts, tables)

    @cached_property
    def formulas(self) -> tuple[Formula, ...]:
        """The terms as formulas."""
        return tuple(self._dry[0].shares.formulas.values())

    @cached_property
    def terms(self) -> frozenset[P]:
        """The probabilities it reads, known before any row is counted."""
        return frozenset(self._dry[0].shares.formulas)

    @cached_property
    def needs(self) -> Nodes:
        """The columns that are counted."""
        return self.kept.union(self.query.variables)

    @cached_property
    def is_linear(self) -> bool:
        """Whether no two unknowns are multiplied, as with instruments: one box is enough."""
        return not self._dry[0].program.products

    @cached_property
    def n_unknown(self) -> int:
        """The variables that shield selection; the arms where it is types that are unknown."""
        if self.graph.selection is None:
            return len(self.asked.treatments)
        s = {self.graph.selection}
        own = next(part for part in self.graph.components() if s <= part)
        return len((own | self.graph.parents(own)) - s)

    @cached_property
    def assumptions(self) -> tuple[str, ...]:
        """The facts that were stated."""
        return (str(self.facts),) if self.facts else ()

    def count_cells(self, levels: Mapping[str, int]) -> int:
        """How many cells its variables have."""
        return prod(levels[name] for name in self.needs)

    def rank(self, levels: Mapping[str, int]) -> tuple[int, int]:
        """After every chain with as few unknowns, as a program takes longest."""
        return self.n_unknown, self.count_cells(levels)

    @property
    def name(self) -> str:
        """A short name for tables."""
        return f"linear program over {join_names(sort_names(self.kept))}"

    @cached_property
    def reason(self) -> RuleRecord:
        """Name and claim, and as steps the independences among everyone that it rests on."""
        compiler, _ = self._dry
        steps = list[StepRecord]()
        if compiler.shield:
            rest = [v for v in compiler.order if v not in compiler.shield]
            m = join_names(compiler.shield)
            said = f"P(v) = P(v | {m}, S=1) P({m}), and only P({m}) of everyone is unknown"
            between = ((str(self.graph.selection),), tuple(rest)) if rest else None
            steps.append(StepRecord(said, between, compiler.shield))
        for run, others, given in compiler.independences:
            known = f" given {join_names(given)}" if given else ""
            both = f"{join_names(run)} and {join_names(others)}"
            said = f"{both} are independent{known} among everyone"
            steps.append(StepRecord(said, (run, others), given))
        steps += (
            StepRecord(f"P({join_names(sort_names(t))}) is that of a table")
            for t in self.tables
        )
        steps += (
            StepRecord(
                f"{join_names(b.names)}: any distribution of response types that shows the log"
            )
            for b in compiler.program.blocks
        )
        facts = f", {self.facts}" if self.facts else ""
        claim = Sentence.of(
            self.query.formula,
            f" lies between the least and greatest effect in any population with this log{facts}",
        )
        return RuleRecord(self.name, claim, tuple(steps))

    # Endpoints

    def bound(self, run: Run, known: Pair | None = None) -> Pair:
        """Both endpoints for every arm and context; ``known`` are endpoints to beat."""
        found = self.solve(run, known)
        return found.lower, found.upper

    def solve(self, run: Run, known: Pair | None = None) -> ProgramEndpoints:
        """Endpoints row by row, within a limit for the whole table that no clock decides."""
        numbers, shape = run.numbers, [run.numbers.levels[axis] for axis in self.axes]
        found = ProgramEndpoints(
            np.zeros(shape),
            np.ones(shape),
            np.zeros(shape, dtype=bool),
            np.zeros(shape, dtype=bool),
        )
        fitted = self.fit(numbers.levels)
        if fitted is None or not fitted.may_read(run):
            return found
        chosen = list(self._list_rows(shape, fitted.asked, known))
        if not chosen:
            return found
        levels = {name: numbers.levels[name] for name in fitted.kept}
        compiler = fitted.compile(
            Shares(levels, numbers, logged=fitted.graph.selection is not None)
        )
        question = Question(compiler, fitted.asked)
        base, start = compiler.program, 0
        for block in base.blocks:
            block.prepare(start)
            start += len(block.cells)
        # One linear program costs about as much as it has entries: that is what is limited.
        is_exact = numbers.evidence.is_exact
        work = TABLE_WORK if is_exact else SAMPLED_WORK
        work //= 64 + len(base.lower) + 4 * len(base.products) + 8 * start
        if work < 2 * len(chosen):
            found.open[...] = True
            return found
        rows = list[tuple[_Row, list[EndpointSearch]]]()
        waiting = list[EndpointSearch]()
        for n_done, row in enumerate(chosen):
            if work <= 0:  # a box once begun is finished, which may take more than its share
                found.open[row.place] = True
                continue
            compiler.program = base.copy()
            aim = question.ask(row.at)
            if not isinstance(aim, Variable):
                slack = compiler.program.slack
                found.lower[row.place] = max(aim - slack, 0.0)
                found.upper[row.place] = min(aim + slack, 1.0)
                continue
            solver = Solver(compiler.program, run.budget)
            solver.left = share = work // (len(chosen) - n_done)
            ends = [EndpointSearch(solver, aim.index, upper=upper) for upper in (False, True)]
            for end in ends:
                end.advance(FIRST_BOXES if is_exact else 1)
            work -= share - solver.left
            self._keep(found, row, ends)
            leads = (
                end.sign * (end.endpoint - best)
                for end, best in zip(ends, row[2:], strict=True)
            )
            margin = ROUNDING if is_exact else -NEAR_CHAINS
            if may_win := [e for e, lead in zip(ends, leads, strict=True) if lead > margin]:
                waiting += may_win
                rows.append((row, ends))
        most = MAX_BOXES if is_exact else SAMPLED_BOXES
        while waiting and work > 0 and not run.budget.is_over():
            share = max(work // len(waiting), 1)
            for end in waiting:
                end.solver.left = share
                end.advance(most)
                work -= share - end.solver.left
            waiting = [end for end in waiting if end.boxes < most and not end.is_final]
        for row, ends in rows:
            self._keep(found, row, ends)
        return found

    def _keep(
        self, found: ProgramEndpoints, row: "_Row", ends: Sequence[EndpointSearch]
    ) -> None:
        """Write down a row; endpoints that cross refute as well as a program without a point."""
        low, high = max(ends[0].endpoint, 0.0), min(ends[1].endpoint, 1.0)
        is_empty = any(end.is_empty for end in ends) or low > high + EMPTY
        found.empty[row.place] = is_empty
        found.open[row.place] = any(end.is_open for end in ends)
        low, high = (0.0, 1.0) if is_empty else (min(low, high), max(low, high))
        found.lower[row.place], found.upper[row.place] = low, high

    def may_read(self, run: Run) -> bool:
        """Whether all it reads holds at once, and the outcome is a variable of the graph.

        A numeric outcome is read as the probability of a success. That is a variable with the
        outcome's causes, but nothing depends on it.
        """
        log = run.numbers.evidence.log
        if not log.is_variable and self.graph.links[self.outcome].children:
            return False
        return run.numbers.covers(term for rule in (self,) for term in rule.terms)

    def _list_rows(
        self, shape: Sequence[int], asked: EffectQuery, known: Pair | None
    ) -> Iterator["_Row"]:
        """The rows to be bounded; those of an arm without an effect at once, points not at all."""
        used = {*asked.treatments, *asked.context}
        axes = zip(self.axes, shape, strict=True)
        places: list[list[int | slice]] = [
            [*range(n)] if a in used else [slice(None)] for a, n in axes
        ]
        for place in product(*places):
            at = {a: i for a, i in zip(self.axes, place, strict=True) if isinstance(i, int)}
            low, high = 0.0, 1.0
            if known is not None:
                low, high = float(np.min(known[0][place])), float(np.max(known[1][place]))
            if high - low > 10 * ROUNDING:
                yield _Row(place, at, low, high)


class _Row(NamedTuple):
    """A row of the table (several, if an arm has no effect), and the endpoints to beat."""

    place: tuple[int | slice, ...]
    at: dict[str, int]
    low: float
    high: float


def find_relevant(graph: CausalGraph, query: EffectQuery) -> Nodes:
    """The arms that may have an effect on outcome or context."""
    return graph.ancestors({*query.outcomes, *query.context}).intersection(query.treatments)


def turn_hidden_causes(graph: CausalGraph, arms: Nodes) -> CausalGraph:
    """Write ``Z -> X`` for ``Z <-> X`` where every model of the graph is one of the turned graph.

    If Z is not an arm, its siblings X are siblings of each other and ``pa(Z)`` is within every
    ``pa(X)``: given z and ``pa(Z)`` the distribution of their hidden causes depends on both
    alone, so that noise which the X share can draw them. All interventions but those on Z agree.
    """
    directed, bidirected = set(graph.directed), set(graph.bidirected)
    turned = True
    while turned:
        turned = False
        now = CausalGraph.of(
            graph.nodes, directed=directed, bidirected=bidirected, selection=graph.selection
        )
        for z in sort_names(graph.observed - arms):
            own = now.links[z]
            if own.siblings and all(
                set(own.parents) <= set(now.links[x].parents)
                and set(own.siblings) - {x} <= set(now.links[x].siblings)
                for x in own.siblings
            ):
                directed |= {(z, x) for x in own.siblings}
                bidirected -= {(z, x) if z <= x else (x, z) for x in own.siblings}
                turned = True
                break
    return now


def choose_variables(
    graph: CausalGraph,
    query: EffectQuery,
    tables: Sequence[Nodes],
    levels: Mapping[str, int] | None = None,
) -> Nodes | None:
    """The most variables whose cells are few enough: all, causes of what is named, the nearest.

    Latent projection keeps the class of models, so that all of them are sound.
    """

    def fits(names: Collection[str]) -> bool:
        if levels is not None and any(name not in levels for name in names):
            return False  # it was not counted
        return prod(levels[name] if levels else _BINARY for name in names) <= MAX_CELLS

    named = {*query.outcomes, *query.context}
    s = {graph.selection} if graph.selection else set[str]()
    causes = graph.ancestors(named.union(s, *tables)) & graph.observed
    for some in (graph.observed, causes):
        if fits(some):
            return some
    kept = named | find_relevant(graph, query)
    if not fits(kept):
        return None
    for near in (*s, *query.outcomes, *sort_names(kept)):
        for parent in graph.links[near].parents:
            if fits(kept | {parent}):
                kept |= {parent}
    return frozenset(kept)


def find_program(
    graph: CausalGraph,
    query: EffectQuery,
    tables: Iterable[Nodes] = (),
    facts: SelectionFacts = NOTHING_KNOWN,
) -> Program | None:
    """The program of a query on a graph, by the graph alone.

    Parameters
    ----------
    graph
        Where the log comes from; its selection node says which rows were logged.
    query
        The effect, of one outcome.
    tables
        The variables of each table of the whole population.
    facts
        What is stated of the selection.

    Returns
    -------
    Program or None
        None where query variables alone have too many cells for a program.

    Examples
    --------
    >>> from boundit.estimand.query import parse_query
    >>> from boundit.graph.text import parse
    >>> program = find_program(parse("Z -> X -> Y; X <-> Y"), parse_query("Y | do(X)"))
    >>> program.name, program.is_linear
    ('linear program over X, Y, Z', True)
    """
    held = tuple(sorted({t for t in tables if t} if graph.selection else (), key=sort_names))
    kept = choose_variables(graph, query, held)
    return None if kept is None else Program(graph, query, held, facts, kept)
