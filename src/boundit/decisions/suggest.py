"""What would narrow the bounds of a log: data and knowledge, ranked by the width to expect.

Five kinds of steps are tried: the selection rate; a table of unselected data; an edge that is
known to be absent; more rows; a randomized trial. The log is read once. What a table would hold
is drawn from environments that fit the log.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, combinations, islice
from math import log as ln
from typing import Unpack, final

from boundit.bounds.confounding_limits import ConfoundingLimits
from boundit.bounds.derive import derive_table
from boundit.bounds.options import Options, accept_options
from boundit.bounds.request import BoundRequest, read_request
from boundit.bounds.selection_facts import FactsRefuted, SelectionFacts
from boundit.bounds.table import EndsCross, NoModelFits
from boundit.checks.check import check
from boundit.core.errors import DataError
from boundit.core.long_work import Progress, TimeBudget, follow_progress, say_nothing
from boundit.core.message import Option
from boundit.core.names import Nodes, sort_names
from boundit.decisions.held_log import hold_log, repeat_rows
from boundit.decisions.suggest_report import Step, SuggestReport
from boundit.estimand.identify import identify
from boundit.estimand.query import EffectQuery
from boundit.graph.causal_graph import CausalGraph
from boundit.graph.read import GraphLike
from boundit.results.bound_table import BoundTable
from boundit.results.text import join_words, name_mean
from boundit.simulation.errors import ModelTooLarge, NoEnvironmentFits
from boundit.simulation.fit import count_relevant, find_relevant, fit_to_counts
from boundit.simulation.fitted import FittedEnvironment
from boundit.simulation.options import read_seed, read_whole

GAIN = 0.01  # the part of the width that a step must take away to be listed
TIMES = 4
_ENVIRONMENTS = 3
_CHECKING, _FITTING, _SEARCHING = 0.2, 0.3, 0.4  # parts of the time that is left
_HALVINGS = 5
_LARGEST, _MOST_SETS = 3, 400  # tables of more variables, and more of them, are not looked at
_MOST_IDENTIFYING, _MOST_OTHERS = 4, 8
_SURE = 0.95  # the confidence of a trial where the bounds have none
_REFUTED = (EndsCross, NoModelFits, FactsRefuted)


@accept_options
def suggest(
    graph: GraphLike,
    query: EffectQuery | str,
    log: object,
    *,
    trial_size: int = 1_000,
    seed: int = 0,
    **options: Unpack[Options],
) -> SuggestReport:
    """Say what would narrow the bounds of a log, ranked by the mean width to expect.

    Five kinds of steps are tried: the selection rate, a table of unselected data (the smallest
    that identify the effect first), the knowledge that an edge is absent, four times the rows,
    and a randomized trial. The log is read once.

    Parameters
    ----------
    graph, query, log
        As for ``derive_bounds``.
    trial_size : int
        Units of each arm in each context of a randomized trial.
    seed : int
        Of the environments that fit the log, from which the contents of tables are drawn.
    **options
        As for ``derive_bounds``. Notes say what ``time_limit`` left out.

    Returns
    -------
    SuggestReport
        The steps, the one with the narrowest bounds first.

    Examples
    --------
    >>> from boundit.simulation.environments import flipped_environment
    >>> mine = flipped_environment()
    >>> report = suggest(mine.graph, mine.query, mine.log(4000, seed=1))
    >>> [step.variables for step in report.steps if step.kind == "table" and step.formula]
    [('Z',)]
    """
    size, number = read_whole("trial_size", trial_size, least=1), read_seed(seed)
    request = read_request(graph, query, log, **options)
    with follow_progress(options.get("progress")) as progress:
        *_, report = suggest_request(request, size, number, progress)
    return report


def suggest_request(
    request: BoundRequest,
    trial_size: int = 1_000,
    seed: int = 0,
    progress: Progress = say_nothing,
) -> Iterator[SuggestReport]:
    """Yield the report as far as it is known, quick steps first, and at last the whole."""
    progress("count the log", 0, 1)
    now = Situation(request)
    steps = [*suggest_trial(now, trial_size), *suggest_rows(now), *suggest_rate(now)]
    found, refuted = suggest_edges(now, progress)
    steps += found
    yield now.report(steps, [])
    notes = list(now.list_notes())
    try:
        steps += suggest_tables(now, seed, progress)
    except (ModelTooLarge, NoEnvironmentFits) as error:
        notes.append(f"No tables were tried: {error}")
    if refuted:
        notes.append(f"The data contradict the graph without {join_words(refuted)}.")
    if now.budget.is_over():
        notes.append("The time limit was reached; other steps may help as well.")
    yield now.report(steps, notes)


@final
class Situation:
    """A request on a log that is read once, its bounds, and the time that is left."""

    def __init__(self, request: BoundRequest) -> None:
        self.budget = TimeBudget(request.time_limit)
        self.budget.count_seconds()
        graph = request.graph
        # A limit is about all that was observed before the treatment, and so are models.
        if not request.limits and request.models is None:
            graph = find_relevant(graph, request.query)
        held = hold_log(
            request.log,
            sort_names(graph.nodes),
            outcome=request.query.outcomes[0],
            cluster=request.cluster,
            memory_limit=request.memory_limit,
        )
        self.request = replace(request, graph=graph, log=held)
        self.table = derive_table(self.request, {})
        self.width = measure_width(self.table)

    @cached_property
    def formula(self) -> str:
        """The formula of the effect as things stand; empty if it is not identified."""
        return self.find_formula(self.request.graph)

    @cached_property
    def rows(self) -> int | None:
        """How many rows the log has; None for an exact distribution."""
        log = self.request.log
        return None if log.exact else round(log.count([]).rows)

    def derive(self, request: BoundRequest) -> BoundTable | None:
        """The bounds of a changed request; None if the log refutes it, or time is over."""
        if self.budget.is_over():
            return None
        try:
            table = derive_table(replace(request, time_limit=self.budget.count_seconds()), {})
        except _REFUTED:
            return None
        return None if self.budget.is_over() else table

    def measure(self, **changes: object) -> float | None:
        """The width after a change of the request; None if it cannot be."""
        table = self.derive(replace(self.request, **changes))  # type: ignore[arg-type]
        return None if table is None else measure_width(table)

    def find_formula(self, graph: CausalGraph, *tables: Nodes) -> str:
        """The formula of the effect in a graph with more tables; empty if not identified."""
        found = identify(graph, self.request.query, external=[*self.request.tables, *tables])
        return str(found) if found else ""

    def list_notes(self) -> Iterator[str]:
        """What was left out of the log."""
        dropped = count_relevant(self.request).dropped
        if dropped:
            gone = ", ".join(f"{name} ({count:,})" for name, count in dropped.items())
            yield f"Tables are drawn for rows without missing values; left out: {gone}."

    def report(self, steps: Sequence[Step], notes: Sequence[str]) -> SuggestReport:
        """Rank steps by expected width; those that narrow nothing are only named."""
        helps = [step for step in steps if step.width < self.width * (1 - GAIN)]
        return SuggestReport(
            name_mean(self.table),
            self.width,
            measure_width(self.table, estimates=True),
            tuple(sorted(helps, key=lambda s: (s.width, len(s.variables), s.what))),
            tuple(step.what for step in steps if step not in helps),
            tuple(notes),
            self.request.confidence,
            self.formula,
        )


def measure_width(table: BoundTable, *, estimates: bool = False) -> float:
    """The mean width over all arms and contexts, without sampling error if asked."""
    rows = table.bounds.values()
    widths = [
        row.upper_estimate - row.lower_estimate if estimates else row.upper - row.lower
        for row in rows
    ]
    return sum(widths) / len(widths) if widths else 0.0


def suggest_trial(now: Situation, size: int) -> list[Step]:
    """A randomized trial: an interval about the middle of each interval of today.

    The mean of ``size`` outcomes in [0, 1] has relative entropy at most log(2k/d)/size to the
    truth, in all ``k`` rows at once with probability 1 - d (Chernoff).
    """
    table = now.table
    low, high = table.outcome_range
    error = (1 - (table.confidence or _SURE)) / max(len(table.bounds), 1)
    widths = list[float]()
    for row in table.bounds.values():
        middle = ((row.lower + row.upper) / 2 - low) / (high - low)
        alone = find_trial_width(middle, size, error=error) * (high - low)
        widths.append(min(alone, row.upper - row.lower))
    width = sum(widths) / len(widths) if widths else 0.0
    groups = join_words(["arm", *table.context])
    return [
        Step(
            "trial",
            f"a randomized trial, {size:,} per {groups}",
            width,
            width,
            width,
            f"randomize {size * len(table.bounds):,} units",
            "Chernoff's bound for all rows at once, about the middle of the bounds",
        )
    ]


def find_trial_width(mean: float, size: float, *, error: float) -> float:
    """The width of the interval of a mean of ``size`` outcomes, with this probability of error.

    >>> round(find_trial_width(0.5, 1000, error=0.05), 3)
    0.086
    >>> round(find_trial_width(0.004, 1000, error=0.05), 3)
    0.011
    """
    budget, ends = ln(2 / error) / size, list[float]()
    for outer in (0.0, 1.0):
        inner, far = mean, outer
        for _ in range(60):
            middle = (inner + far) / 2
            inner, far = (
                (inner, middle) if _divergence(mean, middle) > budget else (middle, far)
            )
        ends.append(inner)
    return ends[1] - ends[0]


def _divergence(p: float, q: float) -> float:
    """Relative entropy of two Bernoulli distributions, in nats."""
    if q in (0.0, 1.0):
        return 0.0 if p == q else float("inf")
    top = p * ln(p / q) if p > 0 else 0.0
    return top + ((1 - p) * ln((1 - p) / (1 - q)) if p < 1 else 0.0)


def suggest_rows(now: Situation) -> list[Step]:
    """Four times the rows: every count taken four times."""
    longer = None
    if now.rows is not None and now.request.confidence is not None:
        longer = repeat_rows(now.request.log, TIMES)
    if longer is None or now.rows is None:
        return []
    if now.request.cluster is None:
        width = now.measure(log=longer)
        basis = f"every count taken {TIMES} times"
    else:  # repeated rows do not make new clusters
        stays = measure_width(now.table, estimates=True)
        width = stays + (now.width - stays) / TIMES**0.5
        basis = "sampling error halves"
    if width is None:
        return []
    more = f"collect {(TIMES - 1) * now.rows:,} more rows"
    return [Step("rows", f"{TIMES} times the rows", width, width, width, more, basis)]


def suggest_rate(now: Situation) -> list[Step]:
    """The selection rate, at the middle and the ends of what the log allows.

    A rate near 0 implies nothing, so its width is that of today.
    """
    request = now.request
    if request.graph.selection is None or request.facts.rate is not None:
        return []

    def measure(rate: float) -> float | None:
        facts = SelectionFacts.from_options(
            selection_rate=rate, selection_limit=request.facts.limit
        )
        return now.measure(facts=facts)

    largest, least = 1.0, measure(1.0)
    if least is None:  # the log refutes it: bisect the largest that it allows
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if (width := measure(middle)) is None:
                high = middle
            else:
                low, least = middle, width
        largest = low
    half = round(largest / 2, 2)
    if least is None or not half or (width := measure(half)) is None:
        return []
    return [
        Step(
            "rate",
            "the share of cases that was logged",
            width,
            min(least, width),
            now.width,
            "find the number of cases in the population",
            f"a rate of {half:g}; the log allows up to {largest:.2g}",
            Option("selection_rate", half),
            variables=(request.graph.selection,),
        )
    ]


def suggest_edges(now: Situation, progress: Progress) -> tuple[list[Step], list[str]]:
    """The knowledge that an edge is absent, and the edges whose absence the log contradicts."""
    found, refuted = list[Step](), list[str]()
    edges = list(_list_edges(now.request.graph, now.request.query))
    known = _find_contradictions(now, now.request.graph)
    for done, (edge, smaller) in enumerate(edges):
        if now.budget.is_over():
            break
        progress(f"without {edge}", done, len(edges))
        limits = {of: limit for of, limit in now.request.limits.by_edge.items() if of != edge}
        width = now.measure(
            graph=smaller, limits=ConfoundingLimits.from_option(limits, smaller)
        )
        helps = width is not None and width < now.width * (1 - GAIN)
        if width is None or (helps and _find_contradictions(now, smaller) - known):
            refuted += [] if now.budget.is_over() else [edge]
            continue
        formula = "" if now.formula else now.find_formula(smaller)
        what = f"the knowledge that {edge} is absent"
        action, basis = f"remove {edge} from the graph", "the same log without the edge"
        found.append(Step("edge", what, width, width, width, action, basis, formula=formula))
    return found, refuted


def _list_edges(graph: CausalGraph, query: EffectQuery) -> Iterator[tuple[str, CausalGraph]]:
    """List the edges that may be absent, with the graph that lacks it.

    Not those from a treatment to the outcome, nor those without which no treatment affects it.
    """
    (outcome,) = query.outcomes
    marks = {graph.selection: f"[{graph.selection}]"}
    for kind, edges in (("<->", graph.bidirected), ("->", graph.directed)):
        for a, b in sorted(edges):
            if b in graph.relatives or (kind == "<->" and a in graph.relatives):
                continue  # members of a group share their edges
            smaller = CausalGraph.of(
                graph.nodes,
                directed=graph.directed - ({(a, b)} if kind == "->" else set()),
                bidirected=graph.bidirected - ({(a, b)} if kind == "<->" else set()),
                selection=graph.selection,
                groups=graph.groups,
            )
            asked = a in query.treatments and b == outcome and kind == "->"
            if not asked and outcome in smaller.descendants(query.treatments):
                yield f"{marks.get(a, a)} {kind} {marks.get(b, b)}", smaller


def _find_contradictions(now: Situation, graph: CausalGraph) -> frozenset[str]:
    """The implications of a graph that the log contradicts; none where it cannot be tested."""
    log = now.request.log
    if log.adaptive:
        return frozenset()
    try:
        report = check(graph, log, time_limit=now.budget.share(_CHECKING).count_seconds())
    except DataError:
        return frozenset()
    return frozenset(str(finding.statement) for finding in report.contradictions)


def suggest_tables(now: Situation, seed: int, progress: Progress) -> list[Step]:
    """Tables of unselected data, with contents drawn from environments that fit the log."""
    if now.request.graph.selection is None:
        return []
    identifying = find_identifying_sets(now)
    tried = [*list(identifying)[:_MOST_IDENTIFYING]]
    tried += _list_other_sets(now, list(identifying))[:_MOST_OTHERS]
    environments = fit_to_counts(
        now.request,
        count_relevant(now.request),
        now.table,
        n=_ENVIRONMENTS,
        seed=seed,
        budget=now.budget.share(_FITTING),
        progress=progress,
    ).environments
    found = list[Step]()
    for done, names in enumerate(tried):
        progress("try tables", done, len(tried))
        drawn = [_measure_table(now, each, names) for each in environments]
        widths = [width for width in drawn if width is not None]
        if not widths:
            continue
        rows = "an exact table" if now.rows is None else f"a table of {now.rows:,} rows"
        found.append(
            Step(
                "table",
                f"{join_words(sort_names(names))} for an unselected sample",
                sum(widths) / len(widths),
                min(widths),
                max(widths),
                "find these for a sample of all cases, logged or not",
                f"{rows}, mean of {len(widths)} environments that fit the log",
                Option("external", ["sample.csv"]),
                identifying.get(names, ""),
                tuple(sort_names(names)),
            )
        )
    return found


def _measure_table(
    now: Situation, environment: FittedEnvironment, names: Nodes
) -> float | None:
    """The width with the table of some variables that an environment's population would give."""
    external = (
        *now.request.external,
        environment.expected_table(names, now.rows),
    )
    if now.request.confidence is None and not all(log.exact for log in external):
        return None
    return now.measure(external=external)


def find_identifying_sets(now: Situation) -> dict[Nodes, str]:
    """The smallest sets whose table identifies the effect, with the formula.

    Those without the outcome first, and with it only where there are none; what affects
    selection first, then the smallest.
    """
    if now.formula:
        return {}
    budget = now.budget.share(_SEARCHING)
    request = now.request
    (outcome,) = request.query.outcomes
    names = sort_names(request.graph.observed - {outcome})
    causes = (request.graph.selecting() & request.graph.observed) - {outcome}
    for last in (Nodes(), Nodes({outcome})):
        likely = [causes | last, causes | frozenset(request.query.context) | last]
        sizes = range(0 if last else 1, _LARGEST + 1)
        sets = chain.from_iterable(combinations(names, size) for size in sizes)
        every = chain(likely, (frozenset(chosen) | last for chosen in sets))
        found = dict[Nodes, str]()
        for each in islice(filter(None, every), _MOST_SETS):
            if budget.is_over():
                break
            if any(smaller <= each for smaller in found):
                continue
            if formula := now.find_formula(request.graph, each):
                found = {k: of for k, of in found.items() if not each < k} | {each: formula}
        if found:
            return dict(sorted(found.items(), key=lambda entry: len(entry[0])))
    return {}


def _list_other_sets(now: Situation, identifying: Sequence[Nodes]) -> list[Nodes]:
    """Sets that may narrow bounds: what affects selection, single variables, pairs of both.

    The outcome is among them only where selection depends on it.
    """
    graph, query = now.request.graph, now.request.query
    causes = graph.selecting() & graph.observed
    asked = frozenset(query.treatments + query.context)
    sets = [causes, causes | frozenset(query.context)]
    sets += [frozenset({name}) for name in sort_names(causes | asked)]
    sets += [frozenset({a, b}) for a in sort_names(causes) for b in sort_names(asked - {a})]
    held = set(now.request.tables)
    return [
        names
        for names in dict.fromkeys(sets)
        if names and names not in held and not any(each <= names for each in identifying)
    ]
