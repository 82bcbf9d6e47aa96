"""Add every edge that a graph leaves out, one at a time, and see what becomes of the answer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Unpack, final

from boundit.bounds.options import Options, accept_options
from boundit.bounds.request import BoundRequest, read_request
from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.core.errors import BounditError, OptionError
from boundit.core.long_work import Progress, TimeBudget, follow_progress
from boundit.core.message import Option
from boundit.decisions.choose import choose
from boundit.decisions.compare import AnswersContradict, Comparison
from boundit.decisions.means import MeansContradict
from boundit.decisions.stress.edge_tests import EdgeTest, find_tests
from boundit.decisions.stress.edges import (
    ApartEdge,
    MissingEdge,
    add_edges,
    list_missing,
    rank_by_place,
    set_apart,
)
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
from boundit.graph.read import GraphLike, require_graph
from boundit.results.bound_table import BoundTable
from boundit.results.choice import ChoiceRule

if TYPE_CHECKING:
    from boundit.core.message import Note

REFUTED = (EndsCross, NoModelFits, FactsRefuted, MeansContradict, AnswersContradict)
"""How bounds, choices and comparisons say that the log refutes a graph, or what is stated."""


@accept_options
def stress(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    rule: ChoiceRule = "minimax-regret",
    optimism: float | None = None,
    level: float = 0.05,
    new: object = None,
    old: object = None,
    contexts: object = None,
    **options: Unpack[Options],
) -> StressReport:
    """Say what would overturn the answer: each edge that the graph leaves out, added in turn.

    Every directed and bidirected edge that makes no cycle is tried, those into selection too.
    The larger graph assumes less, so its bounds hold whether the edge is there or not. The
    report says for each what becomes of the widths, of the arm to use and of what is told
    surely, and whether the log could have shown that the edge is missing. Where the log refutes
    the graph itself, the report says so and which edges would mend that. The log is read twice,
    once to see how many values its columns have.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    rule, optimism
        By what the arm of each context is chosen, as for ``BoundTable.choose``; always a single
        arm.
    level
        The chance of any false alarm of the tests that missing edges get on the log.
    new, old, contexts
        Two policies, and how often contexts come, as for ``compare``: what becomes of the
        verdict on them is said too.
    **options
        As for ``derive_bounds``; the report names edges that no time was left for.

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
    request = read_request(graph, query, log, **options)
    with follow_progress(options.get("progress")) as tell:
        return stress_request(
            graph,
            request,
            rule=rule,
            optimism=optimism,
            level=level,
            progress=tell,
            read_compared=lambda _: compared,
        )


def stress_request(
    graph: CausalGraph,
    request: BoundRequest,
    *,
    rule: ChoiceRule,
    optimism: float | None,
    level: float,
    progress: Progress,
    read_compared: Callable[[BoundTable], ComparedPolicies | None],
) -> StressReport:
    """Say what would overturn the answer to a request that was read under a graph.

    The options are those of ``stress``; policies to compare may need the table of bounds to be
    read.
    """
    budget = TimeBudget(request.time_limit)
    if not isinstance(level, int | float) or not 0 < level < 1:
        said = " is not a probability of a false alarm; use 0.05 or such"
        raise OptionError(Option("level", level), said)
    progress("read the log", 0, 1)
    tables = RivalTables.of(request, graph.nodes)
    refutation: Note = ""
    comparison = None
    try:
        table = tables.derive(graph, budget)
        start = find_standing(table, rule, optimism)
        compared = read_compared(table)
        comparison = compared and compared.ask(table, graph, tables.request, budget)
    except REFUTED as error:
        refutation, table = error.message, tables.derive_open(graph, budget)
        start, compared = find_standing(table, rule, optimism), read_compared(table)
    progress("test what the graph leaves out", 0, 1)
    tests, notes = find_tests(graph, tables.request, budget, level)
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
        refuted=bool(refutation),
    )
    apart, edges = run.sort_edges()
    tried = run.try_all(edges, progress)
    return StressReport(
        str(graph),
        str(request.query),
        rule,
        choose(table, rule=rule, optimism=optimism).sure,
        table,
        start,
        rank_by_harm(tried),
        tuple(apart),
        tuple(edges[len(tried) :]),
        tuple(_list_not_varied(graph)),
        notes,
        comparison,
        refutation,
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
    refuted: bool = False

    def sort_edges(self) -> tuple[list[ApartEdge], list[MissingEdge]]:
        """Sort the missing edges into those that change the question and those to be tried.

        The latter come by how likely they do harm.
        """
        apart, edges = list[ApartEdge](), list[MissingEdge]()
        for edge in list_missing(self.graph):
            reason = set_apart(self.graph, self.query, edge)
            if reason is None:
                edges.append(edge)
            else:
                apart.append(ApartEdge(edge, reason))
        edges.sort(key=lambda edge: rank_by_place(self.graph, self.query, edge))
        return apart, edges

    def try_all(self, edges: list[MissingEdge], progress: Progress) -> list[TriedEdges]:
        """Try edges one after another until the time is over."""
        found = list[TriedEdges]()
        for edge in edges:
            progress(f"try {edge}", len(found), len(edges))
            one = None if self.budget.is_over() else self.try_edge(edge)
            if one is None:
                break
            found.append(one)
        return found

    def try_edge(self, edge: MissingEdge) -> TriedEdges | None:
        """Derive the bounds with an edge added, and compare them; None if time is over."""
        test = self.tests.get(edge.ends)
        try:
            grown = add_edges(self.graph, (edge,))
            table = self.tables.derive(grown, self.budget)
            standing = find_standing(table, self.rule, self.optimism)
            verdict = self.compared and self.compared.ask(
                table, grown, self.tables.request, self.budget
            )
        except BounditError as error:
            return TriedEdges((edge,), test=test, refusal=error.message)
        if self.budget.is_over():
            return None  # rules may have been left out
        mean, worst = measure_widths(table)
        change = compare_standings(self.standing, standing)
        if self.refuted:  # there is no choice of today's, so that all is new
            instead = tuple((each.context, each.chosen) for each in standing)
            regret = max(each.find_regret(each.chosen[0]) for each in standing)
            change = replace(change, fallen=instead, regret=regret)
        return TriedEdges(
            (edge,),
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
            rescues=self.refuted,
        )

    def _is_unsettled(self, verdict: Comparison) -> bool:
        """Tell whether a verdict that was told before is another one now."""
        before = self.comparison
        return before is not None and before.verdict not in {"inconclusive", verdict.verdict}


def _list_not_varied(graph: CausalGraph) -> Iterator[str]:
    """Yield sentences on what was not looked at, so that nobody reads more into a report."""
    yield (
        "arrows: none was turned round or taken away. A graph without one of its edges assumes "
        "more; turning one needs a rival graph"
    )
    yield "two missing edges at once: surviving each of two does not mean surviving both"
    yield "degree: an edge that was added may be as strong as the log allows"
    if graph.selection is None:
        yield "selection: the graph has no selection node, so all rows are taken to be logged"
    yield "variables: a cause of more than two variables that is in no column is no single edge"
