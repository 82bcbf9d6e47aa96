"""Stress test: bounds and conclusions after each edge that a graph leaves out is added to it.

A larger graph assumes less, so its bounds are valid whether the edge exists or not. Most missing
edges are far from the question. So a larger graph is first projected on the variables that the
bounds of the given graph rest on (the latent projection keeps every model, so its bounds are
valid): if these are as narrow, the edge changes nothing; else what affects the query or selection
in the larger graph is searched.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Literal, Unpack, final

from boundit.bounds.derive import derive_planned, plan_request
from boundit.bounds.options import Options, accept_options
from boundit.bounds.plan import BoundPlan
from boundit.bounds.request import BoundRequest, read_request
from boundit.bounds.selection_facts import FactsRefuted
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.checks.check import check
from boundit.checks.report import Finding
from boundit.core.errors import BounditError, OptionError
from boundit.core.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.core.message import Message, Note, Option
from boundit.core.names import Nodes, join_names, sort_names, write_name
from boundit.core.rounding import ROUNDING
from boundit.counts.memory import Workspace
from boundit.decisions.choose import choose
from boundit.decisions.compare import AnswersContradict, Comparison, compare_by
from boundit.decisions.held_log import hold_log
from boundit.decisions.means import MeansContradict, MeanSet
from boundit.decisions.policies import Logged
from boundit.decisions.stress_report import StressedEdge, StressReport
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph, project
from boundit.graph.read import GraphLike, require_graph
from boundit.results.bound import Arm, Context
from boundit.results.bound_table import BoundTable
from boundit.results.choice import Choice, ContextChoice
from boundit.results.explanation import RANGE
from boundit.simulation.fit import find_relevant

_REFUTED = (EndsCross, NoModelFits, FactsRefuted, MeansContradict, AnswersContradict)
_CHECKING = 0.2  # of the time, for the tests of missing edges
_ROOT = "which rows were logged"


@dataclass(frozen=True, slots=True)
class MissingEdge:
    """An edge that a graph leaves out; the ends of a bidirected one are sorted.

    >>> print(MissingEdge("Ad", "<->", "Click"))
    Ad <-> Click
    """

    tail: str
    kind: Literal["->", "<->"]
    head: str

    @property
    def ends(self) -> frozenset[str]:
        """Both nodes that the edge joins."""
        return frozenset((self.tail, self.head))

    def __str__(self) -> str:
        return f"{write_name(self.tail)} {self.kind} {write_name(self.head)}"

    def write_meaning(self, selection: str | None) -> str:
        """Write what the edge would mean.

        >>> MissingEdge("Ad", "->", "S").write_meaning("S")
        'Ad affects which rows were logged'
        """
        tail, head = (_ROOT if name == selection else name for name in (self.tail, self.head))
        if self.kind == "->":
            return f"{tail} affects {head}"
        tail, head = (head, tail) if tail == _ROOT else (tail, head)
        return f"{tail} and {head} have an unmeasured common cause"


def list_missing(graph: CausalGraph) -> Iterator[MissingEdge]:
    """List every edge that could be added to a graph without a cycle, bidirected ones last.

    Members of a group are related already, and an edge into one of them is an edge into all: it
    is listed for the first alone.

    >>> from boundit.graph.text import parse
    >>> print(*list_missing(parse("X -> Y -> [S]")), sep="; ")
    X -> S; S <-> X; S <-> Y; X <-> Y
    """
    whole = {node: graph.relatives.get(node, frozenset((node,))) for node in graph.nodes}
    after = {node: graph.descendants(whole[node]) for node in graph.nodes}
    first = {sort_names(members)[0] for members in whole.values()}
    for tail, head in permutations(sort_names(graph.nodes), 2):
        new = head in first and (tail, head) not in graph.directed
        if new and after[head].isdisjoint(whole[tail]):
            yield MissingEdge(tail, "->", head)
    arcs = {frozenset(pair) for pair in graph.bidirected}
    for tail, head in combinations(sort_names(first), 2):
        if frozenset((tail, head)) not in arcs:
            yield MissingEdge(tail, "<->", head)


def find_exclusion(graph: CausalGraph, query: EffectQuery, edge: MissingEdge) -> str | None:
    """Say why an edge would change the question rather than the answer; None if it would not."""
    if edge.kind == "<->":
        return None
    if edge.tail == graph.selection:
        return "selection has no effects"
    late = add_edge(graph, edge).descendants(query.treatments).intersection(query.context)
    return f"the treatment would affect the context {join_names(late)}" if late else None


def add_edge(graph: CausalGraph, edge: MissingEdge) -> CausalGraph:
    """The graph with a missing edge; a cycle is refused."""
    added = {(edge.tail, edge.head)}
    return CausalGraph.of(
        graph.nodes,
        directed=graph.directed | (added if edge.kind == "->" else set()),
        bidirected=graph.bidirected | (added if edge.kind == "<->" else set()),
        selection=graph.selection,
        groups=[group for group in graph.groups if not group.independent],
    )


@accept_options
def stress(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    policy: object = None,
    baseline: object = None,
    level: float = 0.05,
    **options: Unpack[Options],
) -> StressReport:
    """Add each edge that the graph leaves out, one at a time, and see what is still concluded.

    Every directed and bidirected edge that makes no cycle is tried, those into selection too.
    The report says for each how wide the bounds become, whether the same arms are chosen (by
    minimax regret), whether the best arm is still certain, and whether the log could have shown
    that the edge is missing. If the log refutes the graph itself, the report says so, and which
    edges would mend that. The log is read once.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    policy, baseline : arm, mapping, Choice, Policy, LOGGED or Measured, optional
        Two policies, as for ``compare``: the verdict on them is reported too.
    level : float
        Probability of any false alarm among the tests of missing edges on the log.
    **options
        As for ``derive_bounds``. The report names the edges that ``time_limit`` left out.

    Returns
    -------
    StressReport
        The edges, the most harmful first.

    Examples
    --------
    >>> rows = {"X": [0, 0, 0, 0, 0, 1] * 99, "Y": [0, 1, 1, 1, 1, 1] * 99}
    >>> print(stress("X -> Y", "Y | do(X)", rows).summary)
    The choice X=1 changes under 1 of 1 missing edge: X <-> Y.
    """
    if (policy is None) != (baseline is None):
        named, other = ("policy", "baseline") if baseline is None else ("baseline", "policy")
        raise OptionError(
            Option(named), " is compared with another policy. Add ", Option(other), "."
        )
    graph = require_graph(graph)
    request = read_request(graph, query, log, **options)
    sides = None if policy is None else (policy, baseline)
    with follow_progress(options.get("progress")) as progress:
        return stress_request(graph, request, lambda _: sides, level=level, progress=progress)


def stress_request(
    graph: CausalGraph,
    request: BoundRequest,
    read_sides: Callable[[BoundTable], tuple[object, object] | None] = lambda _: None,
    *,
    level: float = 0.05,
    progress: Progress = say_nothing,
) -> StressReport:
    """Stress a request; a policy and its baseline may need the table of bounds to be read."""
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(Option("level", level), " is not a probability. Write 0.05 or such.")
    budget = TimeBudget(request.time_limit)
    progress("read the log", 0, 1)
    tables = LargerGraphs(request, graph, budget)
    refutation: Note = ""
    before = comparison = None
    try:
        table = tables.derive(graph)
        before, sides = choose(table), read_sides(table)
        comparison = tables.compare(table, graph, sides)
    except _REFUTED as error:
        refutation, table = error.message, tables.derive_open(graph)
        sides = read_sides(table)
    progress("test missing edges", 0, 1)
    tests, notes = _test_missing(graph, tables.request, budget, level)
    excluded, edges = list[tuple[MissingEdge, str]](), list[MissingEdge]()
    for edge in list_missing(graph):
        if reason := find_exclusion(graph, request.query, edge):
            excluded.append((edge, reason))
        else:
            edges.append(edge)
    edges.sort(key=lambda edge: _rank_by_place(graph, request.query, edge))
    found = list[StressedEdge]()
    for edge in edges:
        progress(f"add {edge}", len(found), len(edges))
        if budget.is_over():
            break
        meaning, test = edge.write_meaning(graph.selection), tests.get(edge.ends)
        try:
            grown = add_edge(graph, edge)
            larger = tables.derive(grown)
            changed, undecided, regret = _compare_choices(before, table, larger)
            verdict = tables.compare(larger, grown, sides)
        except BounditError as error:
            found.append(StressedEdge(edge, meaning, test=test, refusal=error.message))
            continue
        if budget.is_over():
            break  # rules may have been left out
        settled = None if comparison is None else comparison.verdict
        found.append(
            StressedEdge(
                edge,
                meaning,
                larger,
                changed,
                undecided,
                regret,
                verdict,
                verdict_changes=verdict is not None
                and settled not in {None, "inconclusive", verdict.verdict},
                test=test,
            )
        )
    return StressReport(
        str(graph),
        str(request.query),
        table,
        before,
        tuple(sorted(found, key=StressedEdge.rank)),
        tuple(excluded),
        tuple(edges[len(found) :]),
        notes,
        comparison,
        refutation,
    )


@final
class LargerGraphs:
    """The bounds of one request under a graph and larger ones, from a log that is read once."""

    def __init__(
        self, request: BoundRequest, graph: CausalGraph, budget: TimeBudget | None = None
    ) -> None:
        self._budget = budget or TimeBudget(request.time_limit)
        held = hold_log(
            request.log,
            sort_names(graph.nodes),
            outcome=request.query.outcomes[0],
            cluster=request.cluster,
            memory_limit=request.memory_limit,
        )
        self.request = replace(request, log=held)
        self._graph = graph
        self._first: BoundTable | None = None
        self._basis: Nodes = frozenset()
        self._as_narrow: dict[CausalGraph, bool] = {}
        self._tables: dict[CausalGraph, BoundTable] = {}

    def derive(self, graph: CausalGraph) -> BoundTable:
        """Bound the request under the graph or one with more edges."""
        request = self.request.under(graph)
        if graph == self._graph:
            plan, table = self._search(request)
            # A limit is about all that was observed before the treatment, and models read what
            # no plan lists: both see the whole graph.
            if not request.limits and request.models is None:
                self._first, self._basis = table, self._find_basis(plan, table)
            return table
        if self._first is not None:
            if self._changes_nothing(request):
                return self._first
            request = replace(request, graph=find_relevant(request.graph, request.query))
        if request.graph not in self._tables:
            _, table = self._search(request)
            if self._budget.is_over():
                return table  # rules may have been left out
            self._tables[request.graph] = table
        return self._tables[request.graph]

    def derive_open(self, graph: CausalGraph) -> BoundTable:
        """The table without any rule: a refuted graph implies nothing."""
        request = replace(self.request.under(graph), models=None)
        plan = BoundPlan(request.graph, request.query, "sound", ())
        workspace = Workspace(request.memory_limit, self._budget)
        return derive_planned(request, plan, {}, workspace, say_nothing)

    def compare(
        self, table: BoundTable, graph: CausalGraph, sides: tuple[object, object] | None
    ) -> Comparison | None:
        """Compare two policies; the mean of the logging policy is bounded under the graph too."""
        if sides is None:
            return None
        if not any(isinstance(side, Logged) or side == "log" for side in sides):
            return compare_by(table, *sides)
        request = replace(self.request.under(graph), time_limit=self._budget.count_seconds())
        return compare_by(table, *sides, log=request.log, request=request)

    def _search(self, request: BoundRequest) -> tuple[BoundPlan, BoundTable]:
        workspace = Workspace(request.memory_limit, self._budget)
        plan = plan_request(request, workspace, say_nothing)
        return plan, derive_planned(request, plan, {}, workspace, say_nothing)

    def _changes_nothing(self, request: BoundRequest) -> bool:
        """Whether the projection of a graph has bounds as narrow as those of the first."""
        assert self._first is not None
        hidden = request.graph.observed - self._basis
        if not hidden:
            return False
        small = project(request.graph, hidden)
        if small not in self._as_narrow:
            self._as_narrow[small] = False
            with suppress(BounditError):  # which the whole graph says in its own words
                _, table = self._search(replace(request, graph=small))
                if not self._budget.is_over():
                    self._as_narrow[small] = _is_within(table, self._first)
        return self._as_narrow[small]

    def _find_basis(self, plan: BoundPlan, table: BoundTable) -> Nodes:
        """The variables of the rules that gave an endpoint; of all rules for effects."""
        used = {rule for b in table.bounds.values() for rule in (b.lower_rule, b.upper_rule)}
        if table.contrasts:
            used |= table.rules.keys()
        needs = {record.name: rule.needs for rule, record in plan.records.items()}
        read = [needs.get(name, plan.needs) for name in used - {RANGE}]
        query = self.request.query
        asked = (*query.outcomes, *query.treatments, *query.context)
        return Nodes(asked).union(*read, *(log.columns for log in self.request.external))


def _is_within(table: BoundTable, first: BoundTable) -> bool:
    """Whether no interval and no effect of a table is wider than in the first."""
    return all(
        table.bounds[key].lower >= bound.lower - ROUNDING
        and table.bounds[key].upper <= bound.upper + ROUNDING
        for key, bound in first.bounds.items()
    ) and all(
        table.find_largest_difference(one, other, where) <= most + ROUNDING
        for (where, one, other), most in first.contrasts.items()
    )


def _test_missing(
    graph: CausalGraph, request: BoundRequest, budget: TimeBudget, level: float
) -> tuple[dict[frozenset[str], Finding], tuple[Note, ...]]:
    """Test the implications of the graph, each by the two variables that it separates."""
    try:
        report = check(
            graph,
            request.log,
            level=level,
            time_limit=budget.share(_CHECKING).count_seconds(),
            memory_limit=request.memory_limit,
        )
    except BounditError as error:
        return {}, (Message("missing edges were not tested on the log: ", error.message),)
    found = {frozenset((f.statement.one, f.statement.other)): f for f in report.findings}
    return found, report.notes


def _rank_by_place(
    graph: CausalGraph, query: EffectQuery, edge: MissingEdge
) -> tuple[int, str]:
    """Edges at outcome and treatments first, then selection, then contexts."""
    weights = dict.fromkeys((*query.outcomes, *query.treatments), 3)
    weights |= dict.fromkeys(query.context, 1)
    if graph.selection is not None:
        weights[graph.selection] = 2
    return -sum(weights.get(node, 0) for node in edge.ends), str(edge)


def _compare_choices(
    before: Choice | None, table: BoundTable, larger: BoundTable
) -> tuple[tuple[tuple[Context, tuple[Arm, ...]], ...], tuple[Context, ...], float | None]:
    """Find where another arm is chosen, where the best one is not certain any more, and the regret.

    The regret is that of the arms that were chosen before, in the worst context.
    """
    after = choose(larger)
    if before is None:
        return (), (), max(one.single_regret for one in after.values())
    changed, undecided, regret = list[tuple[Context, tuple[Arm, ...]]](), list[Context](), 0.0
    for where, old in before.choices.items():
        new = after.choices[where]
        best = find_best(old, table)
        if best is not None and find_best(new, larger) != best:
            undecided.append(where)
        if old.ties:
            continue  # no one arm was chosen
        means = MeanSet.from_table(larger, where)
        means = means if larger.goal == "max" else means.turn()
        column = means.leads[:, means.arms.index(old.single)]
        regret = max(regret, float(column.max()))
        if (new.single, new.ties) != (old.single, ()):
            changed.append((where, (new.single, *new.ties)))
    return tuple(changed), tuple(undecided), regret


def find_best(choice: ContextChoice, table: BoundTable) -> Arm | None:
    """The arm that is certainly the best: all others are ruled out."""
    left = [arm for arm in table.arms if arm not in choice.ruled_out]
    return left[0] if len(left) == 1 < len(table.arms) else None
