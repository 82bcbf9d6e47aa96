"""Add every edge that a graph leaves out, one at a time, and see what becomes of the answer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Unpack, final

from boundit.bounds.request import BoundRequest, read_request
from boundit.checks.check import NoLevel
from boundit.decisions.choose.choose import choose
from boundit.decisions.compare.comparison import Comparison
from boundit.decisions.stress.edge_tests import EdgeTest, find_tests
from boundit.decisions.stress.edges import (
    ApartEdge,
    MissingEdge,
    add_edges,
    list_missing,
    rank_by_place,
    set_apart,
)
from boundit.decisions.stress.facts import Facts
from boundit.decisions.stress.report import StressReport, TriedEdges, rank_by_harm
from boundit.decisions.stress.rival_tables import RivalTables
from boundit.decisions.stress.standing import (
    ContextStanding,
    compare_standings,
    find_standing,
    list_widened,
    measure_widths,
)
from boundit.decisions.stress.verdict import ComparedPolicies
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.groups import InvalidGroup
from boundit.graph.read import GraphLike, require_graph
from boundit.terms.bound_table import BoundTable
from boundit.terms.choices.choice import ChoiceRule
from boundit.terms.errors import BounditError, HasCycle, InvalidLimit
from boundit.terms.long_work import TimeBudget, Told, say_nothing
from boundit.terms.message import Option


def stress(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    rule: ChoiceRule = "minimax-regret",
    optimism: float | None = None,
    pairs: bool | int = False,
    level: float = 0.05,
    new: object = None,
    old: object = None,
    contexts: object = None,
    told: Told | None = None,
    **facts: Unpack[Facts],
) -> StressReport:
    """Say what would overturn the answer: each edge that the graph leaves out, added in turn.

    Every directed and bidirected edge that makes no cycle is tried, those into selection too.
    The larger graph assumes less, so its bounds hold whether the edge is there or not. The
    report says for each what becomes of the widths, of the arm to use and of what is told
    surely, and whether the log could have shown that the edge is missing. The log is read
    twice, once to see how many values its columns have. Users call it; the command line too,
    by ``boundit stress``.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    rule, optimism
        By what the arm of each context is chosen, as for ``BoundTable.choose``; always a single
        arm.
    pairs
        Whether two edges at once are tried too, of those that the choice survives one by one,
        the most harmful first: as many as the time allows, or so many.
    level
        The chance of any false alarm of the tests that missing edges get on the log.
    new, old, contexts
        Two policies, and how often contexts come, as for ``compare``: what becomes of the
        verdict on them is said too.
    told
        Hears what is being done, how much of it is done, and of how much.
    facts
        The other options of ``derive_bounds``; ``time_limit`` holds for everything, and the
        report names the edges that were not reached.

    Examples
    --------
    >>> from boundit.graph.text import parse
    >>> rows = {"X": [0, 0, 0, 0, 0, 1] * 99, "Y": [0, 1, 1, 1, 1, 1] * 99}
    >>> report = stress(parse("X -> Y"), "Y | do(X)", rows)
    >>> print(report.summary.split(". ")[0])
    The choice survives none of 1 single edge; it falls if something unseen moves X and Y
    """
    graph = require_graph(graph)
    compared = ComparedPolicies.read(new, old, contexts)
    request = read_request(graph, query, log, **facts)
    return stress_request(
        graph,
        request,
        rule=rule,
        optimism=optimism,
        pairs=pairs,
        level=level,
        told=told or say_nothing,
        read_compared=lambda _: compared,
    )


def stress_request(
    graph: CausalGraph,
    request: BoundRequest,
    *,
    rule: ChoiceRule,
    optimism: float | None,
    pairs: bool | int,
    level: float,
    told: Told,
    read_compared: Callable[[BoundTable], ComparedPolicies | None],
) -> StressReport:
    """Say what would overturn the answer to a request that was read under a graph.

    The options are those of ``stress``; policies to compare may need the table of bounds to be
    read. Called by ``stress``, and by the command of that name.
    """
    budget = TimeBudget(request.time_limit)
    most = _read_pairs(pairs)
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise NoLevel(level)
    told("read the log", 0, 1)
    tables = RivalTables.of(request, graph.nodes)
    table = tables.derive(graph, budget)
    compared = read_compared(table)
    comparison = compared and compared.ask(table, graph, tables.request, budget)
    told("test what the graph leaves out", 0, 1)
    tests, notes = find_tests(graph, tables.request, budget, level)
    start = find_standing(table, rule, optimism)
    run = StressRun(
        graph,
        request.query,
        tables,
        budget,
        rule,
        optimism,
        table,
        start,
        tests,
        compared,
        comparison,
    )
    apart, edges = run.sort_edges()
    tried, unreached = run.try_all([(edge,) for edge in edges], told)
    ranked = rank_by_harm(tried)
    of_pairs = tuple[TriedEdges, ...]()
    if most != 0:
        chosen = list(islice(run.list_pairs(ranked), most))
        of_pairs = rank_by_harm(run.try_all(chosen, told)[0])
    return StressReport(
        str(graph),
        str(request.query),
        rule,
        choose(table, rule=rule, optimism=optimism, lottery=False).sure,
        table,
        start,
        ranked,
        of_pairs,
        tuple(apart),
        tuple(edge for (edge,) in unreached),
        tuple(_list_not_varied(graph, run.count_pairs(ranked), len(of_pairs))),
        notes,
        comparison,
    )


@final
@dataclass(frozen=True, eq=False)
class StressRun:
    """One question whose graph is made larger again and again, and what it said before."""

    graph: CausalGraph
    query: EffectQuery
    tables: RivalTables
    budget: TimeBudget
    rule: ChoiceRule
    optimism: float | None
    table: BoundTable
    standing: tuple[ContextStanding, ...]
    tests: dict[frozenset[str], EdgeTest]
    compared: ComparedPolicies | None = None
    comparison: Comparison | None = None

    def sort_edges(self) -> tuple[list[ApartEdge], list[MissingEdge]]:
        """Sort the missing edges into those that change the question and those to be tried.

        The latter come by how likely they do harm; those whose bounds are known already come
        first, as they cost no time. Called by ``stress_request``.
        """
        apart, edges = list[ApartEdge](), list[MissingEdge]()
        for edge in list_missing(self.graph):
            reason = set_apart(self.graph, self.query, edge)
            if reason is None:
                edges.append(edge)
            else:
                apart.append(ApartEdge(edge, reason))
        edges.sort(key=lambda edge: rank_by_place(self.graph, self.query, edge))
        edges.sort(key=lambda e: not self.tables.is_derived(add_edges(self.graph, (e,))))
        return apart, edges

    def try_all(
        self, chosen: Sequence[tuple[MissingEdge, ...]], told: Told
    ) -> tuple[list[TriedEdges], list[tuple[MissingEdge, ...]]]:
        """Try edges, or pairs of them, one after another until the time is over.

        Gives what was found, and what was not reached. Called by ``stress_request`` for
        single edges and for pairs.
        """
        found = list[TriedEdges]()
        for done, edges in enumerate(chosen):
            told(f"try {'; '.join(map(str, edges))}", done, len(chosen))
            one = None if self.budget.is_over() else self.try_edges(edges)
            if one is None:
                return found, list(chosen[done:])
            found.append(one)
        return found, []

    def try_edges(self, edges: tuple[MissingEdge, ...]) -> TriedEdges | None:
        """Derive the bounds with some edges added, and compare them; None if time is over.

        Called by ``StressRun.try_all``.
        """
        test = self.tests.get(edges[0].ends) if len(edges) == 1 else None
        try:
            grown = add_edges(self.graph, edges)
            table = self.tables.derive(grown, self.budget)
            standing = find_standing(table, self.rule, self.optimism)
            verdict = self.compared and self.compared.ask(
                table, grown, self.tables.request, self.budget
            )
        except BounditError as error:
            return TriedEdges(edges, test=test, refusal=error.message)
        if self.budget.is_over():
            return None  # rules may have been left out
        mean, worst = measure_widths(table)
        change = compare_standings(self.standing, standing)
        return TriedEdges(
            edges,
            mean,
            worst,
            list_widened(self.table, table),
            change.fallen,
            change.lost,
            change.regret,
            test,
            table=table,
            comparison=verdict,
            unsettled=verdict is not None and self._is_unsettled(verdict),
        )

    def _is_unsettled(self, verdict: Comparison) -> bool:
        """Tell whether a verdict that was told before is another one now.

        Called by ``StressRun.try_edges``.
        """
        before = self.comparison
        return before is not None and before.verdict not in {"not told", verdict.verdict}

    def list_pairs(self, ranked: Sequence[TriedEdges]) -> Iterator[tuple[MissingEdge, ...]]:
        """Yield pairs of edges that the choice survives one by one, the most harmful first.

        Pairs that make a cycle, or change the question together, are left out. Called by
        ``stress_request``.
        """
        kept = [each.edges[0] for each in ranked if each.survives]
        places = sorted(combinations(range(len(kept)), 2), key=lambda pair: (sum(pair), pair))
        for one, other in places:
            pair = (kept[one], kept[other])
            try:
                grown = add_edges(self.graph, pair)
            except (HasCycle, InvalidGroup):
                continue
            if not grown.descendants(self.query.treatments).intersection(self.query.context):
                yield pair

    def count_pairs(self, ranked: Sequence[TriedEdges]) -> int:
        """Count the pairs of edges that the choice survives one by one.

        Called by ``stress_request``, which says how many of them were not tried.
        """
        n = sum(each.survives for each in ranked)
        return n * (n - 1) // 2


def _read_pairs(pairs: object) -> int | None:
    """Read how many pairs are tried at most: 0 for none, None for all.

    Called by ``stress_request``.
    """
    if isinstance(pairs, bool):
        return None if pairs else 0
    if isinstance(pairs, int) and pairs >= 0:
        return pairs
    raise InvalidLimit(
        Option("pairs"), f" must be True, False or a whole number from 0 on, found {pairs!r}"
    )


def _list_not_varied(graph: CausalGraph, n_pairs: int, n_tried: int) -> Iterator[str]:
    """Yield sentences on what was not looked at, so that nobody reads more into a report.

    Called by ``stress_request``.
    """
    yield (
        "arrows: none was turned round or taken away. A graph without one of its edges assumes "
        "more; turning one needs a rival graph"
    )
    if n_tried:
        yield (
            f"two missing edges at once: {n_tried:,} of about {n_pairs:,} pairs were tried, "
            "three at once never"
        )
    else:
        yield "two missing edges at once: surviving each of two does not mean surviving both"
    yield "degree: an edge that was added may be as strong as the log allows"
    if graph.selection is None:
        yield "selection: the graph has no selection node, so all rows are taken to be logged"
    yield "variables: a cause of more than two variables that is in no column is no single edge"
